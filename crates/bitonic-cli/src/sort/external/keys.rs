//! Keys of files that are read in blocks.

use super::super::formats::text::{self, Comments, Seen};
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
use bitonic::external::{Keys, SortedKeys};
use bitonic::key::KeyType;
use std::io::{self, Read, Seek, SeekFrom, Write};
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
    bitonic::with_key_type!(key_type, K => run_keys::<K>(&sources, started, arguments))
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
        source.for_each_block(true, &progress, &mut |Block { text, origin }| {
            let words = text::places_of_part(number, &text, origin, Comments::LeftOut);
            seen.look_at(words).map_err(|refusal| refused(sources, refusal))
        })?;
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

fn run_keys<K: FileKey>(sources: &[Source], started: Instant, arguments: &Arguments) -> Result<(), Failure> {
    let input_extension = sources[0].input.path.as_deref().and_then(super::super::formats::extension);
    let format = output_format(arguments, sources[0].format, input_extension)?;
    format.accept(K::TYPE).map_err(Failure::new)?;
    refuse_bytes_on_terminal(format, arguments)?;
    let mut layouts = Vec::new();
    for source in sources {
        layouts.push(source.layout(sources.len())?);
    }
    let mut keys = sorter(arguments)?.keys::<K>()?;
    let progress = Progress::bar("sorting parts", total(sources)?);
    for (number, source) in sources.iter().enumerate() {
        source.push(number, sources, &mut keys, &progress, arguments)?;
    }
    drop(progress);
    let before = started.elapsed();
    let sorting = Instant::now();
    let mut sorted = keys.sort()?;
    let sorting = sorting.elapsed();
    let len = sorted.summary().items as usize;
    let layout = layouts.swap_remove(0).map_or_else(|| Layout::flat(len), |first| first.flattened(len));
    let writing = Instant::now();
    write(arguments, &mut |out| encode(format, &layout, &mut sorted, len, out, threads(arguments)))?;
    let what = keys_in_words(K::TYPE, len, Grouping::All, arguments)?;
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

    /// Hands over a text block by block.
    fn for_each_block(
        &self,
        has_comments: bool,
        progress: &Progress,
        take: &mut dyn FnMut(Block) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (content, _) = self.input.open()?;
        let mut blocks = Blocks::new(content, BLOCK, has_comments);
        while let Some(block) = blocks.next_block().map_err(|error| self.input.cannot_read(&error))? {
            let length = block.text.len();
            take(block)?;
            progress.advance(length);
        }
        Ok(())
    }

    /// Reads all keys.
    fn push<K: FileKey>(
        &self,
        number: usize,
        sources: &[Source],
        keys: &mut Keys<K>,
        progress: &Progress,
        arguments: &Arguments,
    ) -> Result<(), Failure> {
        if !self.format.is_text() {
            return self.push_bytes(keys, progress);
        }
        let threads = threads(arguments);
        let has_comments = K::COMMENTS == Comments::LeftOut;
        let output = arguments.output.as_deref();
        let is_output = self.input.path.as_deref().is_some_and(|path| is_output(path, output));
        self.for_each_block(has_comments, progress, &mut |block| {
            if has_comments && is_output && block.text.contains(&b'#') {
                return Err(self.input.refused(LOSES_COMMENTS));
            }
            let decode = |&(part, origin): &(&[u8], TextPosition)| -> Result<Vec<K>, Refusal> {
                let mut decoded = Vec::new();
                // A word and the space before it take two bytes at least.
                if decoded.try_reserve_exact(part.len() / 2 + 1).is_err() {
                    let reason = "no memory to read it: allow less with --memory".to_owned();
                    return Err(Refusal { source: number, reason });
                }
                let words = text::places_of_part(number, part, origin, K::COMMENTS);
                text::decode_into(words, arguments.digits(), &mut decoded)?;
                Ok(decoded)
            };
            for decoded in on_threads(&parts(&block, threads), &decode) {
                keys.push(&decoded.map_err(|refusal| refused(sources, refusal))?)?;
            }
            Ok(())
        })
    }

    fn push_bytes<K: FileKey>(&self, keys: &mut Keys<K>, progress: &Progress) -> Result<(), Failure> {
        let Self { input, format, head } = self;
        let (mut content, length) = input.open()?;
        let (start, order): (u64, ByteOrder) =
            format.stretch(K::TYPE, head, length).map_err(|reason| input.refused(reason))?;
        let cannot_read = |error: io::Error| input.cannot_read(&error);
        content.seek(SeekFrom::Start(start)).map_err(cannot_read)?;
        let (mut bytes, mut decoded) =
            (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK / size_of::<K>()));
        let mut place = start;
        while place < length {
            bytes.clear();
            decoded.clear();
            content.by_ref().take(BLOCK as u64).read_to_end(&mut bytes).map_err(cannot_read)?;
            if !bytes.len().is_multiple_of(size_of::<K>()) || bytes.is_empty() {
                return Err(
                    input.refused("it became shorter while it was read: sort it when nobody writes to it")
                );
            }
            decode_into(&bytes, place, order, &mut decoded).map_err(|reason| input.refused(reason))?;
            keys.push(&decoded)?;
            place += bytes.len() as u64;
            progress.advance(bytes.len());
        }
        Ok(())
    }
}

/// Writes sorted keys as they come.
fn encode<K: FileKey>(
    format: Format,
    layout: &Layout,
    sorted: &mut SortedKeys<K>,
    len: usize,
    out: &mut dyn Write,
    threads: usize,
) -> Result<(), Interrupted> {
    let progress = Progress::bar("merging", len);
    let mut head = Vec::new();
    format.append_head(K::TYPE, layout, &mut head)?;
    out.write_all(&head)?;
    while let Some(chunk) = sorted.next_chunk()? {
        // A few writes for each thread's share, so that sharing costs little beside them.
        for some in chunk.chunks(4 * threads * KEYS_PER_WRITE) {
            let encode = |keys: &&[K]| {
                let mut bytes = Vec::new();
                format.append_keys(keys, layout, &mut bytes);
                bytes
            };
            let shares: Vec<&[K]> = some.chunks(some.len().div_ceil(threads)).collect();
            for bytes in on_threads(&shares, &encode) {
                out.write_all(&bytes)?;
            }
            progress.advance(some.len());
        }
    }
    Ok(())
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
