//! Sorts a file of `u64` keys that may be larger than memory: `external INPUT OUTPUT BYTES_OF_MEMORY`.
//!
//! The temporary file lies in the folder of the output.

use bitonic::external::Sorter;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output, memory] = arguments.as_slice() else {
        return Err("say external INPUT OUTPUT BYTES_OF_MEMORY".into());
    };
    let folder = match Path::new(output).parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut keys = Sorter::new().memory(memory.parse()?).temp(folder).keys::<u64>()?;
    let file = File::open(input)?;
    let mut bytes = Vec::new();
    while (&file).take(4 << 20).read_to_end(&mut bytes)? > 0 {
        let (whole, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(format!("{input} is no whole number of keys of 8 bytes").into());
        }
        let block: Vec<u64> = whole.iter().map(|&key| u64::from_le_bytes(key)).collect();
        keys.push(&block)?;
        bytes.clear();
    }
    let mut sorted = keys.sort()?;
    let mut file = File::create(output)?;
    while let Some(chunk) = sorted.next_chunk()? {
        let bytes: Vec<[u8; 8]> = chunk.iter().map(|key| key.to_le_bytes()).collect();
        file.write_all(bytes.as_flattened())?;
    }
    file.sync_all()?;
    println!("{:?}", sorted.summary());
    Ok(())
}
