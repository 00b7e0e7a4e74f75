//! The same sorts with memory to work in; those of segments always need some.

use super::queue::Work;
use super::{BestArrays, ResidentSorter, of_segments, packed_bytes};
use crate::Error;
use crate::gpu::execute::{DeviceArrays, sort_strided};
use crate::gpu::job::Job;
use crate::gpu::strided::Strided;
use crate::key::Key;
use crate::request::{Index, Request, Segments};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

/// Sorts of a [`ResidentSorter`] that have memory to work in.
#[derive(Debug)]
pub struct WithWorkspace<'a, W> {
    pub(super) sorter: &'a ResidentSorter,
    pub(super) workspace: &'a mut W,
}

impl<W: DevicePtrMut<u8>> WithWorkspace<'_, W> {
    /// As [`ResidentSorter::sort`].
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Device`] when the workspace is too small.
    pub fn sort<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
    ) -> Result<(), Error> {
        let row_length = keys.len();
        self.sort_rows(stream, keys, row_length)
    }

    /// As [`ResidentSorter::sort_rows`].
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Device`] when the workspace is too small.
    pub fn sort_rows<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        row_length: usize,
    ) -> Result<(), Error> {
        self.sorter.sort_keys(stream, keys, row_length, Some(&mut *self.workspace))
    }

    /// Queues a sort of all keys of an array to another one, which gets the sorted keys; `keys` stay as they are. Where columnsort or buckets
    /// sort, from some ten thousand keys on, there is no copy: the first kernels read the keys where they are.
    ///
    /// ```no_run
    /// # use bitonic::cuda::{ResidentSorter, cudarc::driver::CudaContext};
    /// # let context = CudaContext::new(0)?;
    /// # let stream = context.new_stream()?;
    /// let keys = stream.clone_htod(&[4_u32, 2, 9])?;
    /// let mut sorted = stream.alloc_zeros::<u32>(3)?;
    /// let sorter = ResidentSorter::new(&context)?;
    /// let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size::<u32>(3))?;
    /// sorter.with_workspace(&mut workspace).sort_to(&stream, &keys, &mut sorted)?;
    /// assert_eq!(stream.clone_dtoh(&sorted)?, [2, 4, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`WithWorkspace::sort`], and [`Error::OutputLength`] when `sorted` has another length.
    pub fn sort_to<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        sorted: &mut impl DevicePtrMut<K>,
    ) -> Result<(), Error> {
        self.sort_rows_to(stream, keys, sorted, keys.len())
    }

    /// As [`WithWorkspace::sort_to`], of every row of `row_length` keys.
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Rows`] when the keys are no whole number of rows.
    pub fn sort_rows_to<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        sorted: &mut impl DevicePtrMut<K>,
        row_length: usize,
    ) -> Result<(), Error> {
        let job = self.sorter.job(Request::keys::<K>(Segments::rows(keys.len(), row_length)?));
        self.queue_to(stream, keys, sorted, None::<&mut CudaSlice<u32>>, &job)
    }

    /// As [`WithWorkspace::argsort`], with the sorted keys in an array of their own: `keys` stay as they are.
    ///
    /// # Errors
    ///
    /// The same, and [`Error::OutputLength`] when `sorted` has another length.
    pub fn argsort_to<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        sorted: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let job = self.sorter.indices::<K>(keys.len())?;
        if keys.len() != indices.len() {
            return Err(Error::LengthMismatch { keys: keys.len(), values: indices.len() });
        }
        self.queue_to(stream, keys, sorted, Some(indices), &job)
    }

    /// Queues a sort to another array; of indices there are as many as keys.
    fn queue_to<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        sorted: &mut impl DevicePtrMut<K>,
        indices: Option<&mut impl DevicePtrMut<u32>>,
        job: &Job,
    ) -> Result<(), Error> {
        let (needed, given) = (keys.len(), sorted.len());
        if needed != given {
            return Err(Error::OutputLength { needed, given });
        }
        self.sorter.check_contexts([stream, keys.stream(), sorted.stream()])?;
        if let Some(indices) = &indices {
            self.sorter.check_contexts([indices.stream()])?;
        }
        let (source, _keys_recorded_after) = keys.device_ptr(stream);
        let (sorted, _sorted_recorded_after) = sorted.device_ptr_mut(stream);
        let (indices, _indices_recorded_after) = indices.map(|all| all.device_ptr_mut(stream)).unzip();
        let arrays = DeviceArrays { input: Some(source), ..DeviceArrays::in_place(sorted, indices) };
        // SAFETY: stream and arrays are of the sorter's context; both arrays have the job's keys, of which the first are only read and the
        // others borrowed exclusively, as the indices are, and cudarc makes their other users wait.
        unsafe { self.sorter.queue(stream, job, arrays, Some(&mut *self.workspace)) }
    }

    /// Queues a sort of rows that do not lie one after the other, such as those of a part of a matrix, or its columns. Keys between the rows
    /// stay as they are. The workspace has at least the bytes that [`ResidentSorter::workspace_size_strided_rows`] says: rows are brought
    /// together there, sorted, and brought back; a sorter that is [`verified`](ResidentSorter::verified) checks the sort between. Rows that
    /// lie one after the other are sorted where they are.
    ///
    /// ```no_run
    /// # use bitonic::cuda::{ResidentSorter, Strided, cudarc::driver::CudaContext};
    /// # let context = CudaContext::new(0)?;
    /// # let stream = context.new_stream()?;
    /// // The columns of two rows of three keys.
    /// let mut keys = stream.clone_htod(&[4_u32, 2, 9, 1, 3, 8])?;
    /// let columns = Strided::columns(2, 3, 3);
    /// let sorter = ResidentSorter::new(&context)?;
    /// let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size_strided_rows::<u32>(columns))?;
    /// sorter.with_workspace(&mut workspace).sort_strided_rows(&stream, &mut keys, columns)?;
    /// assert_eq!(stream.clone_dtoh(&keys)?, [1, 2, 8, 4, 3, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], [`Error::Strides`] when rows overlap or leave the keys, and [`Error::Device`] when the workspace is
    /// too small.
    pub fn sort_strided_rows<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        rows: Strided,
    ) -> Result<(), Error> {
        let Self { sorter, workspace } = self;
        rows.check(keys.len())?;
        let job = sorter.job_of_strided::<K>(rows);
        if job.len() == 0 {
            return Ok(());
        }
        sorter.check_contexts([stream, keys.stream(), workspace.stream()])?;
        let (keys, _keys_recorded_after) = keys.device_ptr_mut(stream);
        if rows.is_packed() {
            // SAFETY: stream and arrays are of the sorter's context, the array holds the job's keys and is borrowed exclusively, and
            // cudarc makes its other users wait.
            return unsafe {
                sorter.queue(stream, &job, DeviceArrays::in_place(keys, None), Some(&mut **workspace))
            };
        }
        let (given, needed) = (workspace.len(), sorter.workspace_size_strided_rows::<K>(rows));
        if given < needed {
            let reason = format!("the workspace has {given} bytes, and the sort of such rows needs {needed}");
            return Err(sorter.refuse(reason));
        }
        sorter.check_range(keys, rows.extent().saturating_mul(size_of::<K>()))?;
        let (packed, _work_recorded_after) = workspace.device_ptr_mut(stream);
        sorter.check_alignment(packed)?;
        let behind = packed_bytes(&job);
        let work = Work { address: packed + behind as u64, bytes: given - behind };
        let how = sorter.submission(stream)?;
        // SAFETY: the workspace has room for the job's keys, and what is behind them for its plan; both are borrowed exclusively.
        let sort =
            || unsafe { sorter.queue_in(stream, &job, DeviceArrays::in_place(packed, None), Some(work)) };
        // SAFETY: stream and arrays are of the sorter's context, the rows are within the keys and do not overlap, keys and workspace are
        // borrowed exclusively, and cudarc makes their other users wait.
        unsafe { sort_strided(&sorter.device, stream, (&job, rows), (keys, packed), how, sort) }.map(drop)
    }

    /// As [`ResidentSorter::sort_pairs`].
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Device`] when the workspace is too small.
    pub fn sort_pairs<K: Key, V: Copy>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
    ) -> Result<(), Error> {
        let job = self.sorter.pairs::<K, V>(keys.len())?;
        self.sorter.sort_both(stream, keys, values, &job, Some(&mut *self.workspace))
    }

    /// As [`ResidentSorter::argsort`].
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Device`] when the workspace is too small.
    pub fn argsort<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let job = self.sorter.indices::<K>(keys.len())?;
        self.sorter.sort_both(stream, keys, indices, &job, Some(&mut *self.workspace))
    }

    /// Queues a sort of every segment of keys for itself, in place. Segment i has the keys from `offsets[i]` to `offsets[i + 1]`: there is
    /// one offset more than segments, of 32 or 64 bits. Segments may be empty; keys before the first offset and from the last on stay
    /// as they are.
    ///
    /// `longest` says how many keys the longest segment has at most; a segment that has more is left as it is. Where that is not known,
    /// `keys.len()` is right, and costs some kernels that find nothing to do. A pair of offsets that descend, or lead out of the keys, is
    /// an empty segment; what is in segments that overlap is undefined. The workspace has at least the bytes that
    /// [`ResidentSorter::workspace_size_segments`] says.
    ///
    /// ```no_run
    /// # use bitonic::cuda::{ResidentSorter, cudarc::driver::CudaContext};
    /// # let context = CudaContext::new(0)?;
    /// # let stream = context.new_stream()?;
    /// let mut keys = stream.clone_htod(&[3.5_f32, -1.0, 2.0, 9.0, 8.0])?;
    /// let offsets = stream.clone_htod(&[0_u32, 3, 3, 5])?;
    /// let sorter = ResidentSorter::new(&context)?;
    /// let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size_segments::<f32>(5, 3, 5)?)?;
    /// sorter.with_workspace(&mut workspace).sort_segments(&stream, &mut keys, &offsets, 5)?;
    /// assert_eq!(stream.clone_dtoh(&keys)?, [-1.0, 2.0, 3.5, 8.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], and [`Error::Device`] when the workspace is too small.
    pub fn sort_segments<K: Key, O: Index>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        offsets: &impl DevicePtr<O>,
        longest: usize,
    ) -> Result<(), Error> {
        let segments = of_segments(keys.len(), offsets.len().saturating_sub(1), longest);
        let job = self.sorter.ragged::<O>(Request::keys::<K>(segments))?;
        self.sorter.check_contexts([stream, keys.stream(), offsets.stream()])?;
        let (offsets, _offsets_recorded_after) = offsets.device_ptr(stream);
        let (keys, _keys_recorded_after) = keys.device_ptr_mut(stream);
        let arrays = DeviceArrays { offsets: Some(offsets), ..DeviceArrays::in_place(keys, None) };
        // SAFETY: stream and arrays are of the sorter's context; the keys are the job's and borrowed exclusively, the offsets are as
        // many as it has and one more, kernels stay within the keys whatever they say, and cudarc makes other users wait.
        unsafe { self.sorter.queue(stream, &job, arrays, Some(&mut *self.workspace)) }
    }

    /// As [`WithWorkspace::sort_segments`], and moves every value with its key. Not stable. Values are numbers of 32 or 64 bits, as many as
    /// there are keys. The workspace has the bytes that [`ResidentSorter::workspace_size_pairs_segments`] says.
    ///
    /// # Errors
    ///
    /// The same, and those of [`ResidentSorter::sort_pairs`].
    pub fn sort_pairs_segments<K: Key, V: Copy, O: Index>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
        offsets: &impl DevicePtr<O>,
        longest: usize,
    ) -> Result<(), Error> {
        self.sorter.check_values::<V>()?;
        let segments = of_segments(keys.len(), offsets.len().saturating_sub(1), longest);
        let job = self.sorter.ragged::<O>(Request::pairs::<K, V>(segments))?;
        self.sort_both_in_segments(stream, keys, values, offsets, &job)
    }

    /// As [`WithWorkspace::sort_segments`], and writes the index that each key had in its segment to `indices`, equal keys by lowest index.
    /// Places outside of segments stay as they are. The workspace has the bytes that
    /// [`ResidentSorter::workspace_size_argsort_segments`] says.
    ///
    /// # Errors
    ///
    /// The same, and those of [`ResidentSorter::argsort`].
    pub fn argsort_segments<K: Key, O: Index>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
        offsets: &impl DevicePtr<O>,
        longest: usize,
    ) -> Result<(), Error> {
        let segments = of_segments(keys.len(), offsets.len().saturating_sub(1), longest);
        let job = self.sorter.ragged::<O>(Request::argsort::<K>(segments))?;
        self.sort_both_in_segments(stream, keys, indices, offsets, &job)
    }

    fn sort_both_in_segments<K: Key, V, O: Index>(
        &mut self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
        offsets: &impl DevicePtr<O>,
        job: &Job,
    ) -> Result<(), Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { keys: keys.len(), values: values.len() });
        }
        self.sorter.check_contexts([stream, keys.stream(), values.stream(), offsets.stream()])?;
        let (offsets, _offsets_recorded_after) = offsets.device_ptr(stream);
        let (keys, _keys_recorded_after) = keys.device_ptr_mut(stream);
        let (values, _values_recorded_after) = values.device_ptr_mut(stream);
        let arrays = DeviceArrays { offsets: Some(offsets), ..DeviceArrays::in_place(keys, Some(values)) };
        // SAFETY: as in `sort_segments`, and there are as many values as keys.
        unsafe { self.sorter.queue(stream, job, arrays, Some(&mut *self.workspace)) }
    }

    /// As [`ResidentSorter::top_k_rows`], with as many groups of threads for a row as the device needs to be busy.
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Device`] when the workspace is too small.
    pub fn top_k_rows<K: Key>(
        &mut self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        row_length: usize,
        k: usize,
        best: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let job = self.sorter.best::<K>(keys.len(), row_length, k)?;
        let arrays = BestArrays { keys, best, indices, offsets: None::<&CudaSlice<u32>> };
        self.sorter.find_best(stream, arrays, &job, Some(&mut *self.workspace))
    }

    /// As [`ResidentSorter::top_k_segments`], with groups of threads for parts of long segments. The workspace has the bytes that
    /// [`ResidentSorter::workspace_size_top_k_segments`] says.
    ///
    /// # Errors
    ///
    /// The same, and [`Error::Device`] when the workspace is too small.
    pub fn top_k_segments<K: Key, O: Index>(
        &mut self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        (offsets, longest): (&impl DevicePtr<O>, usize),
        k: usize,
        best: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let segments = of_segments(keys.len(), offsets.len().saturating_sub(1), longest);
        let job = self.sorter.best_of_segments::<K, O>(segments, k)?;
        let arrays = BestArrays { keys, best, indices, offsets: Some(offsets) };
        self.sorter.find_best(stream, arrays, &job, Some(&mut *self.workspace))
    }
}
