//! What a run's folder gets in the end: tables, plots, and one page with everything.
//!
//! | file | what it has |
//! |---|---|
//! | `report.html` | everything; no other file and no network is needed to read it |
//! | `summary.csv` | a line for every implementation and size |
//! | `summary.json` | the same and all that follows from it |
//! | `plots/*.svg`, and with the feature `png` also `plots/*.png` | the plots |
//! | `explore.html` | the explorer with the run's times, if the caller has it; the report links into it |

mod html;
mod page;
mod summary;

pub use html::html;

use crate::analysis::{Analysis, Statistic};
use crate::plot::{NamedChart, charts};
#[cfg(feature = "png")]
use crate::plot::{PngError, png};
use crate::record::{StoreError, write_whole};
use std::path::{Path, PathBuf};

/// The page.
pub const REPORT: &str = "report.html";

/// The explorer's page beside the report.
pub const EXPLORER: &str = "explore.html";

/// The folder with the plots.
pub const PLOTS: &str = "plots";

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A plot could not be drawn.
    #[cfg(feature = "png")]
    #[error(transparent)]
    Png(#[from] PngError),
}

/// The formats of plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotFormat {
    /// Lines and text, which print well at any size.
    Svg,
    /// Pixels.
    #[cfg(feature = "png")]
    Png,
}

impl PlotFormat {
    /// The formats that this build knows.
    pub const ALL: &[Self] = &[
        Self::Svg,
        #[cfg(feature = "png")]
        Self::Png,
    ];

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            #[cfg(feature = "png")]
            Self::Png => "png",
        }
    }
}

/// Writes the report of the run in a folder, and says where the page is.
///
/// # Errors
///
/// If there is no run in the folder, or something cannot be written.
pub fn write(directory: &Path) -> Result<PathBuf, ReportError> {
    write_with_explorer(directory, Statistic::Mean, |_| None)
}

/// The same with [`EXPLORER`] beside it, into which the report links. `explorer` makes that page from the text of `summary.csv`; the
/// laboratory itself knows nothing of it. Without a page there is no link.
///
/// # Errors
///
/// As [`write()`].
pub fn write_with_explorer(
    directory: &Path,
    statistic: Statistic,
    explorer: impl FnOnce(&str) -> Option<String>,
) -> Result<PathBuf, ReportError> {
    let analysis = Analysis::read_by(directory, statistic)?;
    let charts = charts(&analysis);
    write_plots(&directory.join(PLOTS), &charts, PlotFormat::ALL)?;
    let summary = summary::csv(&analysis, directory)?;
    write_whole(&directory.join("summary.csv"), &summary)?;
    write_whole(&directory.join("summary.json"), &summary::json(&analysis, directory)?)?;
    let explorer = explorer(&String::from_utf8_lossy(&summary));
    if let Some(page) = &explorer {
        write_whole(&directory.join(EXPLORER), page.as_bytes())?;
    }
    let path = directory.join(REPORT);
    write_whole(&path, html(&analysis, &charts, explorer.map(|_| EXPLORER)).as_bytes())?;
    Ok(path)
}

/// Writes plots to a folder, and says how they are called.
///
/// # Errors
///
/// If something cannot be drawn or written.
pub fn write_plots(
    directory: &Path,
    charts: &[NamedChart],
    formats: &[PlotFormat],
) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(directory)
        .map_err(|error| StoreError { path: directory.to_owned(), reason: error.to_string() })?;
    let mut written = Vec::new();
    for named in charts {
        let svg = named.chart.svg();
        for format in formats {
            let bytes = match format {
                PlotFormat::Svg => svg.clone().into_bytes(),
                #[cfg(feature = "png")]
                PlotFormat::Png => png(&svg)?,
            };
            let path = directory.join(format!("{}.{}", named.name, format.ending()));
            write_whole(&path, &bytes)?;
            written.push(path);
        }
    }
    Ok(written)
}
