//! Keys of files that are read in blocks.

use super::super::formats::text::{self, Comments, Digits, Seen};
use super::super::formats::{
    ByteOrder, FileKey, Format, InputFormat, KEYS_PER_WRITE, Layout, Refusal, decode_into,
};
use super::super::grouping::Grouping;
use super::super::sources::{LOSES_COMMENTS, is_output};
use super::super::{Times, keys_in_words, output_format, refuse_bytes_on_terminal};
use super::blocks::{Block, Blocks, parts};
use super::gather::Gathered;
use super::{Arguments, Interrupted, report, sorter, threads, write};
use crate::failure::{Failure, remark};
use crate::progress::Progress;
use crate::text_position::TextPosition;
use bitonic::external::{Keys, SortedKeys, Summary};
use bitonic::key::KeyType;
use bitonic::with_key_type;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::OnceLock;
use std::time::Instant;

/// How many bytes are read at a time.
const BLOCK: usize = 4 << 20;

/// An input and its format.
struct Source<'a> {
    input: &'a Gathered,
    format: Format,
    head: Vec<u8>,
}

/// Sorts the keys of all inputs.
pub(super) fn run(inputs: &[Gathered], started: Instant, arguments: &Arguments) -> Result<(), Failure> {
    let mut sources = Vec::new();
    for input in inputs {
        match input.format(arguments)? {
            InputFormat::Keys(format) => sources.push(Source { input, format, head: input.head()? }),
            InputFormat::Npz => return Err(input.refused("an archive is read whole: save its array as .npy")),
        }
    }
    let key_type = key_type(&sources, arguments)?;
    run_keys(key_type, &sources, started, arguments)
}

/// The type of all keys: the one asked for or stored, or the one that holds all numbers of a text.
fn key_type(sources: &[Source], arguments: &Arguments) -> Result<KeyType, Failure> {
    let mut known = None;
    for Source { input, format, head } in sources {
        known =
            format.key_type_after(known, head, arguments.key_type).map_err(|reason| input.refused(reason))?;
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
        let mut blocks = Blocks::new(content, BLOCK, true);
        while let Some(Block { text, origin }) =
            blocks.next_block().map_err(|error| source.input.cannot_read(&error))?
        {
            let words = text::places_of_part(number, &text, origin, Comments::LeftOut);
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
    let sorter = sorter(arguments)?;
    let mut keys: Box<dyn Intake> = with_key_type!(key_type, K => Box::new(TypedIntake { keys: sorter.keys::<K>()?, decoded: Vec::new() }));
    let progress = Progress::bar("sorting parts", total(sources)?);
    for (number, source) in sources.iter().enumerate() {
        let pushed = match source.format.is_text() {
            true => source.push_text(number, key_type, &mut *keys, &progress, arguments),
            false => source.push_bytes(number, key_type, &mut *keys, &progress),
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
        while sorted.next_chunk(format, &layout, threads(arguments), &mut write)? {}
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
        let layout = self.format.layout(&self.head).map_err(|reason| self.input.refused(reason))?;
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
        let mut blocks = Blocks::new(content, BLOCK, has_comments);
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
    ) -> Result<(), NotTaken> {
        let Self { input, format, head } = self;
        let (mut content, length) = input.open()?;
        let (start, order): (u64, ByteOrder) =
            format.stretch(key_type, head, length).map_err(|reason| input.refused(reason))?;
        let cannot_read = |error: io::Error| input.cannot_read(&error);
        content.seek(SeekFrom::Start(start)).map_err(cannot_read)?;
        let mut bytes = Vec::with_capacity(BLOCK);
        let mut place = start;
        while place < length {
            bytes.clear();
            content.by_ref().take(BLOCK as u64).read_to_end(&mut bytes).map_err(cannot_read)?;
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
        format: Format,
        layout: &Layout,
        threads: usize,
        take: &mut dyn FnMut(&[u8], usize) -> io::Result<()>,
    ) -> Result<bool, Interrupted>;

    fn summary(&self) -> Summary;
}

struct TypedIntake<K: FileKey> {
    keys: Keys<K>,
    /// Memory that is used again.
    decoded: Vec<K>,
}

impl<K: FileKey> Intake for TypedIntake<K> {
    fn push_text(
        &mut self,
        source: usize,
        parts: &[(&[u8], TextPosition)],
        digits: Digits,
    ) -> Result<(), NotTaken> {
        let decode = |&(part, origin): &(&[u8], TextPosition)| -> Result<Vec<K>, Refusal> {
            let mut decoded = Vec::new();
            // A word and the space before it take two bytes at least.
            if decoded.try_reserve_exact(part.len() / 2 + 1).is_err() {
                let reason = "no memory to read it: allow less with --memory".to_owned();
                return Err(Refusal { source, reason });
            }
            let words = text::places_of_part(source, part, origin, K::COMMENTS);
            text::decode_into(words, digits, &mut decoded)?;
            Ok(decoded)
        };
        for decoded in on_threads(parts, &decode) {
            self.keys.push(&decoded?)?;
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
        self.decoded.clear();
        decode_into(bytes, place, order, &mut self.decoded).map_err(|reason| Refusal { source, reason })?;
        Ok(self.keys.push(&self.decoded)?)
    }

    fn sort(self: Box<Self>) -> Result<Box<dyn Outlet>, Failure> {
        Ok(Box::new(self.keys.sort()?))
    }
}

impl<K: FileKey> Outlet for SortedKeys<K> {
    fn next_chunk(
        &mut self,
        format: Format,
        layout: &Layout,
        threads: usize,
        take: &mut dyn FnMut(&[u8], usize) -> io::Result<()>,
    ) -> Result<bool, Interrupted> {
        let Some(chunk) = Self::next_chunk(self)? else { return Ok(false) };
        // A few writes for each thread's share, so that sharing costs little beside them.
        for some in chunk.chunks(4 * threads * KEYS_PER_WRITE) {
            let encode = |keys: &&[K]| {
                let mut bytes = Vec::new();
                format.append_keys(keys, layout, &mut bytes);
                (bytes, keys.len())
            };
            let shares: Vec<&[K]> = some.chunks(some.len().div_ceil(threads)).collect();
            for (bytes, keys) in on_threads(&shares, &encode) {
                take(&bytes, keys)?;
            }
        }
        Ok(true)
    }

    fn summary(&self) -> Summary {
        Self::summary(self)
    }
}

/// Does the work for every part, each on a thread, the first on this one.
fn on_threads<P: Send + Sync, R: Send + Sync>(parts: &[P], work: &(impl Fn(&P) -> R + Sync)) -> Vec<R> {
    let results: Vec<OnceLock<R>> = parts.iter().map(|_| OnceLock::new()).collect();
    each_on_threads(parts.len(), &|number| {
        results[number].get_or_init(|| work(&parts[number]));
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
