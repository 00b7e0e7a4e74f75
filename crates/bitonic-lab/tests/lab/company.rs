//! A neighbour must not change a result.

use bitonic::{Order, Sorter};
use bitonic_lab::measure::{Failed, HostInput, HostSort, InProcess, Rounds, Timed, Told, View, WarmUp};
use bitonic_lab::statistics::Summary;
use bitonic_testkit::Pattern;
use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;

/// Those who are compared, and a neighbour that leaves its successors what slow sorts on a device leave: a core that went to
/// sleep, and caches without their keys and their code.
enum Sort {
    Standard,
    Bitonic,
    Neighbour(Vec<u64>),
}

impl HostSort<u32> for Sort {
    fn name(&self) -> Cow<'_, str> {
        match self {
            Self::Standard => "std".into(),
            Self::Bitonic => "bitonic".into(),
            Self::Neighbour(_) => "neighbour".into(),
        }
    }

    fn sort(&mut self, keys: &mut [u32], _: usize) -> Result<Told, String> {
        match self {
            Self::Standard => keys.sort_unstable(),
            Self::Bitonic => drop(Sorter::new().threads(1).sort(keys).map_err(|error| error.to_string())?),
            Self::Neighbour(memory) => {
                keys.sort_unstable();
                memory.iter_mut().for_each(|word| *word = word.wrapping_add(1));
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(Told::default())
    }
}

/// Keeps the times of so many rounds.
struct Times {
    rounds: usize,
    seconds: [Vec<f64>; 3],
}

impl View<HostInput<u32>> for Times {
    type Error = Infallible;

    fn starts_round(&mut self, round: usize, _: &mut HostInput<u32>) -> Result<bool, Infallible> {
        Ok(round <= self.rounds)
    }

    fn keeps(
        &mut self,
        contender: usize,
        _: usize,
        outcome: Result<Timed, Failed>,
        _: &HostInput<u32>,
    ) -> Result<(), Infallible> {
        self.seconds[contender].push(outcome.unwrap().seconds);
        Ok(())
    }
}

/// How many times as fast as std bitonic is in this company.
fn ratio(warm_up: WarmUp, neighbour: Option<Sort>) -> f64 {
    let mut input = HostInput::make(1 << 10, Pattern::Random, 1, Order::Ascending).unwrap();
    let mut contenders: Vec<_> =
        [Sort::Standard, Sort::Bitonic].into_iter().chain(neighbour).map(InProcess).collect();
    let mut times = Times { rounds: 41, seconds: Default::default() };
    let Ok(()) = Rounds::new(warm_up).run(&mut input, &mut contenders, &mut times);
    let median = |contender: usize| Summary::of(&times.seconds[contender]).unwrap().median;
    median(0) / median(1)
}

/// Of several attempts one has to do: the machine may be busy with something else.
#[test]
fn the_ratio_to_std_does_not_depend_on_the_company() {
    const SAME: f64 = 1.5;
    let neighbour = || Some(Sort::Neighbour(vec![0; 4 << 20]));
    let mut found = Vec::new();
    for _ in 0..8 {
        let alone = ratio(WarmUp::DEFAULT, None);
        let in_company = ratio(WarmUp::DEFAULT, neighbour());
        found.push((alone, in_company));
        if (1.0 / SAME..SAME).contains(&(in_company / alone)) {
            return;
        }
    }
    let cold = ratio(WarmUp { sorts: 0, ..WarmUp::DEFAULT }, neighbour());
    panic!("alone and in company: {found:?}; in company without a warm-up: {cold}");
}
