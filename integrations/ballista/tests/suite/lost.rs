//! Executors that are killed in the middle of a sort: the right result, or an error. Never a wrong or partial success.

use crate::cluster::bytes_in;
use crate::tables::{Keys, assert_sorted, folder, read_parts, start, write};
use bitonic_ballista::{Outcome, Sort, SortError, sort};
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinHandle;

const ROWS: usize = 2_000_000;

fn begin(address: String, input: &Path, output: &Path) -> JoinHandle<Result<Outcome, SortError>> {
    let task = Sort {
        rows_per_range: 50_000,
        bytes_per_task: 2 << 20,
        ..Sort::new(address, vec![input.to_path_buf()], "k desc, f", output)
    };
    tokio::spawn(async move { sort(&task).await })
}

/// Waits until something holds, and fails if the job ends before it does.
async fn until<T>(job: &JoinHandle<T>, what: &str, holds: impl Fn() -> bool) {
    while !holds() {
        assert!(!job.is_finished(), "the job ended before {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(!job.is_finished(), "the job ended before an executor could be killed");
}

async fn end(job: JoinHandle<Result<Outcome, SortError>>) -> Result<Outcome, SortError> {
    let limit = Duration::from_secs(240);
    tokio::time::timeout(limit, job).await.expect("the job ends in 240 s").expect("the client does not panic")
}

/// The one thing that must hold: a success is right, and whatever else is no success.
async fn assert_honest(result: &Result<Outcome, SortError>, input: &Path, output: &Path) {
    match result {
        Ok(outcome) => {
            assert_eq!(outcome.rows(), ROWS as u64);
            assert_sorted(input, "k desc, f", &read_parts(output).unwrap()).await;
        }
        Err(error) => {
            assert!(read_parts(output).is_none(), "an error and a success: {error}");
            assert!(matches!(error, SortError::Cluster(_)), "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_three_is_lost() {
    let input = folder("lost-in");
    write(&input, ROWS, 6, Keys::Random);
    // While data is shuffled, and while files are written.
    for writing in [false, true] {
        let mut cluster = start(&format!("lost-{writing}"), 3);
        let output = folder(&format!("lost-out-{writing}"));
        let job = begin(cluster.address(), &input, &output);
        if writing {
            until(&job, "a part was written", || bytes_in(&output) > 0).await;
        } else {
            // More than the sample.
            let folder = cluster.executor_folder(1);
            until(&job, "anything was shuffled", || bytes_in(&folder) > 4 << 20).await;
        }
        cluster.kill(1);
        let result = end(job).await;
        println!("executor lost while {}: {result:?}", if writing { "writing" } else { "shuffling" });
        assert_honest(&result, &input, &output).await;
        // Ballista repeats what was lost, so that two executors are enough. Only if the job is done before the loss is noticed, the
        // client cannot fetch what the lost executor had to tell, and says so.
        assert!(writing || result.is_ok(), "{}", cluster.messages());
        std::fs::remove_dir_all(output).unwrap();
    }
    std::fs::remove_dir_all(input).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_are_lost() {
    let (input, output) = (folder("all-lost-in"), folder("all-lost-out"));
    write(&input, ROWS, 6, Keys::Random);
    let mut cluster = start("all-lost", 1);
    let job = begin(cluster.address(), &input, &output);
    until(&job, "a part was written", || bytes_in(&output) > 0).await;
    cluster.kill(0);
    let result = end(job).await;
    assert!(result.is_err());
    assert_honest(&result, &input, &output).await;
    std::fs::remove_dir_all(input).unwrap();
    std::fs::remove_dir_all(output).unwrap();
}
