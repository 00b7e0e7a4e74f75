//! Between host memory and buffers.

use crate::device_or_skip;
use bitonic::Error;
use std::thread;
use std::time::Duration;

/// Transfers of this size and more go through pinned memory in chunks of this size.
const CHUNK: usize = 8 << 20;

fn pattern(bytes: usize, seed: u32) -> Vec<u8> {
    (seed..).map(|index| (index.wrapping_mul(0x9e37_79b9) >> 24) as u8).take(bytes).collect()
}

#[test]
fn what_goes_up_comes_down_at_every_size() {
    let device = device_or_skip!();
    for bytes in [0, 1, 255, (256 << 10) - 1, 256 << 10, CHUNK - 1, CHUNK, 3 * CHUNK + 17, 5 * CHUNK] {
        let sent = pattern(bytes, 1);
        let buffer = device.allocate(bytes).unwrap();
        let up = device.upload(&sent, &buffer).unwrap();
        let mut received = vec![0; bytes];
        let down = device.download(&buffer, &mut received).unwrap();
        assert!(sent == received, "{bytes} bytes");
        assert_eq!((up.bytes, down.bytes), (bytes, bytes));
        for transfer in [up, down] {
            assert_eq!(transfer.elapsed == Duration::ZERO, bytes == 0, "{transfer:?}");
        }
    }
}

#[test]
fn a_transfer_touches_no_more_than_its_own_bytes() {
    let device = device_or_skip!();
    for (whole, part) in [(1000, 10), (3 * CHUNK, CHUNK + 10)] {
        let buffer = device.allocate(whole).unwrap();
        device.upload(&vec![7; whole], &buffer).unwrap();
        device.upload(&vec![8; part], &buffer).unwrap();
        let mut received = vec![0; whole];
        device.download(&buffer, &mut received[..whole - 100]).unwrap();
        assert!(received[..part].iter().all(|&byte| byte == 8));
        assert!(received[part..whole - 100].iter().all(|&byte| byte == 7));
        assert!(received[whole - 100..].iter().all(|&byte| byte == 0));
    }
}

#[test]
fn more_than_the_buffer_holds_is_refused() {
    let device = device_or_skip!();
    let buffer = device.allocate(10).unwrap();
    for refused in [device.upload(&[1; 11], &buffer), device.download(&buffer, &mut [1; 11])] {
        let Err(Error::Device { reason, .. }) = refused else { panic!("11 of 10 bytes were taken") };
        assert_eq!(reason, "11 bytes do not fit a buffer of 10");
    }
}

/// More at once than there is pinned memory for: those that find none go without.
#[test]
fn transfers_of_many_threads_do_not_meet() {
    let device = device_or_skip!();
    thread::scope(|scope| {
        for number in 0..8 {
            let device = &device;
            scope.spawn(move || {
                let sent = pattern(2 * CHUNK + 1, number);
                let buffer = device.allocate(sent.len()).unwrap();
                let mut received = vec![0; sent.len()];
                device.upload(&sent, &buffer).unwrap();
                device.download(&buffer, &mut received).unwrap();
                assert!(sent == received, "thread {number}");
            });
        }
    });
}
