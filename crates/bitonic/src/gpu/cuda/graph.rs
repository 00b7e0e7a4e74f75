//! Graphs: the kernels of a sort as one thing to launch, kept for the next sort of the same arrays.
//!
//! A launch costs microseconds, which is what sorts of thousands of keys take as a whole; those of a graph cost less than
//! half of it. Making a graph takes longer than launching its kernels, so only sorts that come again get one.

use super::device::Device;
use crate::Error;
use crate::gpu::driver::{Command, RepeatKey};
use crate::gpu::lock::lock;
use cudarc::driver::sys::{self, CUdeviceptr, CUgraph, CUgraphExec, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaStream};
use std::ptr;
use std::sync::{Arc, Mutex};

/// What a graph was made for: it has the addresses in it.
type Key = RepeatKey<CUdeviceptr>;

/// Graphs of the last sorts, and which sorts there were.
#[derive(Default)]
pub(super) struct Graphs {
    kept: Mutex<Vec<(Key, Option<Arc<Graph>>)>>,
}

/// As many sorts as are remembered: graphs take some memory on the device.
const REMEMBERED: usize = 16;

impl Graphs {
    /// The graph of a sort, if there is one.
    pub(super) fn known(&self, sort: &Key) -> Option<Arc<Graph>> {
        // The last is the likeliest.
        lock(&self.kept).iter().rev().find(|(known, _)| known == sort)?.1.clone()
    }

    /// The graph of a sort, made now if it is the second time that it is asked for; `None` for the first.
    pub(super) fn obtain<'a>(
        &self,
        device: &Device,
        sort: Key,
        commands: &mut dyn FnMut() -> Vec<Command<'a, Device>>,
    ) -> Result<Option<Arc<Graph>>, Error> {
        {
            let mut kept = lock(&self.kept);
            let Some(place) = kept.iter().position(|(known, _)| *known == sort) else {
                kept.push((sort, None));
                if kept.len() > REMEMBERED {
                    kept.remove(0);
                }
                return Ok(None);
            };
            let known = kept.remove(place);
            let graph = known.1.clone();
            kept.push(known);
            if graph.is_some() {
                return Ok(graph);
            }
        }
        let graph = Arc::new(Graph::capture(device, &commands())?);
        if let Some(known) = lock(&self.kept).iter_mut().find(|(known, _)| *known == sort) {
            known.1 = Some(graph.clone());
        }
        Ok(Some(graph))
    }
}

/// A graph that can be launched.
pub(super) struct Graph {
    context: Arc<CudaContext>,
    executable: CUgraphExec,
    /// The driver's calls on one graph must not overlap.
    launching: Mutex<()>,
}

// SAFETY: an executable graph belongs to its context and is tied to no thread.
unsafe impl Send for Graph {}
// SAFETY: calls on it are made under a lock.
unsafe impl Sync for Graph {}

impl Graph {
    /// Captures the kernels of a sort, on a stream of its own: whoever else uses the device's streams is not captured.
    fn capture(device: &Device, commands: &[Command<'_, Device>]) -> Result<Self, Error> {
        let failed = |error| device.failure("make a graph of kernels", error);
        let stream = device.context().new_stream().map_err(failed)?;
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).map_err(failed)?;
        // SAFETY: nothing runs yet; whoever launches the graph vouches for the arrays.
        let queued = unsafe { device.launch_all(&stream, commands) };
        let mut graph: CUgraph = ptr::null_mut();
        // SAFETY: the stream is being captured, and there is a place for the graph.
        let ended = unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &mut graph) }.result();
        queued?;
        ended.map_err(failed)?;
        let mut executable: CUgraphExec = ptr::null_mut();
        // SAFETY: the graph is whole, and there is a place for the executable one.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0) }.result();
        // SAFETY: the executable graph needs the other no longer.
        let destroyed = unsafe { sys::cuGraphDestroy(graph) }.result();
        made.and(destroyed).map_err(failed)?;
        Ok(Self { context: device.context().clone(), executable, launching: Mutex::default() })
    }

    /// Queues all kernels.
    ///
    /// # Safety
    ///
    /// As for [`Device::launch_all`], with the arrays of the capture; and the kernels must be alive as long as they run.
    pub(super) unsafe fn launch(&self, device: &Device, stream: &CudaStream) -> Result<(), Error> {
        let failed = |error| device.failure("launch a graph of kernels", error);
        self.context.bind_to_thread().map_err(failed)?;
        let _alone = lock(&self.launching);
        // SAFETY: the graph is alive, nobody else launches it at the moment, and the caller vouches for stream and arrays.
        unsafe { sys::cuGraphLaunch(self.executable, stream.cu_stream()) }.result().map_err(failed)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let destroyed = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: nobody has the graph any more; the driver keeps what still runs.
            unsafe { sys::cuGraphExecDestroy(self.executable) }.result()
        });
        if let Err(error) = destroyed {
            tracing::debug!(%error, "a CUDA graph cannot be destroyed");
        }
    }
}
