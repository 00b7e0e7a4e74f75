//! The one loop of every measurement: in each round every contender takes its turn on the same keys.

use super::contender::{Contender, Failed, Gauge, Timed, WarmUp};
use super::counters::Counters;

/// Who asks for a measurement. A view says how many rounds there are and who takes part, and keeps what was measured.
pub trait View<Input: ?Sized> {
    /// Why the view ends the measurement.
    type Error;

    /// Says whether there is a round of this number, from 1 on. The view may change the keys before it.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn starts_round(&mut self, round: usize, input: &mut Input) -> Result<bool, Self::Error>;

    /// Says whether a contender takes its turn in this round.
    fn takes_turn(&mut self, _contender: usize, _round: usize) -> bool {
        true
    }

    /// Hears whose turn it is.
    fn hears(&mut self, _name: &str) {}

    /// Keeps what a contender took, the moment it is known. A contender that failed gets no more turns.
    ///
    /// # Errors
    ///
    /// Why the others cannot go on.
    fn keeps(
        &mut self,
        contender: usize,
        round: usize,
        outcome: Result<Timed, Failed>,
        input: &Input,
    ) -> Result<(), Self::Error>;

    /// Hears that a round is over.
    ///
    /// # Errors
    ///
    /// Why there is no other one.
    fn ends_round(&mut self, _round: usize) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// How a measurement is made.
#[derive(Debug)]
pub struct Rounds {
    /// How contenders warm up before every sort that counts.
    pub warm_up: WarmUp,
    /// The processor's counters, if they are wanted.
    pub counters: Option<Counters>,
    /// Whether every result is verified.
    pub verify: bool,
}

impl Rounds {
    /// With this warm-up, without counters, and with every result verified.
    pub fn new(warm_up: WarmUp) -> Self {
        Self { warm_up, counters: None, verify: true }
    }

    /// Lets the contenders take turns until the view ends it. What disturbs the machine for a while disturbs all alike. The
    /// order within a round is another one every time, so that nobody always follows the same neighbour.
    ///
    /// # Errors
    ///
    /// The view's.
    pub fn run<Input: ?Sized, C: Contender<Input>, V: View<Input>>(
        &mut self,
        input: &mut Input,
        contenders: &mut [C],
        view: &mut V,
    ) -> Result<(), V::Error> {
        let mut states = vec![State::New; contenders.len()];
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        for round in 1.. {
            if !view.starts_round(round, input)? {
                break;
            }
            shuffle(&mut order, round);
            for &index in &order {
                if states[index] == State::Out || !view.takes_turn(index, round) {
                    continue;
                }
                let contender = &mut contenders[index];
                view.hears(&contender.name());
                let outcome = self.turn(input, contender, states[index]);
                states[index] = if outcome.is_ok() { State::Known } else { State::Out };
                view.keeps(index, round, outcome, input)?;
            }
            view.ends_round(round)?;
        }
        Ok(())
    }

    fn turn<Input: ?Sized, C: Contender<Input>>(
        &mut self,
        input: &mut Input,
        contender: &mut C,
        state: State,
    ) -> Result<Timed, Failed> {
        let mut warm_up = self.warm_up;
        if state == State::New {
            contender.prepare(input)?;
            warm_up = warm_up.first();
        }
        let timed = contender.run(input, &mut Gauge::new(warm_up, self.counters.as_mut()))?;
        if self.verify {
            contender.verify(input)?;
        }
        Ok(timed)
    }
}

/// What became of a contender so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has not had a turn.
    New,
    /// It has sorted.
    Known,
    /// It has failed.
    Out,
}

/// Another order for every round, and the same one whenever a measurement is repeated.
fn shuffle(order: &mut [usize], round: usize) {
    // Steele, Lea and Flood's SplitMix64: good enough to mix a handful of contenders.
    let mut state = round as u64;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    for last in (1..order.len()).rev() {
        order.swap(last, (next() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;
    use std::collections::HashSet;
    use std::time::Duration;

    /// Notes in the input that it ran, and does what its name says.
    struct Fake(&'static str);

    impl Contender<Vec<&'static str>> for Fake {
        fn name(&self) -> Cow<'_, str> {
            self.0.into()
        }

        fn prepare(&mut self, _: &mut Vec<&'static str>) -> Result<(), Failed> {
            if self.0 == "refuses" { Err(Failed::LeftOut("no".to_owned())) } else { Ok(()) }
        }

        fn run(&mut self, log: &mut Vec<&'static str>, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
            gauge.last_of(|_, _| {
                log.push(self.0);
                Ok(Timed::default())
            })
        }

        fn verify(&mut self, _: &mut Vec<&'static str>) -> Result<(), Failed> {
            if self.0 == "wrong" { Err(Failed::Wrong("here".to_owned())) } else { Ok(()) }
        }
    }

    /// Keeps who was measured in which round.
    struct Kept(Vec<(usize, usize, Result<Timed, Failed>)>);

    impl View<Vec<&'static str>> for Kept {
        type Error = ();

        fn starts_round(&mut self, round: usize, _: &mut Vec<&'static str>) -> Result<bool, ()> {
            Ok(round <= 3)
        }

        fn takes_turn(&mut self, contender: usize, round: usize) -> bool {
            (contender, round) != (0, 2)
        }

        fn keeps(
            &mut self,
            contender: usize,
            round: usize,
            outcome: Result<Timed, Failed>,
            _: &Vec<&'static str>,
        ) -> Result<(), ()> {
            self.0.push((contender, round, outcome));
            Ok(())
        }
    }

    #[test]
    fn contenders_take_turns_and_who_fails_is_out() {
        let (mut log, mut kept) = (Vec::new(), Kept(Vec::new()));
        let mut contenders = ["first", "second", "refuses", "wrong"].map(Fake);
        let warm_up = WarmUp { time: Duration::ZERO, long: Duration::MAX, ..WarmUp::DEFAULT };
        Rounds::new(warm_up).run(&mut log, &mut contenders, &mut kept).unwrap();
        let rounds = |contender: usize| -> Vec<usize> {
            kept.0.iter().filter(|kept| kept.0 == contender && kept.2.is_ok()).map(|kept| kept.1).collect()
        };
        assert_eq!([rounds(0), rounds(1), rounds(2), rounds(3)], [vec![1, 3], vec![1, 2, 3], vec![], vec![]]);
        let failed: HashSet<_> =
            kept.0.iter().filter_map(|kept| Some((kept.0, kept.1, kept.2.clone().err()?))).collect();
        let expected = [(2, 1, Failed::LeftOut("no".to_owned())), (3, 1, Failed::Wrong("here".to_owned()))];
        assert_eq!(failed, HashSet::from(expected));
        // Every sort that counts follows one of the same contender.
        let times = |name: &str| log.iter().filter(|one| **one == name).count();
        assert_eq!([times("first"), times("second"), times("refuses"), times("wrong")], [4, 6, 0, 2]);
        assert!(log.chunks(2).all(|pair| pair[0] == pair[1]), "{log:?}");
    }

    #[test]
    fn every_round_has_an_order_of_its_own_with_everybody_in_it() {
        let mut orders = HashSet::new();
        for round in 1..=50 {
            let mut order = [0, 1, 2, 3, 4];
            shuffle(&mut order, round);
            orders.insert(order);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4]);
        }
        assert!(orders.len() > 25, "{}", orders.len());
    }
}
