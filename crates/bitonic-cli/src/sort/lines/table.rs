//! Tables as text: lines, and the field of each by which they are sorted.
//!
//! ```text
//!   # comments, empty lines, the line with the columns' names     stay on top
//!   # a comment                                                   goes with the line below it
//!   one line, its fields separated                                a record
//!   # comments below the last record                              stay at the bottom
//! ```

use super::separator::{Field, OpenQuote, Separator};
use crate::sort::formats::Refusal;
use crate::sort::formats::text::{Place, Word, quote};
use crate::text_position::{BYTE_ORDER_MARK, TextPosition};
use std::ops::Range;

/// The column by which lines are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sort) enum Column {
    /// From 1.
    Number(usize),
    Name(String),
}

impl Column {
    /// A number or a name.
    pub(in crate::sort) fn parse(word: &str) -> Result<Self, String> {
        match word.parse() {
            Ok(0) => Err("columns are counted from 1: the first is --key 1".to_owned()),
            Ok(number) => Ok(Self::Number(number)),
            Err(_) if word.trim().is_empty() => {
                Err("'' names no column: use its number or its name".to_owned())
            }
            Err(_) => Ok(Self::Name(word.trim().to_owned())),
        }
    }
}

/// How a table is to be read.
pub(in crate::sort) struct Reading<'a> {
    pub(in crate::sort) column: &'a Column,
    pub(in crate::sort) separator: Option<Separator>,
    pub(in crate::sort) has_header: bool,
    /// For a text that goes on where another ended.
    pub(in crate::sort) part: Option<Continued>,
}

/// What is known of a table whose beginning was read.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct Continued {
    separator: Separator,
    column: usize,
    /// Where the part begins.
    pub(in crate::sort) origin: TextPosition,
}

impl Continued {
    /// The same for a part that begins there.
    pub(in crate::sort) fn at(self, origin: TextPosition) -> Self {
        Self { origin, ..self }
    }
}

/// Some texts as one table.
#[derive(Debug, Default)]
pub(in crate::sort) struct Table<'a> {
    /// The line with the columns' names, which is the same in all texts.
    pub(in crate::sort) header: Option<&'a [u8]>,
    pub(in crate::sort) top: Vec<&'a [u8]>,
    pub(in crate::sort) records: Vec<Record<'a>>,
    pub(in crate::sort) bottom: Vec<&'a [u8]>,
    /// How to go on with the last text.
    pub(in crate::sort) last: Option<Continued>,
}

/// A line that is moved.
#[derive(Clone, Copy, Debug)]
pub(in crate::sort) struct Record<'a> {
    /// The line with its end, and the comments above it.
    pub(in crate::sort) lines: &'a [u8],
    /// What is compared.
    pub(in crate::sort) key: Place<'a>,
}

impl<'a> Table<'a> {
    /// Adds the lines of a text.
    pub(in crate::sort) fn add(
        &mut self,
        source: usize,
        text: &'a [u8],
        reading: &Reading,
    ) -> Result<(), Refusal> {
        let reader = Reader { source, text, reading };
        if let Some(known) = reading.part {
            let lines = lines(text, 0).filter(|line| !is_comment(&text[line.clone()]));
            return self.add_records(&reader, lines, 0, known);
        }
        let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let mut lines = lines(text, mark).filter(|line| !is_comment(&text[line.clone()])).peekable();
        // Only the first text's mark stays: another one would not be at the start.
        let mut above = if source == 0 { 0 } else { mark };
        let Some(first) = lines.peek().cloned() else {
            self.top.push(&text[above..]);
            return Ok(());
        };
        let separator =
            reading.separator.unwrap_or_else(|| Separator::of_line(content(&text[first.clone()])));
        let mut column = match reading.column {
            Column::Number(number) => *number,
            Column::Name(_) => 0,
        };
        if reading.has_header || matches!(reading.column, Column::Name(_)) {
            lines.next();
            if let Column::Name(name) = reading.column {
                column = reader.column_of(name, &first, separator)?;
            }
            self.add_header(&reader, &first, above)?;
            above = first.end;
        }
        if let Some(first) = lines.peek() {
            self.top.push(&text[above..first.start]);
            above = first.start;
        }
        self.add_records(&reader, lines, above, Continued { separator, column, origin: TextPosition::START })
    }

    /// Adds a record for every line, with what is above it from a place on.
    fn add_records(
        &mut self,
        reader: &Reader<'_, 'a>,
        lines: impl Iterator<Item = Range<usize>>,
        mut above: usize,
        known: Continued,
    ) -> Result<(), Refusal> {
        let &Reader { source, text, .. } = reader;
        let Continued { separator, column, origin } = known;
        for line in lines {
            let field = reader.field(&line, separator, column)?;
            let word = Word { offset: line.start + field.offset, bytes: field.bytes };
            let key = Place { source, text, origin, word };
            self.records.push(Record { lines: &text[above..line.end], key });
            above = line.end;
        }
        self.bottom.push(&text[above..]);
        self.last = Some(known);
        Ok(())
    }

    fn add_header(
        &mut self,
        reader: &Reader<'_, 'a>,
        line: &Range<usize>,
        above: usize,
    ) -> Result<(), Refusal> {
        let text = reader.text;
        let here = content(&text[line.clone()]);
        match self.header {
            None => {
                self.header = Some(here);
                self.top.push(&text[above..line.end]);
                Ok(())
            }
            Some(first) if first == here => {
                self.top.push(&text[above..line.start]);
                Ok(())
            }
            Some(_) => Err(reader.refused(
                line.start,
                "the columns are not those of the first file: sort files with the same first line together",
            )),
        }
    }
}

/// Reads the lines of one text.
struct Reader<'r, 'a> {
    source: usize,
    text: &'a [u8],
    reading: &'r Reading<'r>,
}

impl<'a> Reader<'_, 'a> {
    fn field(&self, line: &Range<usize>, separator: Separator, column: usize) -> Result<Field<'a>, Refusal> {
        let mut found = None;
        let mut count = 0;
        // To the end, since a quote that is open there goes on in the next line.
        for field in separator.fields(content(&self.text[line.clone()])) {
            let field = field.map_err(|OpenQuote { offset }| {
                self.refused(
                    line.start + offset,
                    "a quote is opened here and not closed on this line, and lines are moved one by one: close or remove it",
                )
            })?;
            count += 1;
            if count == column {
                found = Some(field);
            }
        }
        let short = || {
            let (name, column) = (separator.name(), self.reading.column.describe());
            self.refused(
                line.start,
                &format!(
                    "the line has {count} of the columns that a {name} separates, and --key asks for {column}: choose another \
                     column, or another --separator"
                ),
            )
        };
        let field = found.ok_or_else(short)?;
        match field.bytes.is_empty() {
            true => Err(self.refused(
                line.start + field.offset,
                &format!(
                    "{} is empty here: write a number, or nan to sort it last",
                    self.reading.column.describe()
                ),
            )),
            false => Ok(field),
        }
    }

    /// The number of the column with this name.
    fn column_of(&self, name: &str, header: &Range<usize>, separator: Separator) -> Result<usize, Refusal> {
        let fields = separator.fields(content(&self.text[header.clone()])).flatten();
        let names: Vec<String> =
            fields.map(|field| String::from_utf8_lossy(field.bytes).into_owned()).collect();
        let found: Vec<usize> = (0..names.len()).filter(|&index| names[index] == name).collect();
        match found.as_slice() {
            [only] => Ok(only + 1),
            [] => Err(self.refused(
                header.start,
                &format!("no column is named {}: choose one of {}", quote(name), quote(&names.join(", "))),
            )),
            several => Err(self.refused(
                header.start,
                &format!(
                    "{} columns are named {}: choose one by its number, such as --header --key {}",
                    several.len(),
                    quote(name),
                    several[0] + 1
                ),
            )),
        }
    }

    fn refused(&self, offset: usize, reason: &str) -> Refusal {
        let origin = self.reading.part.map_or(TextPosition::START, |part| part.origin);
        let position = TextPosition::of(self.text, offset).from(origin);
        Refusal { source: self.source, reason: format!("{position}: {reason}") }
    }
}

impl Column {
    fn describe(&self) -> String {
        match self {
            Self::Number(number) => format!("column {number}"),
            Self::Name(name) => format!("column {}", quote(name)),
        }
    }
}

/// The lines of a text from `start` on, each with its end.
fn lines(text: &[u8], start: usize) -> impl Iterator<Item = Range<usize>> {
    let mut next = start;
    std::iter::from_fn(move || {
        let rest = text.get(next..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
        let line = next..next + length;
        next = line.end;
        Some(line)
    })
}

/// The line without its end.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether the line has no fields: it is empty, or `#` is its first character.
fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const READING: Reading =
        Reading { column: &Column::Number(2), separator: None, has_header: false, part: None };

    fn table<'a>(texts: &[&'a str], reading: &Reading) -> Result<Table<'a>, String> {
        let mut table = Table::default();
        for (source, text) in texts.iter().enumerate() {
            table.add(source, text.as_bytes(), reading).map_err(|refusal| refusal.reason)?;
        }
        Ok(table)
    }

    fn texts<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<&'a str> {
        pieces.into_iter().map(|piece| str::from_utf8(piece).unwrap()).collect()
    }

    fn keys<'a>(table: &Table<'a>) -> Vec<&'a str> {
        texts(table.records.iter().map(|record| record.key.word.bytes))
    }

    #[test]
    fn lines_keep_their_comments_and_ends() {
        let text = "\u{FEFF}# top\n\na,2\r\n# of b\n\nb,1\n# bottom\n";
        let table = table(&[text], &READING).unwrap();
        assert_eq!(texts(table.top.iter().copied()), ["\u{FEFF}# top\n\n"]);
        assert_eq!(texts(table.records.iter().map(|record| record.lines)), ["a,2\r\n", "# of b\n\nb,1\n"]);
        assert_eq!(texts(table.bottom.iter().copied()), ["# bottom\n"]);
        assert_eq!(keys(&table), ["2", "1"]);
        assert_eq!(table.records[1].key.position().to_string(), "line 6, column 3");
    }

    #[test]
    fn a_header_names_the_columns_and_stays_once() {
        let by_name = Reading { column: &Column::Name("size".to_owned()), ..READING };
        let files = ["name; size\nx; 3\n", "# more\nname; size\n# of y\ny; 2"];
        let both = table(&files, &by_name).unwrap();
        assert_eq!(keys(&both), ["3", "2"]);
        assert_eq!(texts(both.top).concat(), "name; size\n# more\n# of y\n");
        let with_header = Reading { has_header: true, ..READING };
        assert_eq!(keys(&table(&files, &with_header).unwrap()), ["3", "2"]);
        assert_eq!(
            table(&["a,b\n1,2\n"], &by_name).unwrap_err(),
            "line 1, column 1: no column is named 'size': choose one of 'a, b'"
        );
        assert_eq!(
            table(&["size,size\n"], &by_name).unwrap_err(),
            "line 1, column 1: 2 columns are named 'size': choose one by its number, such as --header --key 1"
        );
        assert!(
            table(&[files[0], "size;name\n1;z\n"], &by_name)
                .unwrap_err()
                .contains("not those of the first file")
        );
    }

    #[test]
    fn what_has_no_key_names_its_position_and_the_way_out() {
        let refused = |text| table(&[text], &READING).unwrap_err();
        assert_eq!(
            refused("a,1\n\nb\n"),
            "line 3, column 1: the line has 1 of the columns that a comma separates, and --key asks for column 2: choose \
             another column, or another --separator"
        );
        assert_eq!(
            refused("a,1\nb, ,c\n"),
            "line 2, column 3: column 2 is empty here: write a number, or nan to sort it last"
        );
        assert_eq!(
            refused("a,1\n\"b\n\",2\n"),
            "line 2, column 1: a quote is opened here and not closed on this line, and lines are moved one by one: close or \
             remove it"
        );
        assert_eq!(Column::parse("0"), Err("columns are counted from 1: the first is --key 1".to_owned()));
        assert_eq!(Column::parse(" size "), Ok(Column::Name("size".to_owned())));
        assert_eq!(Column::parse("12"), Ok(Column::Number(12)));
        assert!(Column::parse(" ").is_err());
    }

    proptest! {
        #![proptest_config(crate::sort::formats::tests::many_cases())]
        #[test]
        fn arbitrary_texts_are_whole_tables_or_refused(text in prop::collection::vec(
            prop_oneof![Just(b'\n'), Just(b','), Just(b'"'), Just(b'#'), Just(b' '), Just(b'7'), any::<u8>()], 0..60),
            has_header: bool,
            number in 1..4_usize,
        ) {
            for column in [Column::Number(number), Column::Name("7".to_owned())] {
                let mut table = Table::default();
                let reading = Reading { column: &column, separator: None, has_header, part: None };
                if table.add(0, &text, &reading).is_ok() {
                    let records = table.records.iter().map(|record| record.lines);
                    let pieces = table.top.iter().copied().chain(records).chain(table.bottom.iter().copied());
                    // Nothing is lost, and nothing is there twice.
                    prop_assert_eq!(pieces.collect::<Vec<_>>().concat(), text.clone());
                    prop_assert!(table.records.iter().all(|record| !record.key.word.bytes.is_empty()));
                }
            }
        }
    }
}
