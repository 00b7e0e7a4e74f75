//! `bitonic.networks`: networks as Python objects.

use bitonic_network::{Claim, Kind, Merging, ProveError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::fmt::Display;

fn refuse(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A comparator network: wires, and stages of comparators between them.
///
/// `generate`, `merge`, `top_k` and `parse` make one. A notebook shows its drawing.
///
/// >>> from bitonic import networks
/// >>> network = networks.generate("bitonic", 4)
/// >>> network.wires, network.depth, network.size
/// (4, 3, 6)
/// >>> network.apply([3, 1, 4, 2])
/// [1, 2, 3, 4]
/// >>> bool(network.prove())
/// True
#[pyclass(frozen, eq, module = "bitonic.networks")]
#[derive(Clone, PartialEq)]
pub(crate) struct Network {
    network: bitonic_network::Network,
    claim: Claim,
}

#[pymethods]
impl Network {
    /// The number of wires.
    #[getter]
    fn wires(&self) -> usize {
        self.network.wires()
    }

    /// The number of stages.
    #[getter]
    fn depth(&self) -> usize {
        self.network.depth()
    }

    /// The number of comparators.
    #[getter]
    fn size(&self) -> usize {
        self.network.size()
    }

    /// What the network is for, in words.
    ///
    /// >>> from bitonic import networks
    /// >>> networks.generate("bitonic-merge", 4).claim
    /// 'merges two ascending runs, of 2 and 2 keys'
    #[getter]
    fn claim(&self) -> String {
        match self.claim {
            Claim::Sorts => "sorts".to_owned(),
            Claim::MergesTwoRuns { split } => {
                let rest = self.network.wires() - split;
                format!("merges two ascending runs, of {split} and {rest} keys")
            }
            Claim::MergesBitonic => "sorts bitonic sequences".to_owned(),
            Claim::HalfCleans => "half-cleans bitonic sequences".to_owned(),
            Claim::SelectsLargest { k } => format!("selects the {k} largest keys"),
            other => format!("{other:?}"),
        }
    }

    /// The comparators, stage by stage: pairs of the wire for the smaller key and the wire for the larger.
    ///
    /// >>> from bitonic import networks
    /// >>> networks.parse("[(0,1),(2,3)]").stages
    /// [[(0, 1), (2, 3)]]
    #[getter]
    fn stages(&self) -> Vec<Vec<(usize, usize)>> {
        let pairs = |stage: &bitonic_network::Stage| {
            stage.comparators().iter().map(|comparator| (comparator.min(), comparator.max())).collect()
        };
        self.network.stages().iter().map(pairs).collect()
    }

    /// The keys as they leave the network: one for each wire, of any type that `sorted` takes.
    ///
    /// >>> from bitonic import networks
    /// >>> networks.generate("smallest", 3).apply(["b", "c", "a"])
    /// ['a', 'b', 'c']
    fn apply<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ranked = Ranked::of(keys)?;
        let mut ranks = ranked.ranks.clone();
        self.network.apply(&mut ranks).map_err(refuse)?;
        ranked.keys_of(&ranks)
    }

    /// The keys on the wires before the first stage and after every stage.
    ///
    /// >>> from bitonic import networks
    /// >>> networks.parse("[(0,1)]\n[(1,2)]").trace([3, 2, 1])
    /// [[3, 2, 1], [2, 3, 1], [2, 1, 3]]
    fn trace<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyList>>> {
        let ranked = Ranked::of(keys)?;
        let states = self.network.trace(&ranked.ranks).map_err(refuse)?;
        states.iter().map(|ranks| ranked.keys_of(ranks)).collect()
    }

    /// Proves what the network is for, by the 0-1 principle. A proof that fails has an input that shows it.
    ///
    /// >>> from bitonic import networks
    /// >>> print(networks.generate("bitonic", 8).prove())
    /// proved: the network sorts every input (all 2^8 0-1 inputs, as 256 cases)
    /// >>> wrong = networks.parse("[(0,1)]\n[(1,2)]").prove()
    /// >>> wrong.holds, wrong.input, wrong.output
    /// (False, [1, 1, 0], [1, 0, 1])
    fn prove(&self, py: Python<'_>) -> PyResult<Proof> {
        match py.detach(|| self.network.prove_claim(self.claim)) {
            Ok(proof) => Ok(Proof { text: proof.to_string(), counterexample: None }),
            Err(ProveError::Refuted(example)) => {
                let numbers = |bits: &[bool]| bits.iter().map(|&bit| bit.into()).collect();
                let both = (numbers(example.input()), numbers(example.output()));
                Ok(Proof { text: example.to_string(), counterexample: Some(both) })
            }
            Err(error) => Err(refuse(error)),
        }
    }

    /// The network as text, with the keys on its wires if some are given.
    ///
    /// >>> from bitonic import networks
    /// >>> print(networks.parse("[(0,1)]").draw([5, 3]))
    ///        1
    /// 0 ─ 5 ─●─ 3
    ///        │
    /// 1 ─ 3 ─●─ 5
    #[pyo3(signature = (keys=None, *, ascii=false))]
    fn draw(&self, keys: Option<&Bound<'_, PyAny>>, ascii: bool) -> PyResult<String> {
        let text = self.drawing(keys)?.ascii(ascii).to_text();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        Ok(lines.join("\n"))
    }

    /// The network as SVG, with the keys on its wires if some are given.
    ///
    /// >>> from bitonic import networks
    /// >>> networks.generate("bitonic", 8).svg().startswith("<svg")
    /// True
    #[pyo3(signature = (keys=None, *, title=None))]
    fn svg(&self, keys: Option<&Bound<'_, PyAny>>, title: Option<String>) -> PyResult<String> {
        let drawing = self.drawing(keys)?;
        Ok(title.into_iter().fold(drawing, |drawing, title| drawing.title(title)).to_svg())
    }

    /// The network as a list of comparators, which `parse` reads.
    ///
    /// >>> from bitonic import networks
    /// >>> network = networks.generate("shallowest", 5)
    /// >>> networks.parse(network.to_list()).stages == network.stages
    /// True
    fn to_list(&self) -> String {
        self.network.to_list()
    }

    /// The network as JSON, which `parse` reads.
    ///
    /// >>> from bitonic import networks
    /// >>> network = networks.generate("bubble", 4)
    /// >>> networks.parse(network.to_json()).stages == network.stages
    /// True
    fn to_json(&self) -> String {
        self.network.to_json()
    }

    fn __len__(&self) -> usize {
        self.network.size()
    }

    fn __repr__(&self) -> String {
        let (wires, size, depth) = (self.wires(), self.size(), self.depth());
        format!("<network for {wires} keys: {size} comparators, {depth} stages>")
    }

    fn _repr_svg_(&self) -> String {
        self.network.draw().to_svg()
    }
}

impl Network {
    fn drawing(&self, keys: Option<&Bound<'_, PyAny>>) -> PyResult<bitonic_network::Drawing<'_>> {
        let drawing = self.network.draw();
        let Some(keys) = keys else {
            return Ok(drawing);
        };
        let ranked = Ranked::of(keys)?;
        let texts = ranked.keys.iter().map(|key| Ok(key.str()?.to_string())).collect::<PyResult<Vec<_>>>()?;
        let labelled: Vec<Labelled> =
            ranked.ranks.iter().zip(texts).map(|(&rank, text)| Labelled { rank, text }).collect();
        drawing.input(&labelled).map_err(refuse)
    }
}

/// A key in a drawing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Labelled {
    rank: usize,
    text: String,
}

impl Display for Labelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Keys of any type, and the place of each in the order that Python's `sorted` gives them.
struct Ranked<'py> {
    py: Python<'py>,
    keys: Vec<Bound<'py, PyAny>>,
    /// By place among the keys.
    ranks: Vec<usize>,
    /// By rank.
    order: Vec<usize>,
}

impl<'py> Ranked<'py> {
    fn of(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = keys.py();
        let list = PyList::empty(py);
        for key in keys.try_iter()? {
            list.append(key?)?;
        }
        let by = [("key", list.getattr("__getitem__")?)];
        let kwargs = pyo3::types::IntoPyDict::into_py_dict(by, py)?;
        let places = py.import("builtins")?.call_method(
            "sorted",
            ((0..list.len()).collect::<Vec<_>>(),),
            Some(&kwargs),
        )?;
        let order: Vec<usize> = places.extract()?;
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &place)| ranks[place] = rank);
        Ok(Self { py, keys: list.iter().collect(), ranks, order })
    }

    fn keys_of(&self, ranks: &[usize]) -> PyResult<Bound<'py, PyList>> {
        let keys = ranks.iter().map(|&rank| &self.keys[self.order[rank]]);
        PyList::new(self.py, keys)
    }
}

/// Whether a network does what it is for, and an input that shows it if not.
///
/// It is true where the claim holds.
#[pyclass(frozen, module = "bitonic.networks")]
pub(crate) struct Proof {
    text: String,
    counterexample: Option<(Vec<u8>, Vec<u8>)>,
}

#[pymethods]
impl Proof {
    /// Whether the claim holds.
    #[getter]
    fn holds(&self) -> bool {
        self.counterexample.is_none()
    }

    /// An input of zeros and ones for which the network fails; None where the claim holds.
    #[getter]
    fn input(&self) -> Option<Vec<usize>> {
        self.counterexample.as_ref().map(|(input, _)| input.iter().map(|&bit| bit.into()).collect())
    }

    /// What the network makes of that input.
    #[getter]
    fn output(&self) -> Option<Vec<usize>> {
        self.counterexample.as_ref().map(|(_, output)| output.iter().map(|&bit| bit.into()).collect())
    }

    fn __bool__(&self) -> bool {
        self.holds()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.text)
    }

    fn _repr_html_(&self) -> String {
        crate::machine::preformatted(&self.text)
    }
}

/// The names of the kinds that `generate` knows, each with what it is.
///
/// >>> from bitonic import networks
/// >>> networks.kinds()["odd-even-merge-sort"]
/// "Batcher's odd-even merge sort"
#[pyfunction]
pub(crate) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyDict>> {
    pyo3::types::IntoPyDict::into_py_dict(Kind::ALL.map(|kind| (kind.name(), kind.description())), py)
}

/// The network of a kind with so many wires.
///
/// >>> from bitonic import networks
/// >>> networks.generate("smallest", 9).size
/// 25
#[pyfunction]
pub(crate) fn generate(kind: &str, wires: usize) -> PyResult<Network> {
    let kind: Kind = kind.parse().map_err(refuse)?;
    Ok(Network { network: kind.generate(wires).map_err(refuse)?, claim: kind.claim(wires) })
}

fn merging(name: &str) -> PyResult<Merging> {
    match name {
        "bitonic" => Ok(Merging::Bitonic),
        "odd-even" => Ok(Merging::OddEven),
        other => Err(refuse(format!("unknown way to merge '{other}': use one of 'bitonic', 'odd-even'"))),
    }
}

/// The network that merges two ascending runs of these lengths.
///
/// >>> from bitonic import networks
/// >>> networks.merge(3, 2).apply([1, 5, 9, 2, 6])
/// [1, 2, 5, 6, 9]
#[pyfunction]
#[pyo3(signature = (first, second, *, merging="bitonic"))]
pub(crate) fn merge(first: usize, second: usize, merging: &str) -> PyResult<Network> {
    let network = self::merging(merging)?.merge(first, second).map_err(refuse)?;
    Ok(Network { network, claim: Claim::MergesTwoRuns { split: first } })
}

/// The network that puts the k largest keys on its last k wires.
///
/// >>> from bitonic import networks
/// >>> networks.top_k(6, 2).apply([4, 9, 1, 8, 3, 7])[-2:]
/// [8, 9]
#[pyfunction]
#[pyo3(signature = (wires, k, *, merging="bitonic"))]
pub(crate) fn top_k(wires: usize, k: usize, merging: &str) -> PyResult<Network> {
    let network = self::merging(merging)?.top_k(wires, k).map_err(refuse)?;
    Ok(Network { network, claim: Claim::SelectsLargest { k } })
}

/// The network that a list of comparators or JSON describes.
///
/// >>> from bitonic import networks
/// >>> networks.parse("[(0,2)]\n[(0,1)]\n[(1,2)]")
/// <network for 3 keys: 3 comparators, 3 stages>
#[pyfunction]
pub(crate) fn parse(text: &str) -> PyResult<Network> {
    Ok(Network { network: bitonic_network::Network::parse(text).map_err(refuse)?, claim: Claim::Sorts })
}
