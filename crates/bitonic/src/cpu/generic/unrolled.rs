//! Loops over the rows in registers, written out.
//!
//! A row whose number is found at run time has to be in memory. Where rows are single registers the compiler unrolls such loops by itself; where a
//! row is two registers it finds them too long.

/// Runs the code for every number below a constant, which is 16 at most.
macro_rules! unrolled {
    ($number:ident below $count:expr => $code:block) => {
        unrolled!(@ $number below $count => $code; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $number:ident below $count:expr => $code:block; $($value:literal)+) => {
        const { assert!($count <= 16) };
        $(if $value < $count {
            let $number: usize = $value;
            $code
        })+
    };
}

pub(super) use unrolled;
