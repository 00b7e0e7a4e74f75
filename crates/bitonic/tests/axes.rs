//! Arrays of the crate `ndarray`, held against lanes that the standard library sorts.
#![cfg(feature = "ndarray")]

use bitonic::{BitonicSortAxis, Error, Order, Sorter};
use bitonic_testkit::Pattern;
use ndarray::{Array, Array1, Array3, ArrayD, Axis, Dimension, IxDyn, ShapeBuilder, array, s};

/// Keys among which many are equal, so that indices tell ties.
fn keys(shape: &[usize], fortran: bool) -> ArrayD<f32> {
    let random: Vec<f32> = Pattern::Random.generate(shape.iter().product(), 11);
    let few = random.into_iter().map(|key| (key * 9.0).round()).collect();
    ArrayD::from_shape_vec(IxDyn(shape).set_f(fortran), few).unwrap()
}

fn expected_order(lane: &[f32], order: Order) -> Vec<usize> {
    let mut places: Vec<usize> = (0..lane.len()).collect();
    match order {
        Order::Ascending => places.sort_by(|&one, &other| lane[one].total_cmp(&lane[other])),
        Order::Descending => places.sort_by(|&one, &other| lane[other].total_cmp(&lane[one])),
    }
    places
}

/// Every operation along every axis of an array or a view.
fn check<D: Dimension>(given: &ndarray::ArrayRef<f32, D>, what: &str) {
    for axis in (0..given.ndim()).map(Axis) {
        for order in [Order::Ascending, Order::Descending] {
            let sorter = Sorter::new().order(order);
            let mut sorted = given.to_owned();
            sorter.sort_axis(&mut sorted, axis).unwrap();
            let indices = sorter.argsort_axis(given, axis).unwrap();
            assert_eq!((sorted.shape(), indices.shape()), (given.shape(), given.shape()), "{what}");
            for k in [0, 2, 1000] {
                let (best, places) = sorter.top_k_axis(given, axis, k).unwrap();
                let mut shape = given.raw_dim();
                shape[axis.index()] = k.min(given.len_of(axis));
                assert_eq!((best.raw_dim(), places.raw_dim()), (shape.clone(), shape), "{what}");
                let found = best.lanes(axis).into_iter().zip(places.lanes(axis));
                for (lane, (best, places)) in given.lanes(axis).into_iter().zip(found) {
                    let mut wanted = expected_order(&lane.to_vec(), order);
                    wanted.truncate(k);
                    assert_eq!(places.to_vec(), wanted, "the best {k} along {axis:?} of {what}");
                    assert!(best.iter().zip(wanted).all(|(&best, place)| best == lane[place]), "{what}");
                }
            }
            let found = sorted.lanes(axis).into_iter().zip(indices.lanes(axis));
            for (lane, (sorted, indices)) in given.lanes(axis).into_iter().zip(found) {
                let wanted = expected_order(&lane.to_vec(), order);
                assert_eq!(indices.to_vec(), wanted, "{axis:?} {order:?} of {what}");
                assert!(
                    sorted.iter().zip(wanted).all(|(&key, place)| key == lane[place]),
                    "{axis:?} of {what}"
                );
            }
        }
    }
}

#[test]
fn every_axis_of_arrays_in_both_layouts() {
    for shape in [&[7][..], &[40, 30], &[5, 1, 9], &[4, 300, 6], &[2, 3, 4, 5], &[3, 0, 2], &[0], &[1, 1]] {
        for fortran in [false, true] {
            check(&keys(shape, fortran), &format!("{shape:?}, Fortran's layout: {fortran}"));
        }
    }
}

#[test]
fn views_with_gaps_turned_around_and_with_axes_exchanged() {
    let all: Array3<f32> = keys(&[9, 20, 11], false).into_dimensionality().unwrap();
    check(&all.slice(s![1..8;2, .., ..;-3]), "steps");
    check(&all.view().permuted_axes([2, 0, 1]), "axes exchanged");
    check(&all.slice(s![.., 4, ..;-1]), "an axis less");
    check(&array![[1.5_f32], [0.5]].broadcast((2, 5)).unwrap(), "one key for many places");
}

/// A view is sorted where it is, and what is beside it stays.
#[test]
fn in_place_and_only_there() {
    let before: Array3<f32> = keys(&[9, 20, 11], false).into_dimensionality().unwrap();
    let part = s![1..8;2, 3..19, ..;-3];
    for axis in (0..3).map(Axis) {
        let mut array = before.clone();
        let mut expected = before.slice(part).to_owned();
        for mut lane in expected.lanes_mut(axis) {
            let mut keys = lane.to_vec();
            keys.sort_by(f32::total_cmp);
            lane.assign(&Array1::from(keys));
        }
        array.slice_mut(part).bitonic_sort_axis(axis).unwrap();
        assert_eq!(array.slice(part), expected, "{axis:?}");
        array.slice_mut(part).assign(&before.slice(part));
        assert_eq!(array, before, "{axis:?}");
    }
}

/// Lanes that lie one after the other need no copy, and so no memory for 32-bit keys.
#[test]
fn contiguous_lanes_are_sorted_without_a_copy() {
    for (fortran, axis) in [(false, Axis(1)), (true, Axis(0))] {
        let mut array = keys(&[30, 30], fortran);
        let address = array.as_ptr();
        let report = Sorter::new().sort_axis(&mut array, axis).unwrap();
        assert_eq!((report.len(), report.plan.memory.host, array.as_ptr()), (900, 0, address));
    }
}

#[test]
fn the_sorters_options_and_methods_without_options() {
    let mut table = array![[1.5_f32, -f32::NAN, 3.5], [f32::NAN, 2.5, 0.5]];
    Sorter::new().nan_last(true).sort_axis(&mut table, Axis(1)).unwrap();
    assert_eq!(table.slice(s![.., ..2]), array![[1.5, 3.5], [0.5, 2.5]]);
    let numbers: Array<u8, _> = array![[3, 1], [2, 2]];
    assert_eq!(numbers.bitonic_argsort_axis(Axis(0)).unwrap(), array![[1, 0], [0, 1]]);
    assert_eq!(numbers.bitonic_top_k_axis(Axis(0), 1).unwrap(), (array![[3, 2]], array![[0, 1]]));
}

#[test]
fn an_axis_that_is_not_there_is_an_error() {
    let mut table = array![[3, 1], [2, 2]];
    let error = Error::NoSuchAxis { axis: 2, axes: 2 };
    assert_eq!(table.bitonic_sort_axis(Axis(2)), Err(error.clone()));
    assert_eq!(table.bitonic_argsort_axis(Axis(2)), Err(error.clone()));
    assert_eq!(table.bitonic_top_k_axis(Axis(2), 1), Err(error));
    assert_eq!(table, array![[3, 1], [2, 2]]);
    assert!(ndarray::arr0(1).bitonic_sort_axis(Axis(0)).is_err());
}
