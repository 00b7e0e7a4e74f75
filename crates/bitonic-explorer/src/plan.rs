//! The passes in which a machine does the network, and what the library does there by default: planned by the library itself.

use crate::machine::{Device, Machine, Own, lanes_log2};
use crate::runs::{Columns, Run, Tile, over_memory, step_by_step};
use bitonic::device::{self, DeviceFacts, Tuning};
use bitonic::plan::{Algorithm, KernelPlan, Launch, Limits, Pass, Place, Plan, Step, passes};
use bitonic::{Request, Segments};
use serde::{Deserialize, Serialize};

/// The most keys that the page plans for: its program counts with 32 bits.
const MAX_KEYS: u64 = 1 << 31;

/// The most bytes of keys for which it asks the library's planner, which adds up memory in the same 32 bits.
const MAX_BYTES: u64 = 1 << 30;

/// The most steps of a pass that somebody's own kernel makes in registers alone.
const OWN_REGISTER_STEPS: u32 = 6;

/// What is to be planned.
#[derive(Clone, Debug, Deserialize)]
pub struct Asked {
    /// How many keys.
    n: u64,
    /// The bytes of a key.
    key_bytes: u32,
    /// For which machine.
    machine: Machine,
}

/// The steps of the network, the passes they are done in, and where keys sit meanwhile.
#[derive(Serialize)]
pub(crate) struct Planned {
    merges: u32,
    steps: Vec<DrawnStep>,
    passes: Vec<DrawnPass>,
    runs: Vec<Run>,
    /// What a pass reads and writes.
    bytes_of_pass: u64,
    /// How the network is cut.
    cut: Own,
    /// What the fast memory of a tile is called.
    local: &'static str,
    /// The network in place.
    in_place: Cost,
    /// What the library does unless it is asked for the network; nothing where it is the same, or not known.
    default: Option<DefaultSort>,
    /// The bytes that the machine's copies read and write in a second, where that is known.
    copy_bytes_per_second: Option<f64>,
}

#[derive(Serialize)]
struct DrawnStep {
    merge: u32,
    /// Whether it is the flip that begins the merge.
    flip: bool,
    /// The number of low index bits in which partners can differ.
    span: u32,
}

#[derive(Serialize)]
struct DrawnPass {
    place: String,
    /// Its first step, counted from 0, and the one after its last.
    steps: [u32; 2],
    what: String,
}

/// What a sort moves, and how long that takes.
#[derive(Clone, Copy, Serialize)]
struct Cost {
    passes: Option<usize>,
    /// What all passes read and write.
    bytes: Option<u64>,
    /// The time in which copies move these bytes: no sort with these passes takes less.
    least_seconds: Option<f64>,
    /// What the library's plan predicts.
    predicted_seconds: Option<f64>,
}

/// Another way than the network in place.
#[derive(Serialize)]
struct DefaultSort {
    algorithm: String,
    /// The library's plan in words.
    text: Option<String>,
    cost: Cost,
}

/// Plans.
pub(crate) fn plan(asked: Asked) -> Result<Planned, String> {
    let Asked { n, key_bytes, machine } = asked;
    if n > MAX_KEYS {
        return Err(format!("the page plans for up to {MAX_KEYS} keys"));
    }
    let keys = n as usize;
    match machine {
        Machine::Own(own) => Ok(drawn(keys, key_bytes, &Kernels::Own(own), "local memory")),
        Machine::Processor { vector_bytes } => Ok(on_processor(keys, key_bytes, vector_bytes)),
        Machine::Device(device) => on_device(keys, key_bytes, &device),
    }
}

/// What makes the passes.
enum Kernels<'a> {
    /// The library's, of a plan.
    Planned(&'a KernelPlan, &'a DeviceFacts),
    /// Somebody's.
    Own(Own),
    /// The vectors of the CPU engine, with so many lanes.
    Vectors(Columns),
    /// The scalar network of the CPU engine.
    Scalar(Limits),
}

impl Kernels<'_> {
    fn cut(&self) -> Own {
        let own = |limits: Limits, held_log2, lanes_log2| Own {
            tile_log2: limits.tile_log2,
            fused_steps: limits.fused_steps,
            held_log2,
            lanes_log2,
        };
        match *self {
            Self::Planned(kernels, facts) => {
                let tile = kernels.launches.iter().find(|launch| launch.place == Some(Place::Tile));
                let held = tile.map_or(1, |tile| held_log2(tile, kernels));
                own(kernels.limits, held, lanes_log2(facts.engine))
            }
            Self::Own(own) => own,
            Self::Vectors(columns) => {
                let tile_log2 = columns.tile_log2();
                own(Limits { tile_log2, fused_steps: 3 }, 4, columns.lanes_log2)
            }
            Self::Scalar(limits) => own(limits, 1, 0),
        }
    }

    /// The passes of n keys, with the runs of each.
    fn passes(&self, n: usize) -> Vec<(Pass, Option<String>, Vec<Run>)> {
        let merges = Step::merges(n);
        let cut = self.cut();
        let limits = Limits { tile_log2: cut.tile_log2, fused_steps: cut.fused_steps };
        if let Self::Planned(kernels, facts) = *self
            && let [launch] = &kernels.launches[..]
            && launch.cluster > 1
        {
            let tile = tile_of(launch, kernels, facts);
            let pass = Pass { place: Place::Tile, steps: 0..Step::count(n) };
            return vec![(pass, Some(launch.words.clone()), tile.cluster(merges))];
        }
        let with_runs = |pass: Pass| {
            let runs = self.runs(&pass, &cut, merges);
            (pass, None, runs)
        };
        passes(n, limits).map(with_runs).collect()
    }

    fn runs(&self, pass: &Pass, cut: &Own, merges: u32) -> Vec<Run> {
        let (steps, is_first) = (pass.steps.clone(), pass.steps.start == 0);
        let log2 = cut.tile_log2.min(merges);
        let tile = Tile { log2, held_log2: cut.held_log2.clamp(1, log2.max(1)), lanes_log2: cut.lanes_log2 };
        match (pass.place, self) {
            (Place::Tile, Self::Scalar(_)) => step_by_step(steps),
            (Place::Tile, Self::Vectors(columns)) if is_first => columns.sort(merges),
            (Place::Tile, Self::Vectors(columns)) => columns.merge(steps.start),
            (Place::Tile, _) if is_first => tile.sort(merges),
            (Place::Tile, _) => tile.merge(steps.start),
            (_, Self::Planned(kernels, _)) => {
                // A pass that has more steps than its work-items have bits exchanges once.
                let launch = kernels.launches.iter().find(|launch| launch.steps == steps);
                let held = launch.map_or(steps.len() as u32, |launch| held_log2(launch, kernels));
                over_memory(steps, held)
            }
            (_, Self::Own(_)) if steps.len() as u32 > OWN_REGISTER_STEPS => {
                let half = (steps.len() as u32).div_ceil(2);
                over_memory(steps, half)
            }
            _ => over_memory(steps.clone(), steps.len() as u32),
        }
    }
}

/// The base-2 logarithm of the elements that a work-item holds.
fn held_log2(launch: &Launch, kernels: &KernelPlan) -> u32 {
    (launch.held_bytes / kernels.element_bytes.max(1)).max(1).ilog2()
}

fn tile_of(launch: &Launch, kernels: &KernelPlan, facts: &DeviceFacts) -> Tile {
    let held_log2 = held_log2(launch, kernels);
    Tile { log2: held_log2 + launch.group_size.ilog2(), held_log2, lanes_log2: lanes_log2(facts.engine) }
}

/// The network of n keys in the passes of these kernels.
fn drawn(n: usize, key_bytes: u32, kernels: &Kernels<'_>, local: &'static str) -> Planned {
    let cut = kernels.cut();
    let tile = cut.tile_log2.min(Step::merges(n));
    let drawn_step = |number| {
        let step = Step::new(number);
        let flip = Step::first_of_merge(step.merge()) == step;
        DrawnStep { merge: step.merge(), flip, span: step.span() }
    };
    let words = |pass: &Pass| match pass.place {
        // The page shows the steps themselves: no need to list their partners.
        Place::Memory => {
            let (merge, steps) = (Step::new(pass.steps.start).merge(), pass.steps.len());
            let plural = if steps == 1 { "" } else { "s" };
            format!("merge {merge}: {steps} step{plural} between tiles")
        }
        _ => pass.words(tile),
    };
    let (mut drawn_passes, mut runs) = (Vec::new(), Vec::new());
    for (pass, own_words, of_pass) in kernels.passes(n) {
        let what = own_words.unwrap_or_else(|| words(&pass));
        let steps = [pass.steps.start, pass.steps.end];
        drawn_passes.push(DrawnPass { place: pass.place.to_string(), steps, what });
        runs.extend(of_pass);
    }
    let bytes_of_pass = 2 * n as u64 * u64::from(key_bytes);
    let bytes = bytes_of_pass * drawn_passes.len() as u64;
    Planned {
        merges: Step::merges(n),
        steps: (0..Step::count(n)).map(drawn_step).collect(),
        in_place: Cost {
            passes: Some(drawn_passes.len()),
            bytes: Some(bytes),
            least_seconds: None,
            predicted_seconds: None,
        },
        passes: drawn_passes,
        runs,
        bytes_of_pass,
        cut,
        local,
        default: None,
        copy_bytes_per_second: None,
    }
}

/// On a processor, through the CPU engine: its vectors have lanes of 2, 4 and 8 bytes, and those of 64 bytes take keys of 16 in two of them.
/// Other keys go through the scalar network.
fn on_processor(n: usize, key_bytes: u32, vector_bytes: u32) -> Planned {
    const CACHE: &str = "first-level cache";
    if !matches!((key_bytes, vector_bytes), (2 | 4 | 8, _) | (16, 64)) {
        // As the CPU engine cuts it: tiles of 16 KiB.
        let limits = Limits { tile_log2: (1_u32 << 14).div_ceil(key_bytes.max(1)).ilog2(), fused_steps: 1 };
        return drawn(n, key_bytes, &Kernels::Scalar(limits), CACHE);
    }
    let planned = drawn(n, key_bytes, &Kernels::Vectors(Columns::of(key_bytes, vector_bytes)), CACHE);
    let is_tile = Step::merges(n) <= planned.cut.tile_log2;
    let cost = Cost { passes: None, bytes: None, least_seconds: None, predicted_seconds: None };
    let algorithm = match key_bytes {
        2 => format!("{}; many keys: {}", Algorithm::Partition, Algorithm::Counting),
        _ => Algorithm::Partition.to_string(),
    };
    Planned { default: (!is_tile).then_some(DefaultSort { algorithm, text: None, cost }), ..planned }
}

/// On a device: the network as the library launches it, and what it launches by default.
fn on_device(n: usize, key_bytes: u32, device: &Device) -> Result<Planned, String> {
    let facts = device.facts()?;
    // Longer arrays are cut as the longest are for which the planner's sums fit 32 bits.
    let asked = n.min((MAX_BYTES / u64::from(key_bytes.max(1))) as usize);
    let is_whole = asked == n;
    let request = request(asked, key_bytes)?;
    let make = |oblivious| device::plan(&Request { oblivious, ..request }, &facts, &Tuning::default());
    // An oblivious sort is the network in place. Where such sorts are refused, the default may be the network as well.
    let default = make(false).map_err(|error| error.to_string())?;
    let in_place = match make(true) {
        Ok(plan) => network_of(&plan),
        Err(_) => network_of(&default),
    };
    let (kernels, plan) = in_place.ok_or("the library does not sort these keys in place on this device")?;
    let planned = drawn(n, key_bytes, &Kernels::Planned(&kernels, &facts), "local memory");
    let speed = facts.copy_bytes_per_second;
    let least = |bytes: u64| speed.map(|speed| bytes as f64 / speed);
    let predicted = |plan: Option<&Plan>| plan.filter(|_| is_whole)?.predicted.map(|time| time.as_secs_f64());
    let bytes = planned.in_place.bytes.unwrap_or(0);
    let is_other = default.algorithm != Algorithm::Network && is_whole;
    let other = is_other.then(|| {
        let bytes = default.bytes_of_pass() as u64 * default.pass_count() as u64;
        DefaultSort {
            algorithm: default.algorithm.to_string(),
            text: Some(default.to_string()),
            cost: Cost {
                passes: Some(default.pass_count()),
                bytes: Some(bytes),
                least_seconds: least(bytes),
                predicted_seconds: predicted(Some(&default)),
            },
        }
    });
    Ok(Planned {
        in_place: Cost {
            least_seconds: least(bytes),
            predicted_seconds: predicted(plan.as_ref()),
            ..planned.in_place
        },
        default: other,
        copy_bytes_per_second: speed,
        ..planned
    })
}

/// The kernels of the network among those of a plan, and the plan if they are the ones that run.
fn network_of(plan: &Plan) -> Option<(KernelPlan, Option<Plan>)> {
    let kernels = plan.kernels.as_ref()?;
    if kernels.algorithm == Algorithm::Network {
        return Some((KernelPlan::clone(kernels), Some(plan.clone())));
    }
    let network = kernels.fallbacks().find(|kernels| kernels.algorithm == Algorithm::Network)?;
    Some((KernelPlan::clone(network), None))
}

/// The sort of n unsigned integers.
fn request(n: usize, key_bytes: u32) -> Result<Request, String> {
    let segments = Segments::one(n);
    Ok(match key_bytes {
        1 => Request::keys::<u8>(segments),
        2 => Request::keys::<u16>(segments),
        4 => Request::keys::<u32>(segments),
        8 => Request::keys::<u64>(segments),
        16 => Request::keys::<u128>(segments),
        other => return Err(format!("there are no keys of {other} bytes")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::known;
    use crate::runs::Brought;

    fn of(n: u64, key_bytes: u32, machine: Machine) -> Planned {
        plan(Asked { n, key_bytes, machine }).unwrap()
    }

    fn own(tile_log2: u32, fused_steps: u32, held_log2: u32) -> Machine {
        Machine::Own(Own { tile_log2, fused_steps, held_log2, lanes_log2: 5 })
    }

    fn h200() -> Machine {
        known().pop().unwrap().machine
    }

    #[test]
    fn a_million_keys_take_16_passes_with_steps_fused_in_registers() {
        let plan = of(1 << 20, 4, own(13, 6, 5));
        assert_eq!((plan.steps.len(), plan.passes.len(), plan.bytes_of_pass), (210, 16, 8 << 20));
        assert_eq!(plan.passes[0].what, "sort every tile of 2^13 keys");
        let too_long = Asked { n: 1 << 32, key_bytes: 4, machine: own(13, 6, 5) };
        assert!(super::plan(too_long).is_err());
    }

    #[test]
    fn every_step_finds_its_bit_in_registers_on_every_machine() {
        let mut machines: Vec<Machine> = known().into_iter().map(|named| named.machine).collect();
        machines.extend([own(0, 1, 1), own(10, 1, 1), own(13, 10, 5), own(16, 7, 3), own(3, 2, 6)]);
        for machine in machines {
            for key_bytes in [1, 2, 4, 8, 16] {
                for log2 in 0..31 {
                    for n in [1 << log2, (1 << log2) + 1] {
                        let plan = of(n, key_bytes, machine.clone());
                        let mut next = 0;
                        for run in &plan.runs {
                            assert_eq!(run.steps[0], next, "{machine:?} {key_bytes} {n}");
                            next = run.steps[1];
                            for step in run.steps[0]..run.steps[1] {
                                let bit = Step::new(step).span() - 1;
                                let found = (run.bits[0]..run.bits[1]).contains(&bit);
                                assert!(found, "{machine:?} {key_bytes} {n}: step {step} in {run:?}");
                            }
                        }
                        assert_eq!(next, plan.steps.len() as u32, "{machine:?} {key_bytes} {n}");
                        let ends: Vec<u32> = plan.passes.iter().map(|pass| pass.steps[1]).collect();
                        let runs_end = |end: &u32| plan.runs.iter().any(|run| run.steps[1] == *end);
                        assert!(ends.iter().all(runs_end), "no run reaches over the end of a pass");
                    }
                }
            }
        }
    }

    #[test]
    fn the_passes_of_a_device_are_the_launches_of_the_library() {
        for log2 in 1..=26 {
            let n = 1_u64 << log2;
            let drawn = of(n, 4, h200());
            let request = Request { oblivious: true, ..request(n as usize, 4).unwrap() };
            let plan = device::plan(&request, &DeviceFacts::nvidia_h200(), &Tuning::default()).unwrap();
            let kernels = plan.kernels.unwrap();
            assert_eq!(kernels.algorithm, Algorithm::Network);
            let launched: Vec<[u32; 2]> =
                kernels.launches.iter().map(|launch| [launch.steps.start, launch.steps.end]).collect();
            let shown: Vec<[u32; 2]> = drawn.passes.iter().map(|pass| pass.steps).collect();
            assert_eq!(shown, launched, "2^{log2}");
        }
    }

    #[test]
    fn a_time_is_told_only_where_the_speed_of_copies_is_known() {
        let plan = of(1 << 20, 4, h200());
        let (least, moved) = (plan.in_place.least_seconds.unwrap(), plan.in_place.bytes.unwrap());
        assert!((least - moved as f64 / 4.1e12).abs() < 1e-12);
        let default = plan.default.unwrap();
        assert_eq!((default.cost.passes, default.algorithm), (Some(5), Algorithm::Columnsort.to_string()));
        for machine in &known()[..4] {
            let plan = of(1 << 20, 4, machine.machine.clone());
            assert_eq!((plan.in_place.least_seconds, plan.in_place.predicted_seconds), (None, None));
        }
        // Where the page's program cannot add up the memory of a sort, it predicts nothing; the lower bound stands.
        let plan = of(1 << 30, 4, h200());
        assert!(plan.in_place.predicted_seconds.is_none() && plan.in_place.least_seconds.is_some());
    }

    #[test]
    fn a_warp_exchanges_in_lanes_on_cuda_only() {
        let has =
            |machine: Machine, brought| of(1 << 20, 4, machine).runs.iter().any(|run| run.brought == brought);
        assert!(has(h200(), Brought::Lanes) && has(h200(), Brought::Local) && has(h200(), Brought::Memory));
        let pocl = known()[2].machine.clone();
        assert!(!has(pocl.clone(), Brought::Lanes) && has(pocl, Brought::Local));
        let laptop = known()[0].machine.clone();
        assert!(has(laptop.clone(), Brought::Lanes) && has(laptop, Brought::Local));
    }

    #[test]
    fn the_processor_is_cut_as_the_cpu_engine_cuts_it() {
        let sorter =
            |set| bitonic::Sorter::new().engine(bitonic::Engine::Cpu).instructions(set).oblivious(true);
        for (set, machine) in [(bitonic::Instructions::Avx2, 0), (bitonic::Instructions::Avx512, 1)] {
            if set.is_available() {
                let sorter = sorter(set);
                let plans = [
                    (2, sorter.plan::<u16>(1 << 20)),
                    (8, sorter.plan::<u64>(1 << 20)),
                    (16, sorter.plan::<u128>(1 << 20)),
                ];
                for (bytes, plan) in plans {
                    let cut = of(1 << 20, bytes, known()[machine].machine.clone()).cut;
                    let limits = plan.unwrap().limits;
                    assert_eq!((cut.tile_log2, cut.fused_steps), (limits.tile_log2, limits.fused_steps));
                }
            }
        }
    }
}
