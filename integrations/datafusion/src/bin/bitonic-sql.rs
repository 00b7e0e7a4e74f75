//! The command `bitonic-sql`: queries over files, with the sort of bitonic.

use bitonic_datafusion::enable;
use clap::Parser;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionContext};
use std::process::ExitCode;
use std::time::Instant;

/// Asks a question about Parquet or CSV files in SQL, and prints the answer as a table.
#[derive(Parser)]
#[command(
    version,
    after_help = "Example: bitonic-sql \"select * from t order by a limit 10\" --table t=rows.parquet"
)]
struct Arguments {
    /// The question
    query: String,
    /// A table and its file: NAME=FILE.parquet or NAME=FILE.csv
    #[arg(long = "table", value_name = "NAME=FILE", value_parser = named_file)]
    tables: Vec<(String, String)>,
    /// Print the plan instead of the answer
    #[arg(long)]
    explain: bool,
    /// Sort with DataFusion's own operators
    #[arg(long)]
    plain: bool,
    /// Print to standard error how long the query took
    #[arg(long)]
    time: bool,
}

fn named_file(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.into(), file.into())),
        _ => Err("this is not NAME=FILE, such as t=rows.parquet".into()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("bitonic-sql: {message}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<String, String> {
    let builder = SessionStateBuilder::new().with_default_features();
    let builder = if arguments.plain { builder } else { enable(builder) };
    let context = SessionContext::new_with_state(builder.build());
    for (name, file) in &arguments.tables {
        register(&context, name, file).await?;
    }
    let query =
        if arguments.explain { format!("explain {}", arguments.query) } else { arguments.query.clone() };
    let known = || arguments.tables.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let frame = context.sql(&query).await.map_err(|error| {
        format!(
            "the query cannot be planned: {error}\nTables given with --table: {}",
            if known().is_empty() { "none".into() } else { known() }
        )
    })?;
    let start = Instant::now();
    let batches = frame.collect().await.map_err(|error| format!("the query failed: {error}"))?;
    if arguments.time {
        eprintln!("{:.3} s", start.elapsed().as_secs_f64());
    }
    let table =
        pretty_format_batches(&batches).map_err(|error| format!("the answer cannot be printed: {error}"))?;
    Ok(table.to_string())
}

async fn register(context: &SessionContext, name: &str, file: &str) -> Result<(), String> {
    // DataFusion takes a path without a file for an empty table.
    std::fs::metadata(file)
        .map_err(|error| format!("{file}: {error}. Give --table {name}=FILE a file that can be read."))?;
    let registered = match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("parquet") => context.register_parquet(name, file, ParquetReadOptions::default()).await,
        Some("csv") => context.register_csv(name, file, CsvReadOptions::new()).await,
        _ => {
            return Err(format!(
                "{file}: the name ends neither in .parquet nor in .csv, so the format is not known. Rename or convert it."
            ));
        }
    };
    registered
        .map_err(|error| format!("{file}: {error}. Is it a whole file of the format that its name says?"))
}
