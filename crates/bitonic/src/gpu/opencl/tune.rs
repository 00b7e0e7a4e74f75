//! Tuning of an OpenCL device.

use super::device::Device;
use crate::gpu::choice::DeviceKind;
use crate::gpu::tune::{self, Effort, TuneReport};
use crate::gpu::tuning::Crossover;
use crate::{Engine, Error};

/// Tries shapes on the device, stores the best for later sorts, and says what was found. `progress` is called with the
/// number of steps done and the number of all steps.
///
/// What was stored before is replaced. Devices that are open in this process go on with what they had. Where there is no
/// cache folder, the result serves this report only.
///
/// # Errors
///
/// When not even the default shape works: the error of that sort.
pub fn tune(
    device: &Device,
    effort: Effort,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<TuneReport, Error> {
    let (tuning, mut report) = tune::tune(device, effort, progress)?;
    report.stored = tuning.store(&device.identity());
    // A processor is no rival of the CPU engine; what was measured for another device stays.
    if device.info().kind != DeviceKind::Cpu {
        report.stored &= Crossover::update(Engine::OpenCl, &device.info().name, report.faster_from);
    }
    Ok(report)
}
