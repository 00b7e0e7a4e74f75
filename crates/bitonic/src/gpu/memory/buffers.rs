//! Buffers on the device, kept for the next sort.

use crate::Error;
use crate::gpu::driver::DeviceBuffer;
use crate::gpu::lock::lock;
use std::sync::Mutex;

/// Keys, values, and the working memory for both, with counters, of one sort. More are freed, so that a device is not filled with
/// what nobody uses.
const KEPT: usize = 5;

/// No more than this share of the device's memory is kept.
const KEPT_SHARE: u64 = 4;

/// What a buffer was last used for. A sort that comes again gets the same buffers for the same roles, so that what a backend keeps
/// for its arguments is found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Keys,
    Values,
    Input,
    Offsets,
    WorkKeys,
    WorkValues,
    Counters,
}

/// Buffers that no sort uses at the moment.
pub(crate) struct Buffers<B> {
    kept: Mutex<Vec<(Role, B)>>,
}

impl<B> Default for Buffers<B> {
    fn default() -> Self {
        Self { kept: Mutex::default() }
    }
}

impl<B: DeviceBuffer> Buffers<B> {
    /// A buffer of at least this many bytes, and at most four times as many: one that had this role before if there is one, the
    /// smallest otherwise; a new one if none is kept.
    pub(crate) fn take(
        &self,
        role: Role,
        bytes: usize,
        allocate: impl Fn() -> Result<B, Error>,
    ) -> Result<B, Error> {
        {
            let mut kept = lock(&self.kept);
            let fits = |buffer: &B| (bytes..=bytes.saturating_mul(4)).contains(&buffer.bytes());
            let fitting = (0..kept.len()).filter(|&place| fits(&kept[place].1));
            if let Some(place) = fitting.min_by_key(|&place| (kept[place].0 != role, kept[place].1.bytes())) {
                return Ok(kept.remove(place).1);
            }
        }
        match allocate() {
            Err(Error::DeviceMemory { .. }) if self.clear() => allocate(),
            result => result,
        }
    }

    /// Keeps a buffer for later, or frees it, on a device with this much memory.
    pub(crate) fn give(&self, role: Role, buffer: B, device_bytes: u64) {
        let mut kept = lock(&self.kept);
        kept.push((role, buffer));
        let most = device_bytes / KEPT_SHARE;
        while kept.len() > KEPT || kept.iter().map(|(_, buffer)| buffer.bytes() as u64).sum::<u64>() > most {
            kept.remove(0);
        }
    }

    /// Frees everything; whether there was anything.
    fn clear(&self) -> bool {
        let freed = std::mem::take(&mut *lock(&self.kept));
        !freed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[derive(Debug, PartialEq)]
    struct Bytes(usize);

    impl DeviceBuffer for Bytes {
        type Memory = ();

        fn bytes(&self) -> usize {
            self.0
        }

        fn memory(&self) {}
    }

    const DEVICE_BYTES: u64 = 4000;

    fn refused() -> Error {
        Error::DeviceMemory { device: "a device".to_owned(), bytes: 1, available: DEVICE_BYTES }
    }

    #[test]
    fn a_kept_buffer_is_taken_if_it_is_neither_too_small_nor_far_too_large() {
        let buffers = Buffers::default();
        buffers.give(Role::Keys, Bytes(100), DEVICE_BYTES);
        let new = |bytes| move || Ok(Bytes(bytes));
        assert_eq!(buffers.take(Role::Keys, 101, new(101)), Ok(Bytes(101)));
        assert_eq!(
            buffers.take(Role::Keys, 24, new(24)),
            Ok(Bytes(24)),
            "a hundred bytes would be more than four times as many"
        );
        assert_eq!(buffers.take(Role::Keys, 25, || Err(refused())), Ok(Bytes(100)));
        assert_eq!(buffers.take(Role::Keys, 25, new(25)), Ok(Bytes(25)), "the buffer is in use");
    }

    #[test]
    fn what_is_kept_is_freed_when_the_device_has_no_memory_left() {
        let buffers = Buffers::default();
        buffers.give(Role::Keys, Bytes(100), DEVICE_BYTES);
        let attempts = Cell::new(0);
        let full_once = || {
            attempts.set(attempts.get() + 1);
            if attempts.get() == 1 { Err(refused()) } else { Ok(Bytes(900)) }
        };
        assert_eq!(buffers.take(Role::Keys, 900, full_once), Ok(Bytes(900)));
        assert_eq!(attempts.get(), 2);
        assert_eq!(
            buffers.take(Role::Keys, 100, || Err(refused())),
            Err(refused()),
            "nothing is left to free"
        );
    }

    #[test]
    fn the_smallest_buffer_that_fits_is_taken() {
        let buffers = Buffers::default();
        for bytes in [120, 100, 200] {
            buffers.give(Role::Keys, Bytes(bytes), DEVICE_BYTES);
        }
        assert_eq!(buffers.take(Role::Keys, 90, || Err(refused())), Ok(Bytes(100)));
        assert_eq!(buffers.take(Role::Keys, 90, || Err(refused())), Ok(Bytes(120)));
    }

    #[test]
    fn five_buffers_and_a_quarter_of_the_memory_are_kept() {
        let buffers = Buffers::<Bytes>::default();
        let kept = || lock(&buffers.kept).iter().map(|(_, buffer)| buffer.0).collect::<Vec<_>>();
        for bytes in [10, 50, 60, 100, 200, 300] {
            buffers.give(Role::Keys, Bytes(bytes), DEVICE_BYTES);
        }
        assert_eq!(kept(), [50, 60, 100, 200, 300]);
        buffers.give(Role::Keys, Bytes(600), DEVICE_BYTES);
        assert_eq!(kept(), [300, 600]);
        buffers.give(Role::Keys, Bytes(1001), DEVICE_BYTES);
        assert_eq!(kept(), [0_usize; 0]);
    }

    #[test]
    fn a_buffer_comes_back_in_its_role() {
        let buffers = Buffers::default();
        buffers.give(Role::WorkKeys, Bytes(100), DEVICE_BYTES);
        buffers.give(Role::Keys, Bytes(101), DEVICE_BYTES);
        assert_eq!(buffers.take(Role::Keys, 90, || Err(refused())), Ok(Bytes(101)));
        assert_eq!(buffers.take(Role::Keys, 90, || Err(refused())), Ok(Bytes(100)), "better than a new one");
    }
}
