//! NumPy's `.npz`: a ZIP archive of `.npy` files.
//!
//! ```text
//! local header, name, data | ... | central directory: an entry for each file | (64-bit end) | end of the directory
//! ```
//!
//! The directory at the end says what is there; a local header only how far its data is from it.

use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read;

/// What an archive begins with, unless it is empty.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";

/// The array with this name, or the only one, and the bytes of its `.npy` file.
pub(in crate::sort) fn array(bytes: &[u8], name: Option<&str>) -> Result<(String, Vec<u8>), String> {
    let entries = entries(bytes)?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let known = names.join(", ");
    let entry = match (name, entries.as_slice()) {
        (_, []) => return Err("the archive holds no arrays: save one with numpy.savez".to_owned()),
        (None, [only]) => only,
        (None, _) => return Err(format!("the archive holds the arrays {known}: choose one with --array")),
        (Some(name), all) => all
            .iter()
            .find(|entry| entry.name == name)
            .ok_or_else(|| format!("the archive holds no array '{name}': choose one of {known}"))?,
    };
    let content = entry.content(bytes).map_err(|reason| format!("array '{}': {reason}", entry.name))?;
    Ok((entry.name.clone(), content))
}

/// A file of the archive.
#[derive(Debug)]
struct Entry {
    /// Without `.npy`, as NumPy calls it.
    name: String,
    is_encrypted: bool,
    method: u64,
    checksum: u64,
    stored_length: u64,
    length: u64,
    /// Where its local header is.
    offset: u64,
}

impl Entry {
    fn content(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let header = part(bytes, self.offset, 30).filter(|header| header.starts_with(MAGIC));
        let header = header.ok_or_else(|| damaged(self.offset, "no file starts here"))?;
        let start = self.offset + 30 + number(header, 26, 2) + number(header, 28, 2);
        let stored = part(bytes, start, self.stored_length)
            .ok_or_else(|| damaged(start, &format!("{} bytes should follow", self.stored_length)))?;
        if self.is_encrypted {
            return Err("it is encrypted: save it with numpy.savez".to_owned());
        }
        let content = match self.method {
            0 => stored.to_vec(),
            8 => inflate(stored, self.length)
                .map_err(|error| damaged(start, &format!("the compressed data cannot be read ({error})")))?,
            other => {
                return Err(format!(
                    "it is compressed by method {other}, and only 0 and 8 are known: save it with numpy.savez"
                ));
            }
        };
        let mut checksum = Crc::new();
        checksum.update(&content);
        if content.len() as u64 != self.length || u64::from(checksum.sum()) != self.checksum {
            return Err(damaged(start, "the data is not what the archive's checksum says"));
        }
        Ok(content)
    }
}

/// As many bytes as are said to be there, or one more, which shows that it was a lie.
fn inflate(stored: &[u8], length: u64) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    DeflateDecoder::new(stored).take(length.saturating_add(1)).read_to_end(&mut content)?;
    Ok(content)
}

/// The arrays of the archive, as its directory lists them.
fn entries(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let (mut offset, count) = directory(bytes)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let header = part(bytes, offset, 46).filter(|header| header.starts_with(ENTRY));
        let header = header.ok_or_else(|| damaged(offset, "no entry of the directory starts here"))?;
        let [name, extra, comment] = [28, 30, 32].map(|at| number(header, at, 2));
        let cut = || damaged(offset, "this entry of the directory is cut off");
        let name_bytes = part(bytes, offset + 46, name).ok_or_else(cut)?;
        let extra_bytes = part(bytes, offset + 46 + name, extra).ok_or_else(cut)?;
        let mut wide = wide_numbers(extra_bytes);
        // Numbers that need more than 32 bits stand apart, in this order.
        let mut length_at = |at| match number(header, at, 4) {
            0xFFFF_FFFF => wide.next().ok_or_else(cut),
            narrow => Ok(narrow),
        };
        let [length, stored_length, start] = [length_at(24)?, length_at(20)?, length_at(42)?];
        let name_text = String::from_utf8_lossy(name_bytes).into_owned();
        if let Some(array) = name_text.strip_suffix(".npy") {
            entries.push(Entry {
                name: array.to_owned(),
                is_encrypted: number(header, 8, 2) & 1 == 1,
                method: number(header, 10, 2),
                checksum: number(header, 16, 4),
                stored_length,
                length,
                offset: start,
            });
        }
        offset += 46 + name + extra + comment;
    }
    Ok(entries)
}

/// The numbers of 64 bits among what an entry says beyond the usual.
fn wide_numbers(extra: &[u8]) -> impl Iterator<Item = u64> {
    const WIDE: u64 = 1;
    let mut rest = extra;
    let mut found: &[u8] = &[];
    while let Some(header) = rest.get(..4) {
        let end = 4 + number(header, 2, 2) as usize;
        let Some(field) = rest.get(4..end) else { break };
        if number(header, 0, 2) == WIDE {
            found = field;
            break;
        }
        rest = &rest[end..];
    }
    found.chunks_exact(8).map(|eight| number(eight, 0, 8))
}

/// Where the directory starts, and how many entries it has.
fn directory(bytes: &[u8]) -> Result<(u64, u64), String> {
    const LENGTH: usize = 22;
    const LONGEST_COMMENT: usize = 0xFFFF;
    let first = bytes.len().saturating_sub(LENGTH + LONGEST_COMMENT);
    let is_end = |&at: &usize| {
        let end = &bytes[at..];
        end.starts_with(END) && number(end, 20, 2) == (end.len() - LENGTH) as u64
    };
    let last = bytes.len().checked_sub(LENGTH);
    let Some(at) = last.and_then(|last| (first..=last).rev().find(is_end)) else {
        return Err(format!(
            "the archive has no directory at its end, after {} bytes: it is cut off or no .npz, save it again",
            bytes.len()
        ));
    };
    let (count, offset) = (number(&bytes[at..], 10, 2), number(&bytes[at..], 16, 4));
    if count != 0xFFFF && offset != 0xFFFF_FFFF {
        return Ok((offset, count));
    }
    let wide = at.checked_sub(20).map(|locator| &bytes[locator..at]);
    let wide = wide.filter(|locator| locator.starts_with(LOCATOR_64)).map(|locator| number(locator, 8, 8));
    match wide.and_then(|end| part(bytes, end, 56)).filter(|end| end.starts_with(END_64)) {
        Some(end) => Ok((number(end, 48, 8), number(end, 32, 8))),
        // Just as many as the largest number says.
        None if wide.is_none() => Ok((offset, count)),
        None => Err(damaged(at as u64, "the directory's 64-bit end is missing")),
    }
}

fn part(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}

/// A little-endian number within a part that is long enough.
fn number(part: &[u8], at: usize, length: usize) -> u64 {
    part[at..at + length].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn damaged(offset: u64, reason: &str) -> String {
    format!("byte {offset}: {reason}: the archive is damaged, save it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use proptest::prelude::*;
    use std::io::Write;

    /// An archive as Python's zipfile makes it; files with `wide` numbers as it does for those of more than 4 GiB.
    fn archive(files: &[(&str, &[u8])], method: u16, wide: bool) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in files {
            let stored = match method {
                8 => {
                    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                    encoder.write_all(content).unwrap();
                    encoder.finish().unwrap()
                }
                _ => content.to_vec(),
            };
            let mut checksum = Crc::new();
            checksum.update(content);
            let offset = bytes.len();
            let narrow = |value: usize| if wide { u32::MAX } else { value as u32 }.to_le_bytes();
            let about = [
                &[45, 0, 0, 0][..],
                &method.to_le_bytes(),
                &[0; 4],
                &checksum.sum().to_le_bytes(),
                &narrow(stored.len()),
                &narrow(content.len()),
                &(name.len() as u16).to_le_bytes(),
            ]
            .concat();
            let lengths =
                [content.len(), stored.len(), offset].map(|value| (value as u64).to_le_bytes()).concat();
            let extra = [&[9, 0, 1, 0, 7, 1, 0, 24, 0][..], &lengths].concat();
            let extra = if wide { extra.as_slice() } else { &[] };
            bytes.extend([MAGIC, &about, &[2, 0], name.as_bytes(), &[5, 5], &stored].concat());
            let entry = [
                ENTRY,
                &[45, 0],
                &about,
                &(extra.len() as u16).to_le_bytes(),
                &[0; 10],
                &narrow(offset),
                name.as_bytes(),
                extra,
            ];
            directory.extend(entry.concat());
        }
        let start = bytes.len();
        let length = directory.len();
        bytes.extend(directory);
        let count = files.len() as u16;
        if wide {
            let end = bytes.len() as u64;
            let count = u64::from(count).to_le_bytes();
            let lengths = [length, start].map(|value| (value as u64).to_le_bytes()).concat();
            bytes.extend([END_64, &[0; 20], &count, &count, &lengths].concat());
            bytes.extend([LOCATOR_64, &[0; 4], &end.to_le_bytes(), &[1, 0, 0, 0]].concat());
            bytes.extend([END, &[0; 4], &[0xFF; 12], &[0, 0]].concat());
        } else {
            let [length, start] = [length, start].map(|value| (value as u32).to_le_bytes());
            let count = count.to_le_bytes();
            bytes.extend([END, &[0; 4], &count, &count, &length, &start, &[3, 0], b"end"].concat());
        }
        bytes
    }

    const FILES: &[(&str, &[u8])] = &[("a.npy", b"first first first"), ("read.me", b"text"), ("b.npy", b"")];

    #[test]
    fn arrays_are_found_by_name_however_they_are_stored() {
        for method in [0, 8] {
            for wide in [false, true] {
                let bytes = archive(FILES, method, wide);
                let found = |name| array(&bytes, Some(name)).unwrap();
                assert_eq!(found("a"), ("a".to_owned(), b"first first first".to_vec()), "{method}, {wide}");
                assert_eq!(found("b"), ("b".to_owned(), Vec::new()));
            }
        }
        let one = archive(&FILES[..2], 0, false);
        assert_eq!(array(&one, None).unwrap().0, "a", "there is only one array");
    }

    #[test]
    fn what_cannot_be_chosen_or_read_is_named() {
        let refused = |bytes: &[u8], name| array(bytes, name).unwrap_err();
        let bytes = archive(FILES, 0, false);
        assert_eq!(refused(&bytes, None), "the archive holds the arrays a, b: choose one with --array");
        assert_eq!(refused(&bytes, Some("c")), "the archive holds no array 'c': choose one of a, b");
        assert_eq!(
            refused(&archive(&FILES[1..2], 0, false), None),
            "the archive holds no arrays: save one with numpy.savez"
        );
        assert!(
            refused(&bytes[..bytes.len() - 1], None).starts_with("the archive has no directory at its end")
        );
        assert!(refused(b"", None).starts_with("the archive has no directory at its end, after 0 bytes"));
        assert_eq!(
            refused(&archive(FILES, 12, false), Some("a")),
            "array 'a': it is compressed by method 12, and only 0 and 8 are known: save it with numpy.savez"
        );
        let mut changed = bytes.clone();
        changed[40] ^= 1;
        assert_eq!(
            refused(&changed, Some("a")),
            "array 'a': byte 37: the data is not what the archive's checksum says: the archive is damaged, save it again"
        );
    }

    /// Archives that are whole, cut off or changed, and arbitrary bytes.
    fn archives() -> impl Strategy<Value = Vec<u8>> {
        let contents = prop::collection::vec(any::<u8>(), 0..20);
        let made = (contents, prop_oneof![Just(0), Just(8)], any::<bool>());
        let made = made.prop_map(|(content, method, wide)| {
            archive(&[("a.npy", &content), ("b.npy", b"b")], method, wide)
        });
        let damage = (any::<prop::sample::Index>(), any::<Option<u8>>());
        let damaged = (made, damage).prop_map(|(mut bytes, (at, damage))| {
            let at = at.index(bytes.len());
            match damage {
                Some(byte) => bytes[at] = byte,
                None => bytes.truncate(at),
            }
            bytes
        });
        prop_oneof![4 => damaged, 1 => any::<Vec<u8>>()]
    }

    proptest! {
        #![proptest_config(super::super::tests::many_cases())]
        #[test]
        fn arbitrary_archives_are_read_or_refused_without_a_panic(bytes in archives()) {
            for name in [None, Some("a"), Some("b")] {
                let _ = array(&bytes, name);
            }
        }
    }
}
