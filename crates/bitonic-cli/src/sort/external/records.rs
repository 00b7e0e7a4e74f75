//! `--record`: records of a fixed size by a key in them.

use super::super::formats::Format;
use super::super::lines::Column;
use super::super::{Times, order_in_words, refuse_bytes_on_terminal};
use super::blocks::read_more;
use super::gather::Gathered;
use super::{Arguments, block_length, report, sorter, write};
use crate::failure::Failure;
use crate::figures::counted;
use crate::progress::Progress;
use bitonic::external::Field;
use bitonic::key::KeyType;
use std::time::Instant;

/// Where the key is, and what it is.
#[derive(Debug, PartialEq)]
struct Place {
    offset: usize,
    kind: Kind,
}

#[derive(Debug, PartialEq)]
enum Kind {
    /// So many bytes, compared one by one.
    Bytes(usize),
    Number {
        key_type: KeyType,
        is_big_endian: bool,
    },
}

const FORM: &str = "an offset and a type, as in 0:u64, 4:f32be or 0:bytes10";

impl Place {
    fn parse(word: &str) -> Result<Self, String> {
        let wrong = || format!("'{word}' does not say where the key of a record is: write {FORM}");
        let (offset, kind) = word.split_once(':').ok_or_else(wrong)?;
        let offset = offset.parse().map_err(|_| wrong())?;
        if let Some(length) = kind.strip_prefix("bytes") {
            return match length.parse() {
                Ok(length @ 1..=16) => Ok(Self { offset, kind: Kind::Bytes(length) }),
                _ => Err(format!("'{kind}' is not a key of 1 to 16 bytes: write bytes1 to bytes16")),
            };
        }
        let (name, is_big_endian) = match kind.strip_suffix("be") {
            Some(name) => (name, true),
            None => (kind.strip_suffix("le").unwrap_or(kind), false),
        };
        match name.parse() {
            // Of these not every byte is a key.
            Ok(KeyType::Bool) => Err("a bool in a record is one byte: write u8".to_owned()),
            Ok(KeyType::Char) => Err("a char in a record is four bytes: write u32".to_owned()),
            Ok(key_type) => Ok(Self { offset, kind: Kind::Number { key_type, is_big_endian } }),
            Err(_) => Err(format!("unknown type '{kind}' of a key: write {FORM}")),
        }
    }
}

/// Sorts the records of all inputs.
pub(super) fn run(
    inputs: &[Gathered],
    size: usize,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let place = match &arguments.key {
        Some(Column::Name(word)) => Place::parse(word),
        Some(Column::Number(number)) => Place::parse(&number.to_string()),
        None => Err(format!("--record needs --key: {FORM}")),
    };
    let Place { offset, kind } = place.map_err(Failure::new)?;
    refuse_bytes_on_terminal(Format::Raw, arguments)?;
    let block = block_length(arguments).next_multiple_of(size.max(1));
    let sorter = sorter(inputs, block, arguments)?;
    let (records, key_bytes) = match kind {
        Kind::Bytes(length) => (sorter.records(size, Field::bytes(offset, length)), size_of::<u128>()),
        Kind::Number { key_type, is_big_endian } => bitonic::with_key_type!(key_type, K => {
            let field = if is_big_endian { Field::<K>::big(offset) } else { Field::<K>::little(offset) };
            (sorter.records(size, field), size_of::<K>())
        }),
    };
    let mut records = records?;
    let mut total = 0;
    for input in inputs {
        let length = input.open()?.1;
        if !length.is_multiple_of(size as u64) {
            return Err(input.refused(format_args!(
                "{length} bytes are no whole number of records of {size} bytes, {} too many: the file is cut off, or has \
                 another --record",
                length % size as u64
            )));
        }
        total += length as usize;
    }
    let progress = Progress::bar("sorting parts", total);
    let mut bytes = Vec::new();
    for input in inputs {
        let (mut content, _) = input.open()?;
        loop {
            bytes.clear();
            let read = read_more(&mut content, block, &mut bytes);
            if read.map_err(|error| input.cannot_read(&error))? == 0 {
                break;
            }
            records.push(&bytes)?;
            progress.advance(bytes.len());
        }
    }
    drop(progress);
    let before = started.elapsed();
    let sorting = Instant::now();
    let mut sorted = records.sort()?;
    let sorting = sorting.elapsed();
    let writing = Instant::now();
    write(arguments, &mut |out| {
        let progress = Progress::bar("merging", total);
        while let Some(chunk) = sorted.next_chunk()? {
            out.write_all(chunk)?;
            progress.advance(chunk.len());
        }
        Ok(())
    })?;
    let what = format!(
        "{} of {size} bytes by a key of {} bytes, {}",
        counted(sorted.summary().items as usize, "record"),
        key_bytes,
        order_in_words(arguments.options.order())
    );
    report(&what, sorted.summary(), Times { before, sorting, writing: writing.elapsed() }, arguments);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_keys_are_read() {
        let number = |offset, key_type, is_big_endian| {
            Ok(Place { offset, kind: Kind::Number { key_type, is_big_endian } })
        };
        assert_eq!(Place::parse("0:u64"), number(0, KeyType::U64, false));
        assert_eq!(Place::parse("12:i16le"), number(12, KeyType::I16, false));
        assert_eq!(Place::parse("4:f32be"), number(4, KeyType::F32, true));
        assert_eq!(Place::parse("0:bytes10"), Ok(Place { offset: 0, kind: Kind::Bytes(10) }));
        for word in [
            "3",
            "u64",
            ":u64",
            "-1:u64",
            "x:u64",
            "0:",
            "0:u63",
            "0:bytes",
            "0:bytes17",
            "0:bytes0",
            "0:char",
            "0:be",
        ] {
            let reason = Place::parse(word).unwrap_err();
            assert!(reason.contains(": write "), "{word}: {reason}");
        }
    }
}
