//! What a sort will do, and what it can run on.

use crate::element::{Element, with_key};
use crate::error::raise;
use crate::sorter::Sorter;
use bitonic::Engine;
use bitonic::device::{self, DeviceChoice, FasterFrom};
use bitonic::plan;
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// What a sort will do: its engine, algorithm, passes and memory. A notebook shows it as text.
#[pyclass(frozen, module = "bitonic")]
pub(crate) struct Plan {
    plan: plan::Plan,
}

#[pymethods]
impl Plan {
    /// The engine that sorts: 'cpu', 'opencl' or 'cuda'.
    #[getter]
    fn engine(&self) -> String {
        self.plan.engine.to_string()
    }

    /// What the engine runs on.
    #[getter]
    fn device(&self) -> &str {
        &self.plan.device
    }

    /// How the keys get into order.
    #[getter]
    fn algorithm(&self) -> String {
        self.plan.algorithm.to_string()
    }

    /// How many CPU threads share the work.
    #[getter]
    fn threads(&self) -> usize {
        self.plan.threads
    }

    /// How many times the data is gone through.
    #[getter]
    fn passes(&self) -> usize {
        self.plan.pass_count()
    }

    /// Bytes of host memory beyond the arrays.
    #[getter]
    fn host_memory(&self) -> usize {
        self.plan.memory.host
    }

    /// Bytes of a device's memory.
    #[getter]
    fn device_memory(&self) -> u64 {
        self.plan.memory.device + self.plan.memory.work
    }

    fn __str__(&self) -> String {
        self.plan.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<plan: {}>", self.plan.summary())
    }

    fn _repr_html_(&self) -> String {
        preformatted(&self.plan.to_string())
    }
}

/// Text as HTML, as it is.
pub(crate) fn preformatted(text: &str) -> String {
    format!("<pre>{}</pre>", text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

#[pymethods]
impl Sorter {
    /// What a sort of so many keys in rows would do.
    #[pyo3(signature = (dtype, len, row, what, /))]
    fn plan(&self, dtype: &Bound<'_, PyArrayDescr>, len: usize, row: usize, what: &str) -> PyResult<Plan> {
        let (element, sorter) = (Element::of(dtype)?, &self.options.sorter);
        let plan = with_key!(element, K => match what {
            "sort" => sorter.plan_rows::<K>(len, row),
            "argsort" => sorter.plan_argsort_rows::<K>(len, row),
            other => {
                let reason = format!("unknown operation '{other}': use one of 'sort', 'argsort'");
                return Err(PyValueError::new_err(reason));
            }
        });
        Ok(Plan { plan: plan.map_err(raise)? })
    }
}

/// Something that a sort can run on.
#[pyclass(frozen, get_all, module = "bitonic")]
pub(crate) struct Device {
    /// The engine that uses it: 'cpu', 'opencl' or 'cuda'.
    engine: String,
    /// Its name.
    name: String,
    /// How many cores or multiprocessors it has.
    units: usize,
}

#[pymethods]
impl Device {
    fn __repr__(&self) -> String {
        format!("<{} device: {}, {} units>", self.engine, self.name, self.units)
    }
}

/// What a sort can run on here: the processor first.
///
/// >>> import bitonic
/// >>> bitonic.devices()[0].engine
/// 'cpu'
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> Vec<Device> {
    let found = py.detach(bitonic::devices);
    found
        .into_iter()
        .map(|device| Device { engine: device.engine.to_string(), name: device.name, units: device.units })
        .collect()
}

/// Finds out how the devices here sort fastest, and from which length on they beat the processor; later sorts with
/// ``engine='auto'`` go by it. Takes 30 seconds, 5 with ``quick=True``, or as many as ``seconds`` says. What there is no time for comes
/// first the next time. Without a device there is nothing to tune.
///
/// Returns for every device its name and the least number of 32-bit keys for which it was faster than the processor, transfers
/// included, or None where it never was.
#[pyfunction]
#[pyo3(signature = (*, engine="auto", quick=false, seconds=None))]
pub(crate) fn tune(
    py: Python<'_>,
    engine: &str,
    quick: bool,
    seconds: Option<f64>,
) -> PyResult<Vec<(String, Option<usize>)>> {
    let asked: Engine = engine.parse().map_err(raise)?;
    let engines: Vec<Engine> = match asked {
        Engine::Cpu => {
            return Err(PyValueError::new_err("the cpu engine needs no tuning: choose opencl, cuda or auto"));
        }
        Engine::Auto => device::engines().collect(),
        engine => vec![engine],
    };
    let seconds = seconds.unwrap_or(if quick { 5.0 } else { 30.0 });
    let budget = Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("seconds={seconds} is not a time that can be waited")))?;
    let mut devices = Vec::new();
    for engine in engines {
        match py.detach(|| device::open(engine, &DeviceChoice::default())) {
            Ok(device) => devices.push(device),
            // Not every machine has every engine; what was asked for by name must be there.
            Err(bitonic::Error::EngineUnavailable { .. } | bitonic::Error::NoSuchDevice { .. })
                if asked == Engine::Auto => {}
            Err(error) => return Err(raise(error)),
        }
    }
    let share = budget / devices.len().max(1) as u32;
    let mut reports = Vec::new();
    for device in devices {
        let report = py.detach(|| device.tune(share, &mut |_| ())).map_err(raise)?;
        let of_words = |from: &&FasterFrom| from.sorts == "keys of 4 bytes";
        reports.push((report.device, report.faster_from.iter().find(of_words).and_then(|from| from.length)));
        py.check_signals()?;
    }
    Ok(reports)
}
