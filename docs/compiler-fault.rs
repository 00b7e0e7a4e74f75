//! A program without undefined behaviour that LLVM compiles wrongly: see compiler-fault.md.

use std::mem::MaybeUninit;
const N: usize = 8192;
#[inline(never)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn big(k: *const u64, mut i: usize, a: u64, b: u64, c: u64, d: u64) -> u64 {
    unsafe {
        let r1 = k.read_volatile();
        let r2 = k.add(1).read_volatile();
        let r3 = k.add(2).read_volatile();
        let r4 = k.add(3).read_volatile();
        if i == 0 {
            return r1;
        }
        let mut buffer: MaybeUninit<[u64; N]> = MaybeUninit::uninit();
        let p = buffer.as_mut_ptr().cast::<u64>();
        loop {
            p.add(i).write_volatile(a);
            p.add(i).write_volatile(b);
            p.add(i).write_volatile(c);
            p.add(i).write_volatile(d);
            p.add(i).write_volatile(r1);
            p.add(i).write_volatile(r2);
            p.add(i).write_volatile(r3);
            p.add(i).write_volatile(r4);
            i -= 1;
            if i == 0 {
                break;
            }
        }
        r1 ^ r2 ^ r3 ^ r4
    }
}
fn main() {
    let k = [1u64, 2, 4, 8];
    let f: unsafe extern "C" fn(*const u64, usize, u64, u64, u64, u64) -> u64 = std::hint::black_box(big);
    // SAFETY: four numbers, and an index below N.
    let found = unsafe { f(k.as_ptr(), 3, 1, 2, 3, 4) };
    println!("{found}, expected 15");
}
