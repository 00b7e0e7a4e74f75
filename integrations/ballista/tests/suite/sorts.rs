//! Sorted files against DataFusion's own sort on one machine.

use crate::tables::{Keys, assert_sorted, folder, read_parts, start, write};
use bitonic_ballista::{Sort, sort};

#[tokio::test]
async fn three_executors_sort_as_one_machine_does() {
    let cluster = start("sorts", 3);
    let cases = [
        (Keys::Random, 200_000, "k"),
        (Keys::Random, 200_000, "k desc nulls last, id"),
        (Keys::Few, 100_000, "k nulls first, f desc, b"),
        (Keys::Few, 100_000, "f, k desc"),
        (Keys::Few, 100_000, "s desc, k"),
        (Keys::Hot, 100_000, "k desc"),
        (Keys::Sorted, 100_000, "k desc"),
        (Keys::Equal, 50_000, "k"),
        (Keys::Null, 50_000, "k nulls first"),
        (Keys::Random, 1, "k"),
        (Keys::Random, 0, "k"),
    ];
    for (number, (keys, rows, order)) in cases.into_iter().enumerate() {
        let (input, output) = (folder(&format!("sorts-in-{number}")), folder(&format!("sorts-out-{number}")));
        write(&input, rows, 5, keys);
        let task = Sort {
            rows_per_range: 10_000,
            bytes_per_task: 1 << 20,
            sample_per_range: 100,
            ..Sort::new(cluster.address(), vec![input.clone()], order, &output)
        };
        let outcome = match sort(&task).await {
            Ok(outcome) => outcome,
            Err(error) => panic!("{keys:?}, order by {order}: {error}\n{}", cluster.messages()),
        };
        assert_eq!(outcome.rows(), rows as u64);
        match keys {
            Keys::Random | Keys::Sorted if rows > 1 => {
                assert_eq!(outcome.parts.len(), rows.div_ceil(10_000), "{keys:?}, order by {order}");
                // A range of 100 sampled keys is seldom off by more than 5 standard deviations of 10 %.
                let longest = outcome.parts.iter().map(|part| part.rows).max().unwrap();
                assert!(longest < 15_000, "the longest range has {longest} rows");
            }
            Keys::Equal | Keys::Null => assert_eq!(outcome.parts.len(), 1),
            _ => {}
        }
        assert_sorted(&input, order, &read_parts(&output).unwrap()).await;
        std::fs::remove_dir_all(input).unwrap();
        std::fs::remove_dir_all(output).unwrap();
    }
}
