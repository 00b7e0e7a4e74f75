//! Text: numbers (or truth values, or characters) with white space between them.

mod infer;
mod key;
mod number;
mod word;

pub(in crate::sort) use infer::{Inferred, Seen, infer};
pub(in crate::sort) use key::TextKey;
pub(in crate::sort) use word::{Comments, Place, Word, quote};

use super::{Refusal, with_room_for};
use crate::text_position::TextPosition;
use bitonic::key::KeyType;
use word::words;

/// All words of some texts.
pub(in crate::sort) fn places<'a>(
    texts: &'a [&'a [u8]],
    comments: Comments,
) -> impl Iterator<Item = Place<'a>> + Clone {
    let of_text = move |(source, text): (usize, &'a &'a [u8])| {
        places_of_part(source, text, TextPosition::START, comments)
    };
    texts.iter().enumerate().flat_map(of_text)
}

/// All words of a text that begins at `origin` of a longer one.
pub(in crate::sort) fn places_of_part(
    source: usize,
    text: &[u8],
    origin: TextPosition,
    comments: Comments,
) -> impl Iterator<Item = Place<'_>> + Clone {
    words(text, comments).map(move |word| Place { source, text, origin, word })
}

/// What `#` means among keys of this type.
pub(in crate::sort) fn comments(key_type: KeyType) -> Comments {
    bitonic::with_key_type!(key_type, K => <K as TextKey>::COMMENTS)
}

/// Whether a key may have fewer digits than its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sort) enum Digits {
    AsTheTypeHolds,
    /// A word with more is refused.
    All,
}

/// Reads keys of a known type.
pub(in crate::sort) fn decode<'a, K: TextKey>(
    words: impl Iterator<Item = Place<'a>> + Clone,
    digits: Digits,
) -> Result<Vec<K>, Refusal> {
    let no_memory = |reason| Refusal { source: 0, reason };
    let mut keys = with_room_for(words.clone().count()).map_err(no_memory)?;
    decode_into(words, digits, &mut keys)?;
    Ok(keys)
}

/// Appends keys of a known type.
pub(in crate::sort) fn decode_into<'a, K: TextKey>(
    words: impl Iterator<Item = Place<'a>>,
    digits: Digits,
    keys: &mut Vec<K>,
) -> Result<(), Refusal> {
    for place in words {
        let content = place.content()?;
        let Some(key) = K::read(content) else { return Err(misfit::<K>(&place, content)) };
        if digits == Digits::All && !key.holds(content) {
            return Err(place.refused(&format!(
                "has more digits than {} holds: leave out --exact to round it, or choose another --type",
                K::TYPE
            )));
        }
        keys.push(key);
    }
    Ok(())
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

/// Why a word is no key of the type.
#[cold]
fn misfit<K: TextKey>(place: &Place, content: &str) -> Refusal {
    if is_number(content) || !K::IS_NUMBER {
        place.refused(&format!("does not fit {}, {}: choose another --type", K::TYPE, K::written()))
    } else {
        no_number(place, content)
    }
}

#[cold]
fn no_number(place: &Place, content: &str) -> Refusal {
    let unsigned = content.strip_prefix(['-', '+']).unwrap_or(content);
    if number::hexadecimal(unsigned).is_some_and(|digits| !digits.contains('_')) {
        return place.refused(
            "has more than the 128 bits that are read of a hexadecimal number: write it in decimal digits and say --type \
             f64 to round it",
        );
    }
    let columns = match content.contains([',', ';']) {
        true => ", or sort lines by one of their columns with --key",
        false => "",
    };
    place.refused(&format!("is no number: write numbers with white space between them{columns}"))
}

/// Whether the word can be a key whose type is inferred.
pub(in crate::sort) fn is_key(word: &str) -> bool {
    matches!(word, "true" | "false") || is_number(word)
}

/// Whether the word is a number of any size, a NaN or an infinity.
fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok() || number::plain(word).is_some_and(|plain| plain.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic::Key;
    use bitonic::key::KeyType;
    use bitonic_testkit::Pattern;
    use proptest::prelude::*;

    fn decode<K: TextKey>(text: &[u8]) -> Result<Vec<K>, String> {
        super::decode(places(&[text], K::COMMENTS), Digits::AsTheTypeHolds).map_err(|refusal| refusal.reason)
    }

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
            "[-+]?(0[xX])?[0-9a-fA-F_]{0,40}",
            "#.{0,3}",
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
            let texts = [text.as_slice()];
            let words = || places(&texts, Comments::LeftOut);
            if let Ok(Inferred { key_type, rounded }) = infer(words()) {
                let exact = bitonic::with_key_type!(key_type, K => super::decode::<K>(words(), Digits::All).is_ok());
                prop_assert!(!(exact && rounded.is_some()), "{:?}", rounded);
                let keys = bitonic::with_key_type!(key_type, K => decode::<K>(&text).map(|keys| keys.len()));
                match keys {
                    Ok(len) => prop_assert_eq!(len, words().count()),
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
