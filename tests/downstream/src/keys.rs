//! Ordered bits.

use bitonic::Order;
use bitonic::key::{KeyForm, KeyType};

pub(crate) fn keys() {
    let map = bitonic::key::BitMap::<u32>::new(KeyForm::Float, Order::Ascending);
    assert!(!bitonic::key::BitMap::is_identity(map));
    assert_eq!(bitonic::key::BitMap::magnitude(map), 0x7fff_ffff);
    assert_eq!(bitonic::key::BitMap::flip(map), 0x8000_0000);
    assert_eq!(bitonic::key::BitMap::skipped(map), 0);
    let bits = 1.5_f32.to_bits();
    let ordered = bitonic::key::BitMap::to_ordered(map, bits);
    assert_eq!(bitonic::key::BitMap::from_ordered(map, ordered), bits);

    let mut floats = [2.5_f32, -1.0];
    let any = bitonic::key::Key::any_mut(&mut floats);
    assert_eq!(bitonic::key::KeysMut::len(&any), 2);
    assert!(!bitonic::key::KeysMut::is_empty(&any));
    bitonic::with_keys!(any, keys => bitonic::sort(keys));
    assert_eq!(floats, [-1.0, 2.5]);

    assert_eq!(bitonic::key::Bits::spread_sign(0x80_u8), 0xff);
    assert_eq!(<u16 as bitonic::key::Bits>::truncate(0x1_2345), 0x2345);
    assert_eq!(bitonic::key::Bits::widen(7_u8), 7);
    assert_eq!(bitonic::key::Bits::distance(9_u8, 3, 1), 3);
    assert_eq!(bitonic::key::Bits::wrapping_sub(3_u8, 9), 250);

    assert_eq!(bitonic::key::Key::to_raw_bits(-1_i8), 0xff);
    assert_eq!(<i8 as bitonic::key::Key>::from_raw_bits(0xff), -1);
    assert_eq!(bitonic::key::Key::to_ordered_bits(-1_i8), 0x7f);
    assert_eq!(<i8 as bitonic::key::Key>::from_ordered_bits(0x7f), -1);

    assert_eq!(bitonic::key::KeyType::name(KeyType::F64), "f64");
    assert_eq!(bitonic::key::KeyType::bytes(KeyType::F64), 8);
    assert_eq!(bitonic::key::KeyType::form(KeyType::F64), KeyForm::Float);
    assert_eq!(bitonic::with_key_type!(KeyType::U16, K => size_of::<K>()), 2);

    let mut small = [1.5, -2.0].map(bitonic::key::F8E4M3::from_f64);
    bitonic::sort(&mut small);
    assert_eq!(small.map(bitonic::key::F8E4M3::to_f32), [-2.0, 1.5]);
    let least = bitonic::key::F8E4M3::from_bits(bitonic::key::F8E4M3::to_bits(small[0]));
    assert!(bitonic::key::F8E4M3::is_sign_negative(least));
    assert!(!bitonic::key::F8E4M3::is_nan(least) && !bitonic::key::F8E4M3::is_infinite(least));
    let large = bitonic::key::F8E5M2::from_f64(1e9);
    assert_eq!(bitonic::key::F8E5M2::to_f32(large), f32::INFINITY);
    let large = bitonic::key::F8E5M2::from_bits(bitonic::key::F8E5M2::to_bits(large));
    assert!(bitonic::key::F8E5M2::is_infinite(large) && !bitonic::key::F8E5M2::is_nan(large));
    assert!(!bitonic::key::F8E5M2::is_sign_negative(large));

    let mut keys = [0.5_f32, -2.0];
    bitonic::key::with_ordered_bits(&mut keys, Order::Ascending, |bits| bits.sort_unstable());
    assert_eq!(keys, [-2.0, 0.5]);
}
