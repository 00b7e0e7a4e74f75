//! Networks as JSON objects.

use std::fmt::Write;

use super::ParseError;
use super::cursor::Cursor;
use super::draft::Draft;
use crate::Network;

/// How deep values that are not ours may nest before they are refused. Skipping them recurses, and far deeper
/// nesting would exhaust the stack.
const MAX_DEPTH: usize = 64;

impl Network {
    /// Reads a network from a JSON object.
    ///
    /// - `"stages"`: an array of stages, each an array of comparators, each a pair `[min, max]` of wire numbers
    ///   counted from 0. A flat array of comparators is a network in sequence, and is parallelised
    ///   ([`Network::parallelised`]).
    /// - `"wires"`: the number of wires; where it is missing, as many as the comparators touch. At most
    ///   [`MAX_WIRES`](crate::MAX_WIRES).
    ///
    /// The keys `"nw"` and `"N"`, which published collections of networks use, mean the same. Other keys are
    /// skipped whatever their value. The cost is linear in the length of the text.
    ///
    /// ```
    /// use bitonic_network::Network;
    ///
    /// let ours = Network::from_json(r#"{"wires": 3, "stages": [[[0,2]], [[0,1]], [[1,2]]]}"#)?;
    /// let published = Network::from_json(r#"{"N": 3, "L": 3, "D": 3, "nw": [[0,2], [0,1], [1,2]]}"#)?;
    /// assert_eq!(ours, published);
    /// # Ok::<(), bitonic_network::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// The place of the first fault and what was expected there: text that is no such object, a stage that
    /// touches a wire twice, a wire number past the limit, a declaration of fewer wires than are touched, or one
    /// of the two keys given twice.
    pub fn from_json(text: &str) -> Result<Self, ParseError> {
        let mut cursor = Cursor::new(text, |character| matches!(character, ' ' | '\t' | '\n' | '\r'));
        let mut draft = Draft::default();
        let mut form = None;
        cursor.items(['{', '}'], "the network", |cursor| {
            cursor.skip_blanks();
            let position = cursor.position();
            let key = string(cursor)?;
            cursor.expect(':', "after the key")?;
            match key.as_str() {
                "wires" | "N" => draft.declare_wires(cursor),
                "stages" | "nw" if form.is_some() => {
                    Err(position.error("the stages are given a second time: keep one of the two"))
                }
                "stages" | "nw" => {
                    form = Some(stages(cursor, &mut draft)?);
                    Ok(())
                }
                _ => skip_value(cursor, MAX_DEPTH),
            }
        })?;
        let end = cursor.position();
        cursor.skip_blanks();
        if cursor.peek().is_some() {
            return Err(cursor.expected(format_args!("nothing after the network")));
        }
        let network = draft.finish()?;
        match form {
            Some(Form::Stages) => Ok(network),
            Some(Form::Sequence) => Ok(Self::parallelised(network.wires(), network.comparators())
                .expect("the same wires and comparators as before")),
            None => {
                Err(end
                    .error("the network has no \"stages\": add an array of stages, such as [[[0,1],[2,3]]]"))
            }
        }
    }

    /// Writes the network as a JSON object that [`Network::from_json`] reads, one stage a line. Blocks, which
    /// only drawings use, are not written.
    ///
    /// ```
    /// use bitonic_network::{Comparator, Network};
    ///
    /// let c = Comparator::new;
    /// let network = Network::new(4, vec![vec![c(0, 2), c(1, 3)], vec![c(0, 1), c(2, 3)], vec![c(1, 2)]])?;
    /// assert_eq!(network.to_json(), r#"{
    ///   "wires": 4,
    ///   "stages": [
    ///     [[0,2],[1,3]],
    ///     [[0,1],[2,3]],
    ///     [[1,2]]
    ///   ]
    /// }
    /// "#);
    /// # Ok::<(), bitonic_network::NetworkError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut json = format!("{{\n  \"wires\": {},\n  \"stages\": [", self.wires());
        for (index, stage) in self.stages().iter().enumerate() {
            json.push_str(if index == 0 { "\n    [" } else { ",\n    [" });
            for (index, comparator) in stage.comparators().iter().copied().enumerate() {
                let separator = if index == 0 { "" } else { "," };
                _ = write!(json, "{separator}[{},{}]", comparator.min(), comparator.max());
            }
            json.push(']');
        }
        json.push_str(if self.stages().is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        json
    }
}

/// What the array of stages turned out to hold.
enum Form {
    Stages,
    Sequence,
}

/// Reads an array of stages, or of comparators in sequence: its first element decides which.
fn stages(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<Form, ParseError> {
    let mut form = None;
    cursor.items(['[', ']'], "the stages", |cursor| {
        let sequence = || if opens_with_a_number(cursor.clone()) { Form::Sequence } else { Form::Stages };
        match form.get_or_insert_with(sequence) {
            Form::Stages => draft.stage(cursor, ['[', ']']),
            Form::Sequence => draft.lone_comparator(cursor, ['[', ']']),
        }
    })?;
    Ok(form.unwrap_or(Form::Stages))
}

fn opens_with_a_number(mut ahead: Cursor<'_>) -> bool {
    ahead.skip_blanks();
    ahead.advance();
    ahead.skip_blanks();
    ahead.peek().is_some_and(|character| character.is_ascii_digit())
}

/// Reads a string. Half of a surrogate pair in `\u` notation becomes the replacement character: no key of ours
/// needs one.
fn string(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    cursor.expect('"', "to open a string")?;
    let mut content = String::new();
    loop {
        match cursor.peek() {
            Some('"') => {
                cursor.advance();
                return Ok(content);
            }
            Some('\\') => {
                cursor.advance();
                content.push(escaped(cursor)?);
            }
            Some(character) if character >= ' ' => {
                cursor.advance();
                content.push(character);
            }
            _ => return Err(cursor.expected(format_args!("'\"' to close the string"))),
        }
    }
}

/// Reads what follows the backslash of an escape in a string.
fn escaped(cursor: &mut Cursor<'_>) -> Result<char, ParseError> {
    let character = match cursor.peek() {
        Some(same @ ('"' | '\\' | '/')) => same,
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('u') => {
            cursor.advance();
            return four_hex_digits(cursor);
        }
        _ => return Err(cursor.expected(format_args!("an escape such as \\n or \\u0041"))),
    };
    cursor.advance();
    Ok(character)
}

fn four_hex_digits(cursor: &mut Cursor<'_>) -> Result<char, ParseError> {
    let mut code = 0;
    for _ in 0..4 {
        match cursor.peek().and_then(|character| character.to_digit(16)) {
            Some(digit) => code = code * 16 + digit,
            None => return Err(cursor.expected(format_args!("four hexadecimal digits after \\u"))),
        }
        cursor.advance();
    }
    Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// Steps over a value of any kind that nests at most `depth` levels.
fn skip_value(cursor: &mut Cursor<'_>, depth: usize) -> Result<(), ParseError> {
    cursor.skip_blanks();
    if depth == 0 {
        return Err(cursor.position().error(format!("nested deeper than {MAX_DEPTH} levels")));
    }
    match cursor.peek() {
        Some('"') => string(cursor).map(drop),
        Some('[') => cursor.items(['[', ']'], "an array", |cursor| skip_value(cursor, depth - 1)),
        Some('{') => cursor.items(['{', '}'], "an object", |cursor| {
            string(cursor)?;
            cursor.expect(':', "after the key")?;
            skip_value(cursor, depth - 1)
        }),
        Some('-' | '0'..='9') => skip_number(cursor),
        _ if ["true", "false", "null"].iter().any(|word| cursor.take(word)) => Ok(()),
        _ => Err(cursor.expected(format_args!("a value"))),
    }
}

fn skip_number(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.take("-");
    skip_digits(cursor)?;
    if cursor.take(".") {
        skip_digits(cursor)?;
    }
    if cursor.take("e") || cursor.take("E") {
        _ = cursor.take("+") || cursor.take("-");
        skip_digits(cursor)?;
    }
    Ok(())
}

fn skip_digits(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    if !cursor.peek().is_some_and(|character| character.is_ascii_digit()) {
        return Err(cursor.expected(format_args!("a digit")));
    }
    cursor.skip_while(|character| character.is_ascii_digit());
    Ok(())
}
