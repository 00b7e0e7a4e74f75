//! Arrays of the crate `ndarray`, sorted along an axis.
//!
//! The lanes of an axis become rows: axes are put in another order, the sorted one last and the others from the longest stride to the
//! shortest. If that is how the array lies in memory, its rows are sorted where they are; otherwise in a copy.

use crate::cpu::try_vec;
use crate::{Error, Key, Report, Sorter};
use ndarray::{Array, ArrayD, ArrayRef, ArrayViewD, ArrayViewMutD, Axis, Dimension, IxDyn, LayoutRef};

/// Sorts along an axis as methods: `use bitonic::BitonicSortAxis`, and arrays and views of the crate `ndarray` have them, with any number of
/// axes. What they do with options is in [`Sorter::sort_axis`] and its like.
///
/// ```
/// use bitonic::BitonicSortAxis;
/// use ndarray::{Axis, array};
///
/// let mut table = array![[3, 1, 2], [9, 8, 7]];
/// table.bitonic_sort_axis(Axis(1))?;
/// assert_eq!(table, array![[1, 2, 3], [7, 8, 9]]);
/// assert_eq!(table.bitonic_argsort_axis(Axis(0))?, array![[0, 0, 0], [1, 1, 1]]);
/// let (best, places) = table.bitonic_top_k_axis(Axis(1), 1)?;
/// assert_eq!((best, places), (array![[3], [9]], array![[2], [2]]));
/// # Ok::<(), bitonic::Error>(())
/// ```
pub trait BitonicSortAxis<K: Key, D: Dimension> {
    /// [`Sorter::sort_axis`], ascending.
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::sort_axis`].
    fn bitonic_sort_axis(&mut self, axis: Axis) -> Result<(), Error>;

    /// [`Sorter::argsort_axis`], ascending.
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::argsort_axis`].
    fn bitonic_argsort_axis(&self, axis: Axis) -> Result<Array<usize, D>, Error>;

    /// [`Sorter::top_k_axis`], the largest keys.
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::top_k_axis`].
    fn bitonic_top_k_axis(&self, axis: Axis, k: usize) -> Result<TopAlong<K, D>, Error>;
}

/// What [`Sorter::top_k_axis`] finds: the best keys, and where each was along the axis.
pub type TopAlong<K, D> = (Array<K, D>, Array<usize, D>);

impl<K: Key, D: Dimension> BitonicSortAxis<K, D> for ArrayRef<K, D> {
    fn bitonic_sort_axis(&mut self, axis: Axis) -> Result<(), Error> {
        Sorter::new().sort_axis(self, axis).map(drop)
    }

    fn bitonic_argsort_axis(&self, axis: Axis) -> Result<Array<usize, D>, Error> {
        Sorter::new().argsort_axis(self, axis)
    }

    fn bitonic_top_k_axis(&self, axis: Axis, k: usize) -> Result<TopAlong<K, D>, Error> {
        Sorter::new().top_k_axis(self, axis, k)
    }
}

impl Sorter {
    /// Sorts every lane of an axis for itself, in place.
    ///
    /// - Order and result: as in [`Sorter::sort_rows`].
    /// - Memory: for arrays whose lanes lie one after the other, as in [`Sorter::sort_rows`]: such are the last axis of an array in standard
    ///   layout, and the first in Fortran's. For others, a copy of the keys more.
    /// - Errors: [`Error::NoSuchAxis`], and those of [`Sorter::sort_rows`]; the array is as it was then.
    ///
    /// ```
    /// use bitonic::{Order, Sorter};
    /// use ndarray::{Axis, array};
    ///
    /// let mut table = array![[3.5, 1.5], [2.5, 9.5]];
    /// Sorter::new().order(Order::Descending).sort_axis(&mut table, Axis(0))?;
    /// assert_eq!(table, array![[3.5, 9.5], [2.5, 1.5]]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_axis<K: Key, D: Dimension>(
        &self,
        array: &mut ArrayRef<K, D>,
        axis: Axis,
    ) -> Result<Report, Error> {
        let axes = rows_last(array, axis)?;
        let mut rows: ArrayViewMutD<'_, K> = array.view_mut().into_dyn().permuted_axes(IxDyn(&axes));
        let row_length = rows.len_of(Axis(axes.len() - 1));
        if let Some(keys) = rows.as_slice_mut() {
            return self.sort_rows(keys, row_length);
        }
        let mut keys = copied(&rows.view())?;
        let report = self.sort_rows(&mut keys, row_length)?;
        rows.iter_mut().zip(keys).for_each(|(place, key)| *place = key);
        Ok(report)
    }

    /// The index along the axis of every key, in the order of its lane; equal keys come by lowest index. The result has the shape of the
    /// array, which stays as it is.
    ///
    /// - Errors: [`Error::NoSuchAxis`], and those of [`Sorter::argsort_rows`].
    pub fn argsort_axis<K: Key, D: Dimension>(
        &self,
        array: &ArrayRef<K, D>,
        axis: Axis,
    ) -> Result<Array<usize, D>, Error> {
        let rows = Rows::new(array, axis)?;
        let order = rows.with_keys(|keys| self.argsort_rows(keys, rows.row_length))?;
        Ok(rows.array(order, rows.row_length))
    }

    /// The `k` largest keys of every lane and their indices along the axis, the largest first; the smallest ones with
    /// [`order(Order::Ascending)`](Sorter::order). The results have the shape of the array, but for the axis, which has `k` places, or as many
    /// as the array's if that is less.
    ///
    /// - Errors: [`Error::NoSuchAxis`], and those of [`Sorter::top_k_rows`].
    pub fn top_k_axis<K: Key, D: Dimension>(
        &self,
        array: &ArrayRef<K, D>,
        axis: Axis,
        k: usize,
    ) -> Result<TopAlong<K, D>, Error> {
        let rows = Rows::new(array, axis)?;
        let top = rows.with_keys(|keys| self.top_k_rows(keys, rows.row_length, k))?;
        let k = k.min(rows.row_length);
        Ok((rows.array(top.keys, k), rows.array(top.indices, k)))
    }
}

/// The axes with this one last, the others from the longest stride to the shortest.
fn rows_last<K, D: Dimension>(array: &LayoutRef<K, D>, axis: Axis) -> Result<Vec<usize>, Error> {
    let count = array.ndim();
    if axis.index() >= count {
        return Err(Error::NoSuchAxis { axis: axis.index(), axes: count });
    }
    let mut axes: Vec<usize> = (0..count).collect();
    let stride = |other: usize| array.stride_of(Axis(other)).unsigned_abs();
    axes.sort_by_key(|&other| (other == axis.index(), std::cmp::Reverse(stride(other))));
    Ok(axes)
}

/// The keys in the order of the view.
fn copied<K: Key>(rows: &ArrayViewD<'_, K>) -> Result<Vec<K>, Error> {
    let mut keys = try_vec(rows.len())?;
    keys.extend(rows.iter().copied());
    Ok(keys)
}

/// The lanes of an axis as rows, to read.
struct Rows<'a, K> {
    view: ArrayViewD<'a, K>,
    /// Which axis of the array each of the view's is.
    axes: Vec<usize>,
    row_length: usize,
}

impl<'a, K: Key> Rows<'a, K> {
    fn new<D: Dimension>(array: &'a ArrayRef<K, D>, axis: Axis) -> Result<Self, Error> {
        let axes = rows_last(array, axis)?;
        let view = array.view().into_dyn().permuted_axes(IxDyn(&axes));
        Ok(Self { view, axes, row_length: array.len_of(axis) })
    }

    fn with_keys<R>(&self, work: impl FnOnce(&[K]) -> Result<R, Error>) -> Result<R, Error> {
        match self.view.as_slice() {
            Some(keys) => work(keys),
            None => work(&copied(&self.view)?),
        }
    }

    /// Rows of this length as an array whose axes are in the order of the array's.
    fn array<T, D: Dimension>(&self, items: Vec<T>, row_length: usize) -> Array<T, D> {
        let mut shape = self.view.raw_dim();
        shape[self.axes.len() - 1] = row_length;
        let rows = ArrayD::from_shape_vec(shape, items).expect("there are as many items as places");
        let mut back = vec![0; self.axes.len()];
        self.axes.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
        rows.permuted_axes(IxDyn(&back)).into_dimensionality().expect("it has as many axes as the array")
    }
}
