//! Keys of files that are read in blocks.

use super::super::formats::text::{self, Comments, Digits, Seen};
use super::super::formats::{ByteOrder, FileKey, Format, InputFormat, Layout, Refusal, decode_into};
use super::super::grouping::Grouping;
use super::super::sources::{LOSES_COMMENTS, is_output};
use super::super::{Times, keys_in_words, output_format, refuse_bytes_on_terminal};
use super::blocks::{Block, Blocks, parts, read_more};
use super::gather::Gathered;
use super::{Arguments, Interrupted, block_length, report, sorter, threads, write};
use crate::failure::{Failure, remark};
use crate::progress::Progress;
use crate::text_position::TextPosition;
use bitonic::external::{Keys, SortedKeys, Summary};
use bitonic::key::KeyType;
use bitonic::with_key_type;
use std::io::{self, Seek, SeekFrom};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// How many bytes of text the bytes of a key become at most, but for floats of many digits.
const TEXT_OF_BYTE: usize = 5;

/// How much memory a block takes with what is made of it: keys, of which each has two bytes of text at least, and later text of as many
/// keys as a block holds.
fn memory_of_block(key_type: KeyType, arguments: &Arguments) -> usize {
    block_length(arguments) * (1 + TEXT_OF_BYTE.max(key_type.bytes() / 2))
}

/// An input and its format.
struct Source<'a> {
    input: &'a Gathered,
    format: Format,
}

/// Sorts the keys of all inputs.
pub(super) fn run(inputs: &[Gathered], started: Instant, arguments: &Arguments) -> Result<(), Failure> {
    let mut sources = Vec::new();
    for input in inputs {
        match input.format(arguments)? {
            InputFormat::Keys(format) => sources.push(Source { input, format }),
            InputFormat::Npz => return Err(input.refused("an archive is read whole: save its array as .npy")),
        }
    }
    let key_type = key_type(&sources, arguments)?;
    run_keys(key_type, &sources, started, arguments)
}

/// The type of all keys: the one asked for or stored, or the one that holds all numbers of a text.
fn key_type(sources: &[Source], arguments: &Arguments) -> Result<KeyType, Failure> {
    let mut known = None;
    for Source { input, format } in sources {
        let key_type = format.key_type_after(known, &input.head()?, arguments.key_type);
        known = key_type.map_err(|reason| input.refused(reason))?;
    }
    match arguments.key_type.or(known) {
        Some(key_type) => Ok(key_type),
        None => infer(sources, arguments),
    }
}

fn infer(sources: &[Source], arguments: &Arguments) -> Result<KeyType, Failure> {
    let mut seen = Seen::default();
    let progress = Progress::bar("finding the type", total(sources)?);
    for (number, source) in sources.iter().enumerate() {
        let (content, _) = source.input.open()?;
        let mut blocks = Blocks::new(content, block_length(arguments), true);
        while let Some(Block { text, origin }) =
            blocks.next_block().map_err(|error| source.input.cannot_read(&error))?
        {
            let words = text::places_of_part(number, text, origin, Comments::LeftOut);
            seen.look_at(words).map_err(|refusal| refused(sources, refusal))?;
            progress.advance(text.len());
        }
    }
    let inferred = seen.inferred().map_err(|refusal| refused(sources, refusal))?;
    if let (Some(Refusal { source, reason }), false) = (inferred.rounded, arguments.exact) {
        remark(&format!("{}: {reason}", sources[source].input.name()));
    }
    Ok(inferred.key_type)
}

fn refused(sources: &[Source], refusal: Refusal) -> Failure {
    sources[refusal.source].input.refused(refusal.reason)
}

/// The number of bytes of all inputs.
fn total(sources: &[Source]) -> Result<usize, Failure> {
    let sizes = sources.iter().map(|source| source.input.open().map(|(_, size)| size));
    Ok(sizes.sum::<Result<u64, Failure>>()? as usize)
}

fn run_keys(
    key_type: KeyType,
    sources: &[Source],
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let input_extension = sources[0].input.path.as_deref().and_then(super::super::formats::extension);
    let format = output_format(arguments, sources[0].format, input_extension)?;
    format.accept(key_type).map_err(Failure::new)?;
    refuse_bytes_on_terminal(format, arguments)?;
    let mut layouts = Vec::new();
    for source in sources {
        layouts.push(source.layout(sources.len())?);
    }
    let sorter =
        sorter(sources.iter().map(|source| source.input), memory_of_block(key_type, arguments), arguments)?;
    let mut keys: Box<dyn Intake> = with_key_type!(key_type, K => Box::new(TypedIntake { keys: sorter.keys::<K>()?, decoded: Vec::new() }));
    let progress = Progress::bar("sorting parts", total(sources)?);
    for (number, source) in sources.iter().enumerate() {
        let pushed = match source.format.is_text() {
            true => source.push_text(number, key_type, &mut *keys, &progress, arguments),
            false => source.push_bytes(number, key_type, &mut *keys, &progress, arguments),
        };
        pushed.map_err(|reason| reason.of(sources))?;
    }
    drop(progress);
    let before = started.elapsed();
    let sorting = Instant::now();
    let mut sorted = keys.sort()?;
    let sorting = sorting.elapsed();
    let len = sorted.summary().items as usize;
    let layout = layouts.swap_remove(0).map_or_else(|| Layout::flat(len), |first| first.flattened(len));
    let writing = Instant::now();
    write(arguments, &mut |out| {
        let progress = Progress::bar("merging", len);
        let mut head = Vec::new();
        format.append_head(key_type, &layout, &mut head)?;
        out.write_all(&head)?;
        let mut write = |bytes: &[u8], keys: usize| {
            progress.advance(keys);
            out.write_all(bytes)
        };
        let encoding =
            Encoding { format, layout: &layout, threads: threads(arguments), bytes: block_length(arguments) };
        while sorted.next_chunk(&encoding, &mut write)? {}
        Ok(())
    })?;
    let what = keys_in_words(key_type, len, Grouping::All, arguments)?;
    let times = Times { before, sorting, writing: writing.elapsed() };
    report(&what, sorted.summary(), times, arguments);
    Ok(())
}

impl Source<'_> {
    /// How the array is stored, if it is one.
    fn layout(&self, inputs: usize) -> Result<Option<Layout>, Failure> {
        let layout = self.format.layout(&self.input.head()?).map_err(|reason| self.input.refused(reason))?;
        if let Some(layout) = &layout
            && layout.shape.0.len() > 1
            && inputs > 1
        {
            return Err(self.input.refused(format_args!(
                "the array has shape {}, and only arrays of one dimension are sorted together: sort it alone",
                layout.shape
            )));
        }
        Grouping::of(None, None, layout.as_ref()).map_err(|reason| self.input.refused(reason))?;
        Ok(layout)
    }

    /// Reads the keys of a text.
    fn push_text(
        &self,
        number: usize,
        key_type: KeyType,
        keys: &mut dyn Intake,
        progress: &Progress,
        arguments: &Arguments,
    ) -> Result<(), NotTaken> {
        let (threads, digits) = (threads(arguments), arguments.digits());
        let has_comments = text::comments(key_type) == Comments::LeftOut;
        let output = arguments.output.as_deref();
        let is_output = self.input.path.as_deref().is_some_and(|path| is_output(path, output));
        let (content, _) = self.input.open()?;
        let mut blocks = Blocks::new(content, block_length(arguments), has_comments);
        while let Some(block) = blocks.next_block().map_err(|error| self.input.cannot_read(&error))? {
            if has_comments && is_output && block.text.contains(&b'#') {
                return Err(self.input.refused(LOSES_COMMENTS).into());
            }
            keys.push_text(number, &parts(&block, threads), digits)?;
            progress.advance(block.text.len());
        }
        Ok(())
    }

    /// Reads keys that are bytes.
    fn push_bytes(
        &self,
        number: usize,
        key_type: KeyType,
        keys: &mut dyn Intake,
        progress: &Progress,
        arguments: &Arguments,
    ) -> Result<(), NotTaken> {
        let Self { input, format } = self;
        let (mut content, length) = input.open()?;
        let (start, order): (u64, ByteOrder) =
            format.stretch(key_type, &input.head()?, length).map_err(|reason| input.refused(reason))?;
        let cannot_read = |error: io::Error| input.cannot_read(&error);
        content.seek(SeekFrom::Start(start)).map_err(cannot_read)?;
        // Of whole keys.
        let block = block_length(arguments).next_multiple_of(size_of::<u128>());
        let mut bytes = Vec::new();
        let mut place = start;
        while place < length {
            bytes.clear();
            read_more(&mut content, block, &mut bytes).map_err(cannot_read)?;
            if !bytes.len().is_multiple_of(key_type.bytes()) || bytes.is_empty() {
                let reason = "it became shorter while it was read: sort it when nobody writes to it";
                return Err(input.refused(reason).into());
            }
            keys.push_bytes(number, &bytes, place, order)?;
            place += bytes.len() as u64;
            progress.advance(bytes.len());
        }
        Ok(())
    }
}

/// Why keys were not taken.
enum NotTaken {
    Refused(Refusal),
    Failed(Failure),
}

impl NotTaken {
    fn of(self, sources: &[Source]) -> Failure {
        match self {
            Self::Refused(refusal) => refused(sources, refusal),
            Self::Failed(failure) => failure,
        }
    }
}

impl From<Refusal> for NotTaken {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<F: Into<Failure>> From<F> for NotTaken {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// Keys of any type on their way in.
trait Intake {
    /// Takes the numbers in parts of a text, each on a thread.
    fn push_text(
        &mut self,
        source: usize,
        parts: &[(&[u8], TextPosition)],
        digits: Digits,
    ) -> Result<(), NotTaken>;

    /// Takes the keys that these bytes are, which begin at a place of their file.
    fn push_bytes(
        &mut self,
        source: usize,
        bytes: &[u8],
        place: u64,
        order: ByteOrder,
    ) -> Result<(), NotTaken>;

    fn sort(self: Box<Self>) -> Result<Box<dyn Outlet>, Failure>;
}

/// Keys of any type in order, on their way out.
trait Outlet {
    /// Hands over the next keys as they stand in a file, and how many they are each time. Tells whether there were any.
    fn next_chunk(
        &mut self,
        encoding: &Encoding,
        take: &mut dyn FnMut(&[u8], usize) -> io::Result<()>,
    ) -> Result<bool, Interrupted>;

    fn summary(&self) -> Summary;
}

/// How keys become bytes of a file.
struct Encoding<'a> {
    format: Format,
    layout: &'a Layout,
    threads: usize,
    /// How many bytes of keys at a time, on all threads.
    bytes: usize,
}

struct TypedIntake<K: FileKey> {
    keys: Keys<K>,
    /// What every thread reads: memory that is used again.
    decoded: Vec<Vec<K>>,
}

struct TypedOutlet<K: FileKey> {
    keys: SortedKeys<K>,
    /// What every thread writes: memory that is used again.
    encoded: Vec<Vec<u8>>,
}

impl<K: FileKey> Intake for TypedIntake<K> {
    fn push_text(
        &mut self,
        source: usize,
        parts: &[(&[u8], TextPosition)],
        digits: Digits,
    ) -> Result<(), NotTaken> {
        let decode = |&(part, origin): &(&[u8], TextPosition), decoded: &mut Vec<K>| -> Result<(), Refusal> {
            // A word and the space before it take two bytes at least.
            if decoded.try_reserve_exact(part.len() / 2 + 1).is_err() {
                let reason = "no memory to read it: allow less with --memory".to_owned();
                return Err(Refusal { source, reason });
            }
            let words = text::places_of_part(source, part, origin, K::COMMENTS);
            text::decode_into(words, digits, decoded)
        };
        for (read, decoded) in on_threads(parts, &mut self.decoded, &decode).into_iter().zip(&self.decoded) {
            read?;
            self.keys.push(decoded)?;
        }
        Ok(())
    }

    fn push_bytes(
        &mut self,
        source: usize,
        bytes: &[u8],
        place: u64,
        order: ByteOrder,
    ) -> Result<(), NotTaken> {
        self.decoded.resize_with(self.decoded.len().max(1), Vec::new);
        let decoded = &mut self.decoded[0];
        decoded.clear();
        decode_into(bytes, place, order, decoded).map_err(|reason| Refusal { source, reason })?;
        Ok(self.keys.push(decoded)?)
    }

    fn sort(self: Box<Self>) -> Result<Box<dyn Outlet>, Failure> {
        Ok(Box::new(TypedOutlet { keys: self.keys.sort()?, encoded: Vec::new() }))
    }
}

impl<K: FileKey> Outlet for TypedOutlet<K> {
    fn next_chunk(
        &mut self,
        &Encoding { format, layout, threads, bytes }: &Encoding,
        take: &mut dyn FnMut(&[u8], usize) -> io::Result<()>,
    ) -> Result<bool, Interrupted> {
        let Some(chunk) = self.keys.next_chunk()? else { return Ok(false) };
        for some in chunk.chunks(bytes / size_of::<K>()) {
            let shares: Vec<&[K]> = some.chunks(some.len().div_ceil(threads)).collect();
            let encode = |keys: &&[K], encoded: &mut Vec<u8>| format.append_keys(keys, layout, encoded);
            on_threads(&shares, &mut self.encoded, &encode);
            for (keys, encoded) in shares.iter().zip(&self.encoded) {
                take(encoded, keys.len())?;
            }
        }
        Ok(true)
    }

    fn summary(&self) -> Summary {
        self.keys.summary()
    }
}

/// Does the work for every part with an empty vector for what is made of it, each on a thread, the first on this one. The vectors keep
/// their memory from one call to the next.
fn on_threads<P: Sync, T: Send, R: Send + Sync>(
    parts: &[P],
    vectors: &mut Vec<Vec<T>>,
    work: &(impl Fn(&P, &mut Vec<T>) -> R + Sync),
) -> Vec<R> {
    vectors.resize_with(vectors.len().max(parts.len()), Vec::new);
    let vectors: Vec<Mutex<&mut Vec<T>>> = vectors.iter_mut().map(Mutex::new).collect();
    let results: Vec<OnceLock<R>> = parts.iter().map(|_| OnceLock::new()).collect();
    each_on_threads(parts.len(), &|number| {
        let mut vector = vectors[number].lock().unwrap_or_else(PoisonError::into_inner);
        vector.clear();
        results[number].get_or_init(|| work(&parts[number], &mut vector));
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// The same for numbers from 0 on, whatever the work is.
fn each_on_threads(count: usize, work: &(dyn Fn(usize) + Sync)) {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|number| scope.spawn(move || work(number))).collect();
        if count > 0 {
            work(0);
        }
        for other in others {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}
