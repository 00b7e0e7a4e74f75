//! What the research application wrote, written the same way: `result.csv`, `error.log`, and the console's table.

mod console;
mod error_log;
mod result_file;

pub use console::{Console, configuration};
pub use error_log::{ERROR_LOG, ErrorLog};
pub use result_file::{RESULTS, ResultFile};
