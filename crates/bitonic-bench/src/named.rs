//! Things that are chosen by name, and lists of them on the command line.

use crate::element::Element;
use crate::peers::{Mode, Sort};
use bitonic_testkit::Pattern;
use std::str::FromStr;

/// A thing that is chosen by its name.
pub trait Named: Copy + 'static {
    /// What such a thing is called in a message.
    const WHAT: &'static str;
    /// Every one.
    const ALL: &'static [Self];

    /// Its name.
    fn name(self) -> &'static str;
}

/// A list of names between commas, or `all`.
///
/// ```
/// use bitonic_bench::element::Element;
/// use bitonic_bench::named::List;
///
/// assert_eq!("u32,f64".parse::<List<Element>>()?.0, [Element::U32, Element::F64]);
/// assert_eq!("all".parse::<List<Element>>()?.0, Element::ALL);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<T: Named> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(T::ALL.to_vec()));
        }
        let find = |name: &str| {
            T::ALL.iter().copied().find(|item| item.name() == name.trim()).ok_or_else(|| unknown::<T>(name))
        };
        text.split(',').map(find).collect::<Result<_, _>>().map(Self)
    }
}

fn unknown<T: Named>(name: &str) -> String {
    let known: Vec<&str> = T::ALL.iter().map(|item| item.name()).collect();
    format!("unknown {} '{name}': use all, or some of {} with commas between", T::WHAT, known.join(", "))
}

impl Named for Element {
    const WHAT: &'static str = "type";
    const ALL: &'static [Self] = Element::ALL;

    fn name(self) -> &'static str {
        Element::name(self)
    }
}

impl Named for Pattern {
    const WHAT: &'static str = "pattern";
    const ALL: &'static [Self] = Pattern::ALL;

    fn name(self) -> &'static str {
        Pattern::name(self)
    }
}

impl Named for Mode {
    const WHAT: &'static str = "mode";
    const ALL: &'static [Self] = Mode::ALL;

    fn name(self) -> &'static str {
        Mode::name(self)
    }
}

impl Named for Sort {
    const WHAT: &'static str = "contender";
    const ALL: &'static [Self] = Sort::ALL;

    fn name(self) -> &'static str {
        Sort::name(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_alone_and_in_a_list() {
        fn check<T: Named + PartialEq + std::fmt::Debug>() {
            for &item in T::ALL {
                assert_eq!(item.name().parse(), Ok(List(vec![item])));
            }
            let names: Vec<&str> = T::ALL.iter().map(|item| item.name()).collect();
            assert_eq!(names.join(",").parse(), Ok(List(T::ALL.to_vec())));
            assert_eq!("all".parse(), Ok(List(T::ALL.to_vec())));
        }
        check::<Element>();
        check::<Pattern>();
        check::<Mode>();
        check::<Sort>();
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "u32,u33".parse::<List<Element>>().unwrap_err();
        assert!(error.starts_with("unknown type 'u33': use all, or some of u32, i32"), "{error}");
    }
}
