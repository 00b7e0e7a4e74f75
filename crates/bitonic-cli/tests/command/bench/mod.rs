//! `bitonic bench`.

mod cuda;
mod opencl;
#[cfg(unix)]
mod peers;

/// `bitonic bench gpu` on OpenCL with the words of this line.
fn gpu(line: &str) -> assert_cmd::Command {
    crate::bitonic(["bench", "gpu", "--engine", "opencl"].into_iter().chain(line.split(' ')))
}

fn printed(line: &str) -> String {
    crate::printed(gpu(line))
}

fn refused(line: &str) -> String {
    crate::refused(gpu(line))
}

/// The rows of the first table, without its heading: every cell of each.
fn rows(printed: &str) -> Vec<Vec<&str>> {
    let table = printed.split("\n\n").nth(1).expect("heading, table and key stand apart");
    table.lines().skip(1).map(cells).collect()
}

/// The same but for the copy's, which every job has.
fn rows_of_sorts(printed: &str) -> Vec<Vec<&str>> {
    rows(printed).into_iter().filter(|row| !row.contains(&"copy")).collect()
}

/// What stands in a row, between spaces.
fn cells(row: &str) -> Vec<&str> {
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
