//! What is sorted: one input or several, each in its format.

use super::Arguments;
use super::external::{Content, Gathered};
use super::formats::text::{self, Digits};
use super::formats::{self, FileKey, Format, InputFormat, Layout, Refusal};
use super::keys::AnyKeys;
use crate::failure::{Failure, remark};
use crate::input::{Input, name_of};
use crate::progress::Progress;
use bitonic::key::KeyType;
use bitonic::with_key_type;
use std::path::{Path, PathBuf};

/// The inputs, in the order in which they were named.
pub(super) struct Sources(Vec<Source>);

struct Source {
    /// None for standard input.
    path: Option<PathBuf>,
    input: Input,
    format: Format,
}

/// The keys of all inputs, one after the other.
pub(super) struct Decoded {
    pub(super) keys: Box<dyn AnyKeys>,
    /// How many there are up to the end of every input.
    pub(super) ends: Vec<usize>,
}

impl Sources {
    /// Reads all inputs that are not read yet.
    pub(super) fn read(inputs: Vec<Gathered>, arguments: &Arguments) -> Result<Self, Failure> {
        let source = |Gathered { path, content, .. }: Gathered| {
            let input = match content {
                Content::InMemory(bytes) => Input { name: name_of(path.as_deref()), bytes },
                Content::File(_) => Input::read(path.as_deref())?,
            };
            Source::new(path, input, arguments)
        };
        Ok(Self(inputs.into_iter().map(source).collect::<Result<_, _>>()?))
    }

    /// The format of the first.
    pub(super) fn format(&self) -> Format {
        self.0[0].format
    }

    /// The texts, if all are.
    pub(super) fn texts(&self) -> Result<Vec<&[u8]>, Failure> {
        self.0
            .iter()
            .map(|Source { input, format, .. }| match format.is_text() {
                true => Ok(input.bytes.as_slice()),
                false => Err(input.refused(NO_LINES)),
            })
            .collect()
    }

    /// The type that holds all keys. Says on standard error if it holds some only rounded.
    pub(super) fn key_type(&self, arguments: &Arguments) -> Result<KeyType, Failure> {
        let asked = arguments.key_type;
        let mut known = None;
        for Source { input, format, .. } in &self.0 {
            known =
                format.key_type_after(known, &input.bytes, asked).map_err(|reason| input.refused(reason))?;
        }
        if let Some(key_type) = asked.or(known) {
            return Ok(key_type);
        }
        let texts: Vec<&[u8]> = self.0.iter().map(|source| source.input.bytes.as_slice()).collect();
        self.inferred(text::infer(text::places(&texts, text::Comments::LeftOut)), arguments)
    }

    /// The type that was inferred from all texts.
    pub(super) fn inferred(
        &self,
        inferred: Result<text::Inferred, Refusal>,
        arguments: &Arguments,
    ) -> Result<KeyType, Failure> {
        let text::Inferred { key_type, rounded } = inferred.map_err(|refusal| self.refused(refusal))?;
        // What is refused all the same needs no note.
        if let (Some(Refusal { source, reason }), Digits::AsTheTypeHolds) = (rounded, arguments.digits()) {
            remark(&format!("{}: {reason}", self.0[source].input.name));
        }
        Ok(key_type)
    }

    /// All keys.
    pub(super) fn decode(&self, key_type: KeyType, digits: Digits) -> Result<Decoded, Failure> {
        let _progress = Progress::spinner("parsing");
        let mut ends = Vec::new();
        let keys: Box<dyn AnyKeys> =
            with_key_type!(key_type, K => Box::new(self.decode_keys::<K>(digits, &mut ends)?));
        Ok(Decoded { keys, ends })
    }

    fn decode_keys<K: FileKey>(&self, digits: Digits, ends: &mut Vec<usize>) -> Result<Vec<K>, Failure> {
        let mut keys = Vec::new();
        for Source { input, format, .. } in &self.0 {
            let more: Vec<K> = format.decode(&input.bytes, digits).map_err(|reason| input.refused(reason))?;
            match keys.is_empty() {
                true => keys = more,
                false => {
                    if keys.try_reserve_exact(more.len()).is_err() {
                        return Err(input
                            .refused("no memory for its keys beside those before it: sort fewer at a time"));
                    }
                    keys.extend(more);
                }
            }
            ends.push(keys.len());
        }
        Ok(keys)
    }

    /// How the array is stored, if there is one input and it is an array; of several, only the order of bytes is kept.
    pub(super) fn layout(&self, len: usize) -> Result<Option<Layout>, Failure> {
        let mut layouts = Vec::new();
        for Source { input, format, .. } in &self.0 {
            let layout = format.layout(&input.bytes).map_err(|reason| input.refused(reason))?;
            if let Some(layout) = &layout
                && layout.shape.0.len() > 1
                && self.0.len() > 1
            {
                return Err(input.refused(format_args!(
                    "the array has shape {}, and only arrays of one dimension are sorted together: sort it alone",
                    layout.shape
                )));
            }
            layouts.push(layout);
        }
        match layouts.as_slice() {
            [only] => Ok(only.clone()),
            several => Ok(several[0].as_ref().map(|first| first.flattened(len))),
        }
    }

    /// Refuses to write over a text that has comments, which would be lost.
    pub(super) fn keep_comments(&self, output: Option<&Path>) -> Result<(), Failure> {
        let is_output = |path: &PathBuf| is_output(path, output);
        let lost = |Source { path, input, format }: &&Source| {
            format.is_text() && input.bytes.contains(&b'#') && path.as_ref().is_some_and(is_output)
        };
        match self.0.iter().find(lost) {
            Some(Source { input, .. }) => Err(input.refused(LOSES_COMMENTS)),
            None => Ok(()),
        }
    }

    /// The extension of the first file's name.
    pub(super) fn extension(&self) -> Option<String> {
        self.0[0].path.as_deref().and_then(formats::extension)
    }

    /// A failure because of what one of the inputs holds.
    pub(super) fn refused(&self, refusal: Refusal) -> Failure {
        self.0[refusal.source].input.refused(refusal.reason)
    }

    /// The name of an input, for messages.
    pub(super) fn name(&self, source: usize) -> &str {
        &self.0[source].input.name
    }

    /// The names of all inputs, for messages.
    pub(super) fn names(&self) -> String {
        self.0.iter().map(|source| source.input.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Where a key stands, with the name of its input. `ends` is that of [`Decoded`].
    pub(super) fn position_of_key(&self, key_type: KeyType, ends: &[usize], index: usize) -> String {
        let source = ends.partition_point(|&end| end <= index);
        let start = source.checked_sub(1).map_or(0, |before| ends[before]);
        let Source { input, format, .. } = &self.0[source];
        format!("{}: {}", input.name, format.position_of_key(key_type, &input.bytes, index - start))
    }
}

/// Why a text with comments is not sorted in place.
pub(super) const LOSES_COMMENTS: &str = "it has comments, which sorting it in place would lose: write to another file, or say --key \
                                         1 to keep its lines as they are";

/// Whether an input is the file that is written.
pub(super) fn is_output(path: &Path, output: Option<&Path>) -> bool {
    let [here, there] = [output, Some(path)].map(|path| path.and_then(|path| path.canonicalize().ok()));
    here.is_some() && here == there
}

/// The format that was asked for, or the one that an input's name speaks of, or its first bytes.
pub(super) fn input_format(path: Option<&Path>, head: &[u8], arguments: &Arguments) -> InputFormat {
    let by_name = || path.and_then(InputFormat::of_name);
    arguments.format.or_else(by_name).unwrap_or_else(|| InputFormat::of_content(head))
}

pub(super) const NO_LINES: &str =
    "--key sorts the lines of a text, and this is none: leave out --key, or say --format text";

impl Source {
    fn new(path: Option<PathBuf>, input: Input, arguments: &Arguments) -> Result<Self, Failure> {
        match input_format(path.as_deref(), &input.bytes, arguments) {
            InputFormat::Keys(_) if arguments.array.is_some() => {
                Err(input
                    .refused("--array chooses from an archive of arrays, and this is none: leave it out"))
            }
            InputFormat::Keys(format) => Ok(Self { path, input, format }),
            InputFormat::Npz => {
                let chosen = arguments.array.as_deref();
                let (array, bytes) = formats::array_of_archive(&input.bytes, chosen)
                    .map_err(|reason| input.refused(reason))?;
                let name = format!("{}: array '{array}'", input.name);
                Ok(Self { path, input: Input { name, bytes }, format: Format::Npy })
            }
        }
    }
}
