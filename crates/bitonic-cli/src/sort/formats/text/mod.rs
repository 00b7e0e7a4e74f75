//! Text: numbers (or truth values, or characters) with white space between them.

mod infer;
mod key;
mod word;

pub(super) use infer::infer;
pub(super) use key::TextKey;

use super::with_room_for;
use crate::text_position::TextPosition;
use word::{Word, quote, words};

/// Reads keys of a known type.
pub(super) fn decode<K: TextKey>(text: &[u8]) -> Result<Vec<K>, String> {
    let mut keys = with_room_for(words(text).count())?;
    for word in words(text) {
        match K::read(word_text(text, word)?) {
            Some(key) => keys.push(key),
            None => return Err(misfit::<K>(text, word)),
        }
    }
    Ok(keys)
}

/// Appends the keys, one a line. Equal keys stand together in what was sorted, and a line is copied sooner than made.
pub(super) fn append<K: TextKey>(keys: &[K], out: &mut Vec<u8>) {
    for equal in keys.chunk_by(|a, b| a.to_raw_bits() == b.to_raw_bits()) {
        let start = out.len();
        equal[0].append(out);
        out.push(b'\n');
        let line = start..out.len();
        for _ in 1..equal.len() {
            out.extend_from_within(line.clone());
        }
    }
}

/// Where the key with this index stands.
pub(super) fn position_of_key(text: &[u8], index: usize) -> String {
    let offset = words(text).nth(index).map_or(text.len(), |word| word.offset);
    TextPosition::of(text, offset).to_string()
}

fn word_text<'a>(text: &[u8], word: Word<'a>) -> Result<&'a str, String> {
    std::str::from_utf8(word.bytes).map_err(|error| {
        let at = error.valid_up_to();
        format!(
            "{}: byte {:#04x} is no UTF-8 text: say --format raw if the file holds bytes and not numbers as text",
            TextPosition::of(text, word.offset + at),
            word.bytes[at]
        )
    })
}

/// Why a word is no key of the type.
#[cold]
fn misfit<K: TextKey>(text: &[u8], word: Word) -> String {
    let (position, word) = (TextPosition::of(text, word.offset), String::from_utf8_lossy(word.bytes));
    let quoted = quote(&word);
    if is_number(&word) || !K::IS_NUMBER {
        format!("{position}: {quoted} does not fit {}, {}: choose another --type", K::TYPE, K::written())
    } else {
        no_number(&position, &quoted)
    }
}

fn no_number(position: &TextPosition, quoted: &str) -> String {
    format!("{position}: {quoted} is no number: write numbers with white space between them")
}

/// Whether the word is a number of any size, a NaN or an infinity.
fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic::Key;
    use bitonic::key::KeyType;
    use bitonic_testkit::Pattern;
    use proptest::prelude::*;

    #[test]
    fn every_type_reads_back_but_for_the_payload_of_nans() {
        for &key_type in KeyType::ALL {
            bitonic::with_key_type!(key_type, K => {
                for pattern in [Pattern::Special, Pattern::Random, Pattern::LogUniform] {
                    let keys: Vec<K> = pattern.generate(5000, 1);
                    let mut text = Vec::new();
                    append(&keys, &mut text);
                    let back: Vec<K> = decode(&text).unwrap();
                    assert_eq!(back.len(), keys.len());
                    for (back, key) in back.iter().zip(&keys) {
                        let [printed, wanted] = [back, key].map(|key| super::super::show(*key));
                        let nan = printed.ends_with("nan");
                        assert!(nan || back.to_raw_bits() == key.to_raw_bits(), "{key_type}: {printed}, {wanted}");
                        assert_eq!(printed, wanted);
                    }
                }
            });
        }
    }

    #[test]
    fn what_does_not_fit_names_its_position_and_the_range() {
        assert_eq!(
            decode::<u8>(b"1 2\n 300").unwrap_err(),
            "line 2, column 2: '300' does not fit u8, whole numbers from 0 to 255: choose another --type"
        );
        assert_eq!(
            decode::<i16>(b"1.5").unwrap_err(),
            "line 1, column 1: '1.5' does not fit i16, whole numbers from -32768 to 32767: choose another --type"
        );
        assert_eq!(
            decode::<bool>(b"true\n0 3").unwrap_err(),
            "line 2, column 3: '3' does not fit bool, written true, false, 1 or 0: choose another --type"
        );
        assert_eq!(
            decode::<f32>(b"1 1e39").unwrap_err(),
            "line 1, column 3: '1e39' does not fit f32, numbers from -3.4028235e38 to 3.4028235e38, inf and nan: \
             choose another --type"
        );
        assert_eq!(
            decode::<u32>("ä abc".as_bytes()).unwrap_err(),
            "line 1, column 1: 'ä' is no number: write numbers with white space between them"
        );
        assert_eq!(
            decode::<u32>(b"1\n 2 3\xff").unwrap_err(),
            "line 2, column 5: byte 0xff is no UTF-8 text: say --format raw if the file holds bytes and not numbers \
             as text"
        );
    }

    /// Words that come near to numbers of every kind, among arbitrary bytes.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            any::<i64>().prop_map(|value| value.to_string()),
            any::<u128>().prop_map(|value| value.to_string()),
            any::<f64>().prop_map(|value| format!("{value:?}")),
            any::<f32>().prop_map(|value| format!("{value:e}")),
            "[-+]?[0-9]{0,45}[.]?[0-9]{0,5}(e[-+]?[0-9]{0,3})?",
            "[-+]?(nan|inf|NaN|infinity|true|false|0|-0)",
            "U[+][0-9a-fA-F]{0,9}",
            ".{0,3}",
        ];
        let words = prop::collection::vec((word, "[ \t\r\n]{0,2}"), 0..8);
        let words = words
            .prop_map(|words| words.into_iter().flat_map(|(word, space)| [word, space]).collect::<String>());
        let damaged =
            (words, any::<prop::sample::Index>(), any::<Option<u8>>()).prop_map(|(words, at, byte)| {
                let mut text = words.into_bytes();
                if let (Some(byte), false) = (byte, text.is_empty()) {
                    let at = at.index(text.len());
                    text[at] = byte;
                }
                text
            });
        prop_oneof![3 => damaged, 1 => any::<Vec<u8>>()]
    }

    proptest! {
        #![proptest_config(super::super::tests::many_cases())]
        #[test]
        fn arbitrary_text_is_read_or_refused_without_a_panic(text in text()) {
            let inferred = infer(&text);
            if let Ok(key_type) = inferred {
                let keys = bitonic::with_key_type!(key_type, K => decode::<K>(&text).map(|keys| keys.len()));
                match keys {
                    Ok(len) => prop_assert_eq!(len, words(&text).count()),
                    // Only a number such as 1e999 is inferred and then refused.
                    Err(message) => prop_assert!(message.contains("does not fit f64"), "{}", message),
                }
            }
            let others = [KeyType::U8, KeyType::F16, KeyType::Bf16, KeyType::F32, KeyType::Bool, KeyType::Char];
            for key_type in others {
                let _ = bitonic::with_key_type!(key_type, K => decode::<K>(&text).map(|keys| keys.len()));
            }
        }
    }
}
