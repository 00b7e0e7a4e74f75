//! Inputs that are larger than the memory that may be taken.

use super::{npy, refused, sort, sorted};
use crate::{Folder, printed};
use std::fmt::Write;

/// So little that every input here is sorted in parts.
const MEMORY: &str = "1M";

/// Numbers that look random and are the same in every run.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|index| index.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31))
}

fn lines(keys: impl Iterator<Item = i64>) -> String {
    keys.fold(String::new(), |mut text, key| {
        writeln!(text, "{key}").unwrap();
        text
    })
}

#[test]
fn numbers_as_text_come_out_as_from_memory() {
    let folder = Folder::new();
    let keys: Vec<i64> = numbers(400_000).map(|bits| bits as i64).collect();
    // Longer than a block, with comments, and with several numbers on a line.
    let text = lines(keys.iter().copied()).replace("7\n", "7 # seven\n").replace("3\n", "3\t");
    let input = folder.file("keys.txt", format!("# all numbers\n{text}"));
    let mut expected = keys.clone();
    expected.sort_unstable();
    let output = folder.argument("out.txt");
    let said = sort([&input, "--memory", MEMORY, "-o", &output, "--report"]).assert().success();
    let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
    assert!(said.contains("400000 i64 keys, ascending") && said.contains(" runs, 3200000 bytes"), "{said}");
    assert!(folder.read("out.txt") == lines(expected.iter().copied()).as_bytes());
    assert_eq!(folder.names(), ["keys.txt", "out.txt"]);
    // From a stream, the other way.
    expected.reverse();
    assert!(sorted(["--memory", MEMORY, "-r"], &text) == lines(expected.iter().copied()));
    // Two files.
    let [one, other] =
        [("one.txt", "1\n2\n"), ("other.txt", "0\n")].map(|(name, text)| folder.file(name, text));
    let all = printed(sort([&input, &one, &other, "--memory", MEMORY]));
    assert_eq!(all.lines().count(), 400_003);
    assert!(all.contains("\n0\n1\n2\n"));
}

#[test]
fn the_type_is_that_of_all_numbers_and_mistakes_name_their_line() {
    let many = lines(numbers(600_000).map(|bits| (bits >> 40) as i64));
    assert!(many.len() > 4 << 20, "shorter than a block");
    let floats = sorted(["--memory", MEMORY], &format!("{many}-0.5\n"));
    assert!(floats.starts_with("-0.5\n0\n"), "{}", &floats[..20]);
    assert_eq!(
        refused(["--memory", MEMORY], format!("{many}12 x\n")),
        "standard input: line 600001, column 4: 'x' is no number: write numbers with white space between them"
    );
    assert_eq!(
        refused(["--memory", MEMORY, "--type", "u32"], format!("{many}\n -1")),
        "standard input: line 600002, column 2: '-1' does not fit u32, whole numbers from 0 to 4294967295: choose another --type"
    );
    assert!(
        refused(["--memory", MEMORY], format!("{many}true"))
            .contains("line 600001, column 1: 'true' stands among")
    );
    let folder = Folder::new();
    let file = folder.file("keys.txt", format!("{many}# the end\n"));
    let in_place = crate::refused(sort([&file, "--memory", MEMORY, "-o", &file]));
    assert!(in_place.contains("it has comments, which sorting it in place would lose"), "{in_place}");
}

#[test]
fn raw_keys_and_arrays_come_out_as_from_memory() {
    let folder = Folder::new();
    let mut keys: Vec<f32> = numbers(500_000).map(|bits| f32::from_bits(bits as u32)).collect();
    let bytes =
        |keys: &[f32], of: fn(f32) -> [u8; 4]| keys.iter().flat_map(|&key| of(key)).collect::<Vec<u8>>();
    let raw = folder.file("keys.bin", bytes(&keys, f32::to_le_bytes));
    let array = folder.file("keys.npy", npy(">f4", "(500000,)", &bytes(&keys, f32::to_be_bytes)));
    keys.sort_by(f32::total_cmp);
    for (input, name) in [(raw, "out.bin"), (array, "out.npy")] {
        let output = folder.argument(name);
        printed(sort([
            &input,
            "--memory",
            MEMORY,
            "--type",
            "f32",
            "--temp",
            folder.argument("").as_str(),
            "-o",
            &output,
        ]));
    }
    assert!(folder.read("out.bin") == bytes(&keys, f32::to_le_bytes));
    assert!(folder.read("out.npy") == npy(">f4", "(500000,)", &bytes(&keys, f32::to_be_bytes)));
    assert_eq!(folder.names(), ["keys.bin", "keys.npy", "out.bin", "out.npy"]);

    let cut = folder.file("cut.bin", vec![0; 2_000_001]);
    let reason = crate::refused(sort([&cut, "--memory", MEMORY, "--type", "u32"]));
    assert!(
        reason.contains("2000001 bytes are no whole number of u32 keys of 4 bytes, 1 too many"),
        "{reason}"
    );
    let short = folder.file("short.npy", npy("<u8", "(300000,)", &vec![0; 2_399_992]));
    let reason = crate::refused(sort([&short, "--memory", MEMORY]));
    assert!(reason.contains("2400000 bytes in all, but 2399992 follow it"), "{reason}");
    let matrix = folder.file("matrix.npy", npy("<u8", "(300, 1000)", &vec![0; 2_400_000]));
    assert!(
        crate::refused(sort([&matrix, "--memory", MEMORY]))
            .contains("the array has shape (300, 1000): say --rows")
    );
}

#[test]
fn lines_of_a_table_come_out_as_from_memory() {
    let folder = Folder::new();
    let mut table = String::from("# prices\nname,price\n");
    for (number, bits) in numbers(200_000).enumerate() {
        // Few prices, so that many lines are equal; now and then a comment.
        if bits % 1000 == 0 {
            writeln!(table, "# about item {number}\n").unwrap();
        }
        writeln!(table, "item {number},{}.5", bits % 5000).unwrap();
    }
    assert!(table.len() > 3 << 20, "shorter than a block");
    table.push_str("# the end\n");
    let input = folder.file("prices.csv", &table);
    let more = folder.file("more.csv", "name,price\nlast,99999\nfirst,-1");
    for order in [&[][..], &["--reverse"]] {
        let run = |memory: &str| {
            let mut command = sort([&input, &more, "--key", "price", "--memory", memory]);
            command.args(order);
            printed(command)
        };
        assert!(run(MEMORY) == run("4G"), "{order:?}");
    }
    assert_eq!(
        refused(["--key", "2", "--header", "--memory", MEMORY], format!("{table}x,?\n")),
        format!(
            "standard input: line {}, column 3: '?' is no number: write numbers with white space between them",
            table.lines().count() + 1
        )
    );
    let short = refused(["--key", "2", "--header", "--memory", MEMORY], format!("{table}x\n"));
    assert!(
        short.contains(&format!(
            "line {}, column 1: the line has 1 of the columns",
            table.lines().count() + 1
        )),
        "{short}"
    );
}

/// Records as the field's oldest benchmark has them: 10 bytes of random key, the number of the record, filler.
fn records(count: u64) -> Vec<u8> {
    let mut records = Vec::new();
    for (number, bits) in numbers(count).enumerate() {
        records.extend_from_slice(&bits.to_be_bytes());
        records.extend_from_slice(&(bits as u16 ^ 0x5555).to_be_bytes());
        records.extend_from_slice(format!("{number:032X}").as_bytes());
        records.resize(records.len() + 58, b'A' + (number % 26) as u8);
    }
    records
}

/// What is checked of sorted records: their order, their number, a sum over all of them that no order changes, and how many keys
/// repeat.
fn check(records: &[u8]) -> Result<(usize, u64, usize), String> {
    let all: Vec<&[u8]> = records.chunks(100).collect();
    if let Some(place) = all.windows(2).position(|pair| pair[0][..10] > pair[1][..10]) {
        return Err(format!("record {} is out of order", place + 1));
    }
    let sum = |record: &&[u8]| {
        record
            .iter()
            .fold(7_u64, |hash, &byte| hash.wrapping_mul(1_099_511_628_211).wrapping_add(byte.into()))
    };
    let repeated = all.windows(2).filter(|pair| pair[0][..10] == pair[1][..10]).count();
    Ok((all.len(), all.iter().map(sum).fold(0, u64::wrapping_add), repeated))
}

#[test]
fn records_are_sorted_by_their_first_ten_bytes() {
    let folder = Folder::new();
    let mut all = records(30_000);
    // Some records with the same key.
    all.copy_within(0..10, 1_000_000);
    let input = folder.file("records", &all);
    assert!(check(&all).is_err());
    let mut expected: Vec<&[u8]> = all.chunks(100).collect();
    expected.sort_by_key(|record| &record[..10]);
    for memory in [MEMORY, "1G"] {
        let output = folder.argument("sorted");
        printed(sort([&input, "--record", "100", "--key", "0:bytes10", "--memory", memory, "-o", &output]));
        let result = folder.read("sorted");
        assert_eq!(check(&result), check(&expected.concat()), "{memory}");
        assert!(result == expected.concat(), "{memory}: equal keys are not in their order");
    }
    let by_number = |key: &str| {
        let output = folder.argument("sorted");
        printed(sort([&input, "--record", "100", "--key", key, "--memory", MEMORY, "-o", &output]));
        folder.read("sorted")
    };
    expected = all.chunks(100).collect();
    expected.sort_by_key(|record| u64::from_be_bytes(record[..8].try_into().unwrap()));
    assert!(by_number("0:u64be") == expected.concat());
    expected = all.chunks(100).collect();
    expected.sort_by_key(|record| i32::from_le_bytes(record[3..7].try_into().unwrap()));
    assert!(by_number("3:i32") == expected.concat());
}

#[test]
fn what_cannot_be_sorted_in_parts_says_why() {
    let folder = Folder::new();
    let file = folder.file("keys.bin", vec![0; 3_000_000]);
    let raw = |more: &[&str]| {
        let mut command = sort([&file, "--memory", MEMORY]);
        command.args(more);
        crate::refused(command)
    };
    let reason = raw(&["--type", "u32", "--temp", "/nonexistent"]);
    assert_eq!(
        reason,
        "cannot make a temporary file in /nonexistent: No such file or directory (os error 2): choose another folder with --temp"
    );
    let reason = raw(&["--type", "u32", "--oblivious"]);
    assert!(reason.ends_with("leave out --oblivious, or allow more with --memory"), "{reason}");
    assert!(raw(&["--type", "u32", "--rows", "4"]).contains("--rows"));
    let record = |size: &str, key: &str| {
        let mut command = sort([&file, "--record", size, "--key", key]);
        command.args(["-o", &folder.argument("out")]);
        crate::refused(command)
    };
    assert!(
        record("7", "0:u32").contains("3000000 bytes are no whole number of records of 7 bytes, 3 too many")
    );
    assert!(record("8", "6:u32").contains("a key of 4 bytes at offset 6 is not within a record of 8 bytes"));
    assert!(record("8", "0:u33").contains("unknown type 'u33' of a key: write an offset and a type"));
    assert!(record("8", "2").contains("'2' does not say where the key of a record is"));
    assert!(refused(["--record", "8"], "").contains("--key"));
    let little = refused(["--memory", "1000", "--type", "u8", "--format", "raw"], vec![0; 100_000]);
    assert!(little.ends_with("with 500 bytes of memory: allow more with --memory"), "{little}");
    assert_eq!(folder.names(), ["keys.bin"]);
}
