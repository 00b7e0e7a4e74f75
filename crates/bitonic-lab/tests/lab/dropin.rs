//! The research application's configuration, as it is.

use crate::silent::Silent;
use bitonic_lab::experiment::ini;
use bitonic_lab::measure::{LabError, run};

/// The published example, and the same with the processor's sorts; sizes that are no powers of two among them.
const PUBLISHED: &str = "measure_cpu=0\nmeasure_gpu=1\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n\n\
                         random_instance=50000 10\nrandom_instance=10000000 56\nrandom_instance=199 56\n\n\
                         predefined_instance=4 -1 88 2 9 4 105 1 34\n";

const HEADING: &str = "instance size;mean bitonic sort (CPU);mean bitonic sort (GPU);mean odd-even sort (CPU);\
                       mean odd-event sort (GPU)";

/// Every field of a line of `result.csv`.
fn times(line: &str) -> Vec<Option<f64>> {
    line.split(';').map(|field| (!field.is_empty()).then(|| field.parse().unwrap())).collect()
}

#[test]
fn the_published_example_runs_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut experiment =
        ini::read(PUBLISHED, "configuration", None).unwrap_or_else(|error| panic!("{error}"));
    // Hours are not for a test: the large instance is foreseen instead of sorted.
    experiment.budget_seconds = Some(1.0);
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let results = std::fs::read_to_string(folder.path().join("result.csv")).unwrap();
    let mut lines = results.lines();
    assert_eq!(lines.next(), Some(HEADING));
    let lines: Vec<Vec<Option<f64>>> = lines.map(times).collect();
    assert!(lines.iter().all(|line| line.len() == 5 && line[1].is_none() && line[3].is_none()), "{results}");
    let predefined: Vec<_> = lines.iter().filter(|line| line[0] == Some(8.0)).collect();
    assert_eq!(predefined.len(), 4);
    assert!(predefined.iter().all(|line| line[2].unwrap() > 0.0 && line[4].unwrap() > 0.0));
    assert!(
        lines.iter().any(|line| line[0] == Some(199.0)) && lines.iter().any(|line| line[0] == Some(50_000.0))
    );
}

#[test]
fn all_four_sorts_have_their_column() {
    let text = "measure_cpu=1\nmeasure_gpu=1\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n\
                predefined_instance=3 5 4 3 2 1\nrandom_instance=64 2\n";
    let folder = tempfile::tempdir().unwrap();
    run(&ini::read(text, "x", None).unwrap(), folder.path(), &mut Silent::default()).unwrap();
    let results = std::fs::read_to_string(folder.path().join("result.csv")).unwrap();
    let lines: Vec<Vec<Option<f64>>> = results.lines().skip(1).map(times).collect();
    assert_eq!(lines.iter().map(|line| line[0].unwrap()).collect::<Vec<_>>(), [5.0, 5.0, 5.0, 64.0, 64.0]);
    assert!(lines.iter().all(|line| line.iter().all(Option::is_some)), "{results}");
}

#[test]
fn a_wrong_sort_is_caught_and_written_down() {
    let text = "measure_cpu=1\nmeasure_gpu=0\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n\
                predefined_instance=3 8 9 -3 2 10 5 6 7\n";
    let folder = tempfile::tempdir().unwrap();
    let mut experiment = ini::read(text, "x", None).unwrap();
    experiment.implementations[1].implementation = "cpu:planted_fault".to_owned();
    let error = run(&experiment, folder.path(), &mut Silent::default()).unwrap_err();
    let LabError::WrongResult { message, log } = error else { panic!("{error}") };
    assert_eq!(
        message,
        "The CPU Odd-Even has given an invalid solution for instance size 8 in repetition 1."
    );
    assert_eq!(
        std::fs::read_to_string(log).unwrap(),
        format!(">>> {message}\n[Instance]: 8 9 -3 2 10 5 6 7\n[Solution]: -3 2 5 6 7 8 10 9\n")
    );
    // Without verification nobody looks.
    experiment.verify = false;
    let folder = tempfile::tempdir().unwrap();
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
}

/// Loads `result.csv` as the published plotting scripts do, by columns with `;` between them, and prints what came of it: lines, then for each
/// column its heading, whether its values are numbers, and how many are missing.
const LOAD: &str = "
import sys, pandas
table = pandas.read_csv(sys.argv[1], sep=';')
print(len(table))
for name in table.columns:
    numeric = pandas.api.types.is_numeric_dtype(table[name])
    print(name, numeric, int(table[name].isna().sum()), sep='|')
print(table.groupby('instance size').mean(numeric_only=True).shape[0])
";

#[test]
fn pandas_loads_every_repetition_and_takes_empty_fields_for_missing_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let text = "measure_cpu=1\nmeasure_gpu=0\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n\
                random_instance=64 3\nrandom_instance=1048576 2\n";
    let mut experiment = ini::read(text, "x", None).unwrap();
    // Odd-even sort of the second instance is foreseen to take longer: its fields stay empty.
    experiment.budget_seconds = Some(3.0);
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let results = folder.path().join("result.csv");
    let written = std::fs::read_to_string(&results).unwrap();
    let expected: Vec<Vec<Option<f64>>> = written.lines().skip(1).map(times).collect();
    assert!(expected.len() >= 4, "{written}");
    let missing = expected.iter().filter(|line| line[3].is_none()).count();
    assert!(missing > 0 && expected.iter().all(|line| line[1].is_some()), "{written}");

    let python = std::env::var("BITONIC_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let asked = std::process::Command::new(&python).args(["-c", LOAD]).arg(&results).output();
    let said = match asked {
        Ok(said) if said.status.success() => String::from_utf8(said.stdout).unwrap(),
        other => {
            let test = "pandas_loads_every_repetition_and_takes_empty_fields_for_missing_numbers";
            assert!(std::env::var_os("BITONIC_REQUIRE_PANDAS").is_none(), "{test}: {other:?}");
            println!("skipped: {python} has no pandas for {test}");
            return;
        }
    };
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said[0], expected.len().to_string());
    let columns: Vec<&str> = HEADING.split(';').collect();
    assert_eq!(said.len(), columns.len() + 2);
    for ((line, heading), column) in said[1..].iter().zip(columns).zip(0..) {
        let missing = expected.iter().filter(|line| line[column].is_none()).count();
        assert_eq!(*line, format!("{heading}|True|{missing}"));
    }
    assert_eq!(said[said.len() - 1], "2", "a mean for each of the two sizes");
}
