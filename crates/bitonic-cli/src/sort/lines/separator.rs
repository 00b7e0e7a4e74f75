//! What stands between the columns of a table.

/// What stands between columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sort) enum Separator {
    Comma,
    Semicolon,
    Tab,
    /// Any white space, as much as there is.
    Space,
}

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    /// How many bytes of the line stand before it.
    pub(super) offset: usize,
    /// Without the white space and the quotes around it.
    pub(super) bytes: &'a [u8],
}

/// A field begins with a quote that its line does not close.
#[derive(Debug, PartialEq)]
pub(super) struct OpenQuote {
    pub(super) offset: usize,
}

impl Separator {
    /// Every separator.
    pub(in crate::sort) const ALL: &[Self] = &[Self::Comma, Self::Semicolon, Self::Tab, Self::Space];

    /// Its name on the command line.
    pub(in crate::sort) fn name(self) -> &'static str {
        match self {
            Self::Comma => "comma",
            Self::Semicolon => "semicolon",
            Self::Tab => "tab",
            Self::Space => "space",
        }
    }

    /// The separator of a table with this first line. A semicolon comes before a comma, which may be in numbers.
    pub(super) fn of_line(line: &[u8]) -> Self {
        let mut is_quoted = false;
        let outside_quotes = |byte: &&u8| {
            is_quoted ^= **byte == b'"';
            !is_quoted
        };
        let bytes: Vec<u8> = line.iter().filter(outside_quotes).copied().collect();
        let found = [Self::Tab, Self::Semicolon, Self::Comma]
            .into_iter()
            .find(|separator| separator.byte().is_some_and(|byte| bytes.contains(&byte)));
        found.unwrap_or(Self::Space)
    }

    fn byte(self) -> Option<u8> {
        match self {
            Self::Comma => Some(b','),
            Self::Semicolon => Some(b';'),
            Self::Tab => Some(b'\t'),
            Self::Space => None,
        }
    }

    /// The fields of a line.
    pub(super) fn fields(self, line: &[u8]) -> impl Iterator<Item = Result<Field<'_>, OpenQuote>> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let start = next?;
            let field = match self.byte() {
                Some(separator) => separated(line, start, separator),
                None => word(line, start)?,
            };
            next = field.as_ref().ok().and_then(|(_, after)| *after);
            Some(field.map(|(field, _)| field))
        })
    }
}

/// A field, and where the next one starts if there is one.
type Found<'a> = Result<(Field<'a>, Option<usize>), OpenQuote>;

fn word(line: &[u8], start: usize) -> Option<Found<'_>> {
    let offset = start + line[start..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    let rest = &line[offset..];
    let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    Some(Ok((Field { offset, bytes: &rest[..length] }, Some(offset + length))))
}

fn separated(line: &[u8], start: usize, separator: u8) -> Found<'_> {
    let rest = &line[start..];
    let is_inner_space = |byte: &u8| byte.is_ascii_whitespace() && *byte != separator;
    let before = rest.iter().take_while(|byte| is_inner_space(byte)).count();
    if rest.get(before) == Some(&b'"') {
        return quoted(line, start + before, separator);
    }
    let end = rest.iter().position(|&byte| byte == separator);
    let field = &rest[..end.unwrap_or(rest.len())];
    let bytes = field.trim_ascii();
    let offset = if bytes.is_empty() { start } else { start + before };
    Ok((Field { offset, bytes }, end.map(|end| start + end + 1)))
}

/// A field that begins with a quote. Two quotes within it stand for one.
fn quoted(line: &[u8], start: usize, separator: u8) -> Found<'_> {
    let inside = &line[start + 1..];
    let mut length = 0;
    loop {
        let quote = inside[length..].iter().position(|&byte| byte == b'"');
        length += quote.ok_or(OpenQuote { offset: start })?;
        if inside.get(length + 1) != Some(&b'"') {
            break;
        }
        length += 2;
    }
    let after = start + 1 + length + 1;
    let end = line[after..].iter().position(|&byte| byte == separator);
    let text = &inside[..length];
    let bytes = text.trim_ascii();
    // Of a field of nothing but white space, the beginning.
    let before = if bytes.is_empty() { 0 } else { length - text.trim_ascii_start().len() };
    Ok((Field { offset: start + 1 + before, bytes }, end.map(|end| after + end + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(separator: Separator, line: &str) -> Vec<&str> {
        let fields = separator.fields(line.as_bytes());
        fields.map(|field| str::from_utf8(field.unwrap().bytes).unwrap()).collect()
    }

    #[test]
    fn the_first_line_tells_the_separator() {
        let of = |line: &str| Separator::of_line(line.as_bytes());
        assert_eq!(of("a,b"), Separator::Comma);
        assert_eq!(of("1,5;2,5"), Separator::Semicolon);
        assert_eq!(of("a b\tc, d"), Separator::Tab);
        assert_eq!(of("1 2 3"), Separator::Space);
        assert_eq!(of("\"a;b\",1"), Separator::Comma);
        assert_eq!(of(""), Separator::Space);
    }

    #[test]
    fn fields_are_what_stands_between_separators() {
        assert_eq!(fields(Separator::Comma, "a, 12 ,,x"), ["a", "12", "", "x"]);
        assert_eq!(fields(Separator::Comma, ","), ["", ""]);
        assert_eq!(fields(Separator::Comma, "\"a, \"\"b\"\"\" , \"7\"x,3"), ["a, \"\"b\"\"", "7", "3"]);
        assert_eq!(fields(Separator::Tab, "a b\t\t3"), ["a b", "", "3"]);
        assert_eq!(fields(Separator::Space, "  a\t b  "), ["a", "b"]);
        assert_eq!(fields(Separator::Space, "5\" 3"), ["5\"", "3"]);
        assert_eq!(fields(Separator::Space, ""), [""; 0]);
        let open: Vec<_> = Separator::Comma.fields(b"1, \"a,2").collect();
        assert_eq!(open[1], Err(OpenQuote { offset: 3 }));
        assert_eq!(open.len(), 2);
    }

    proptest! {
        #![proptest_config(crate::sort::formats::tests::many_cases())]
        #[test]
        fn arbitrary_lines_have_fields_or_an_open_quote(line in prop::collection::vec(
            prop_oneof![Just(b','), Just(b'"'), Just(b' '), Just(b'\t'), any::<u8>()], 0..20)
        ) {
            for &separator in Separator::ALL {
                let fields: Vec<_> = separator.fields(&line).collect();
                prop_assert!(fields.len() <= line.len() + 1);
                for field in fields.iter().flatten() {
                    prop_assert!(field.offset + field.bytes.len() <= line.len());
                    prop_assert_eq!(&line[field.offset..][..field.bytes.len()].trim_ascii().len(), &field.bytes.len());
                }
            }
            let _ = Separator::of_line(&line);
        }
    }
}
