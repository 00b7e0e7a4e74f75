//! The header of a `.npy` file.

use super::MAGIC;
use std::fmt;

/// What the header says.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// NumPy's name of the type.
    pub(super) descr: String,
    pub(super) shape: Shape,
    /// Whether the first index is the one that changes from key to key, and not the last.
    pub(super) fortran_order: bool,
    /// Where the header ends and the data begins.
    pub(super) end: usize,
}

/// The length of an array in every dimension.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sort) struct Shape(pub(in crate::sort) Vec<usize>);

impl Header {
    /// Reads the header at the start of a file.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        if !bytes.starts_with(MAGIC) {
            return Err(
                "byte 0: no NumPy array starts here: name the format with --format text or raw".to_owned()
            );
        }
        let cut = || format!("the file ends after {} bytes, within its header: save it again", bytes.len());
        let (start, length): (usize, Option<usize>) = match bytes.get(MAGIC.len()) {
            Some(1) => (10, bytes.get(8..10).map(little_endian)),
            Some(2 | 3) => (12, bytes.get(8..12).map(little_endian)),
            Some(version) => {
                return Err(format!("NumPy file version {version} is unknown: save it as version 1, 2 or 3"));
            }
            None => return Err(cut()),
        };
        let end = length.and_then(|length| start.checked_add(length)).ok_or_else(cut)?;
        let dictionary = bytes.get(start..end).ok_or_else(cut)?;
        let mut scanner = Scanner { text: dictionary, next: 0 };
        match scanner.fields() {
            Ok((descr, shape, fortran_order)) => Ok(Self { descr, shape, fortran_order, end }),
            Err(reason) => Err(format!("byte {}: {reason}", start + scanner.next)),
        }
    }
}

fn little_endian(field: &[u8]) -> usize {
    field.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte))
}

impl fmt::Display for Shape {
    /// As Python writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths: Vec<String> = self.0.iter().map(usize::to_string).collect();
        match lengths.as_slice() {
            [only] => write!(f, "({only},)"),
            _ => write!(f, "({})", lengths.join(", ")),
        }
    }
}

/// Reads the few Python literals that a header is made of.
struct Scanner<'a> {
    text: &'a [u8],
    /// What is read next; after an error, where the error is.
    next: usize,
}

impl Scanner<'_> {
    /// The dictionary's type, shape and order of indices.
    fn fields(&mut self) -> Result<(String, Shape, bool), String> {
        let (mut descr, mut shape, mut fortran_order) = (None, None, false);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let start = self.next;
            let name = self.string("a field's name in quotes")?;
            self.expect(b':')?;
            match name.as_str() {
                "descr" => descr = Some(self.descr()?),
                "shape" => shape = Some(self.shape()?),
                "fortran_order" => fortran_order = self.truth()?,
                _ => {
                    self.next = start;
                    return Err(self.unexpected("'descr', 'fortran_order' or 'shape'"));
                }
            }
            if !self.take(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        let missing = |name| format!("the header does not say '{name}': save the array again");
        let (descr, shape) = (descr.ok_or_else(|| missing("descr"))?, shape.ok_or_else(|| missing("shape"))?);
        Ok((descr, shape, fortran_order))
    }

    fn descr(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(b'[') => {
                Err("every element has several fields: save one of them, such as array['name']".to_owned())
            }
            _ => self.string("a type in quotes"),
        }
    }

    fn shape(&mut self) -> Result<Shape, String> {
        let mut lengths = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            lengths.push(self.length()?);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(Shape(lengths))
    }

    /// A whole number. Python 2 put an L after some.
    fn length(&mut self) -> Result<usize, String> {
        self.skip_space();
        let rest = &self.text[self.next..];
        let digits = &rest[..rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())];
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        if digits.is_empty() {
            return Err(self.unexpected("a length"));
        }
        let length = digits.parse().map_err(|_| {
            format!("length '{digits}' is more than this machine can count: the header is damaged, save the array again")
        })?;
        self.next += digits.len();
        self.take(b'L');
        Ok(length)
    }

    fn truth(&mut self) -> Result<bool, String> {
        self.skip_space();
        let rest = &self.text[self.next..];
        let word = [&b"True"[..], b"False"].into_iter().find(|word| rest.starts_with(word));
        let word = word.ok_or_else(|| self.unexpected("True or False"))?;
        self.next += word.len();
        Ok(word == b"True")
    }

    fn string(&mut self, wanted: &str) -> Result<String, String> {
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'));
        let quote = quote.ok_or_else(|| self.unexpected(wanted))?;
        let rest = &self.text[self.next + 1..];
        let Some(length) = rest.iter().position(|&byte| byte == quote) else {
            self.next = self.text.len();
            return Err(self.unexpected("a closing quote"));
        };
        self.next += length + 2;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        match self.take(byte) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("'{}'", char::from(byte)))),
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.next += usize::from(is_next);
        is_next
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.next).copied()
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.next..];
        self.next += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found = match self.text.get(self.next) {
            Some(&byte) => format!("'{}'", byte.escape_ascii()),
            None => "its end".to_owned(),
        };
        format!("the header has {found} where {wanted} belongs: save the array again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(dictionary: &str) -> String {
        let length = (dictionary.len() as u16).to_le_bytes();
        Header::read(&[MAGIC, &[1, 0], &length, dictionary.as_bytes()].concat()).unwrap_err()
    }

    #[test]
    fn a_damaged_header_names_the_byte() {
        let cases = [
            ("", "byte 10: the header has its end where '{' belongs: save the array again"),
            (
                "{descr",
                "byte 11: the header has 'd' where a field's name in quotes belongs: save the array again",
            ),
            (
                "{'descr",
                "byte 17: the header has its end where a closing quote belongs: save the array again",
            ),
            ("{'descr' '<u4'}", "byte 19: the header has '\\'' where ':' belongs: save the array again"),
            (
                "{'descr': 7}",
                "byte 20: the header has '7' where a type in quotes belongs: save the array again",
            ),
            ("{'shape': 7}", "byte 20: the header has '7' where '(' belongs: save the array again"),
            ("{'shape': (-1,)}", "byte 21: the header has '-' where a length belongs: save the array again"),
            ("{'shape': (1 2)}", "byte 23: the header has '2' where ')' belongs: save the array again"),
            (
                "{'fortran_order': 0}",
                "byte 28: the header has '0' where True or False belongs: save the array again",
            ),
            (
                "{'kind': 0}",
                "byte 11: the header has '\\'' where 'descr', 'fortran_order' or 'shape' belongs: save the array again",
            ),
            ("{'shape': (1,)}", "byte 25: the header does not say 'descr': save the array again"),
            ("{'descr': '<u4'}", "byte 26: the header does not say 'shape': save the array again"),
        ];
        for (dictionary, message) in cases {
            assert_eq!(refused(dictionary), message, "{dictionary}");
        }
    }

    #[test]
    fn a_file_cut_within_its_header_says_where() {
        let read = |rest: &[u8]| Header::read(&[MAGIC, rest].concat()).unwrap_err();
        assert_eq!(read(&[]), "the file ends after 6 bytes, within its header: save it again");
        assert_eq!(read(&[1, 0, 5]), "the file ends after 9 bytes, within its header: save it again");
        assert_eq!(
            read(&[1, 0, 5, 0, b'{']),
            "the file ends after 11 bytes, within its header: save it again"
        );
        assert_eq!(
            read(&[2, 0, 255, 255, 255, 255, b'{']),
            "the file ends after 13 bytes, within its header: save it again"
        );
        assert_eq!(read(&[9, 0]), "NumPy file version 9 is unknown: save it as version 1, 2 or 3");
        assert_eq!(
            Header::read(b"1 2 3").unwrap_err(),
            "byte 0: no NumPy array starts here: name the format with --format text or raw"
        );
    }

    #[test]
    fn shapes_are_shown_as_python_writes_them() {
        assert_eq!(Shape(vec![]).to_string(), "()");
        assert_eq!(Shape(vec![3]).to_string(), "(3,)");
        assert_eq!(Shape(vec![3, 4]).to_string(), "(3, 4)");
    }
}
