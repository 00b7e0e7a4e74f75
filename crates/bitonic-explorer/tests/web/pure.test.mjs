// The page's logic that needs no browser: node --test crates/bitonic-explorer/tests/web/pure.test.mjs
import assert from 'node:assert/strict';
import test from 'node:test';
import { brightness, keyColour } from '../../web/colour.js';
import { layOut, restX, sizesFor, travellers, under, wireY } from '../../web/geometry.js';
import { readFileSync } from 'node:fs';
import { duration } from '../../web/dom.js';
import { amount, measuredTime, movesOf } from '../../web/plan.js';
import { firstOf, sums } from '../../web/ladder.js';
import { areZeroOne, bitsOf, patternKeys, readKeys, shares } from '../../web/keys.js';
import { longNetwork, readPlace, shortNetwork, writePlace } from '../../web/permalink.js';
import { haltAt, halts, legs, stageAt, stageEnds } from '../../web/timeline.js';
import { Undo } from '../../web/undo.js';

/** Four wires: two comparators, then a flip, then two more. */
const NETWORK = {
  wires: 4,
  size: 6,
  depth: 3,
  ascending: true,
  list: '[(0,1),(2,3)]\n[(0,3),(1,2)]\n[(0,1),(2,3)]\n',
  stages: [
    { columns: 1, parts: [], comparators: [{ min: 0, max: 1, column: 0 }, { min: 2, max: 3, column: 0 }] },
    { columns: 2, parts: [], comparators: [{ min: 0, max: 3, column: 0 }, { min: 1, max: 2, column: 1 }] },
    { columns: 1, parts: [], comparators: [{ min: 0, max: 1, column: 0 }, { min: 2, max: 3, column: 0 }] },
  ],
  blocks: [
    { stages: [0, 1], wires: [0, 2], name: 'merge of 2' },
    { stages: [0, 1], wires: [2, 4], name: 'merge of 2' },
    { stages: [1, 3], wires: [0, 4], name: 'merge of 4' },
  ],
  claim: { does: 'sorts' },
  claim_text: '',
};

test('halts are after comparators, stages and blocks', () => {
  assert.deepEqual(stageEnds(NETWORK), [0, 2, 4, 6]);
  assert.deepEqual(halts(NETWORK, 'comparator'), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(halts(NETWORK, 'stage'), [0, 2, 4, 6]);
  assert.deepEqual(halts(NETWORK, 'block'), [0, 2, 6]);
  assert.deepEqual(halts({ ...NETWORK, blocks: [] }, 'block'), [0, 6]);
  assert.equal(haltAt([0, 2, 6], 5), 1);
  assert.deepEqual([0, 1, 2, 3, 4, 6, 9].map((done) => stageAt([0, 2, 4, 6], done)), [0, 0, 1, 1, 2, 3, 3]);
  assert.equal(stageAt([0], 0), 0);
});

test('a way over several stages has a leg for each', () => {
  assert.deepEqual(legs([0, 2, 4, 6], 0, 6), [[0, 2], [2, 4], [4, 6]]);
  assert.deepEqual(legs([0, 2, 4, 6], 1, 2), [[1, 2]]);
});

test('keys begin and end a leg where they rest', () => {
  const layout = layOut(NETWORK, sizesFor(4, 400, 1), 900);
  const trace = { states: [[0, 1, 2, 3], [1, 0, 2, 3], [1, 0, 3, 2]], sorted_after: null, sorted_after_stage: null };
  for (const [part, done] of [[0, 0], [1, 2]]) {
    for (const { origin, x, y } of travellers(layout, trace, [0, 2], part)) {
      const wire = trace.states[done].indexOf(origin);
      assert.ok(Math.abs(x - restX(layout, done, wire)) < 1e-9, `${origin} at ${part}`);
      assert.ok(Math.abs(y - wireY(layout, wire)) < 1e-9);
    }
  }
  const half = travellers(layout, trace, [0, 2], 0.5);
  assert.ok(half.every(({ meets, swapped }) => meets && swapped));
});

test('the pointer finds wires, stages, gaps and comparators', () => {
  const layout = layOut(NETWORK, sizesFor(4, 400, 1));
  const inFirst = under(layout, 4, layout.stages[0].left, wireY(layout, 1));
  assert.equal(inFirst.slot, 1);
  assert.deepEqual([inFirst.comparator?.stage, inFirst.comparator?.index, inFirst.end], [0, 0, 'bottom']);
  const between = under(layout, 4, layout.rests[1], wireY(layout, 2));
  assert.deepEqual([between.slot, between.wire, between.comparator], [2, 2, null]);
  assert.equal(under(layout, 4, 40, wireY(layout, 3)).input, true);
  assert.equal(under(layout, 4, layout.width, wireY(layout, 3)).slot, 6);
});

test('typed keys are read or refused with a reason', () => {
  assert.deepEqual(readKeys('5, 3 -8 1.5', 4), { keys: [5, 3, -8, 1.5] });
  assert.deepEqual(readKeys('0110', 4), { keys: [0, 1, 1, 0] });
  assert.deepEqual(readKeys('10', 1), { keys: [10] });
  assert.match(readKeys('5 x 3', 3).error, /“x” is not a number/);
  assert.match(readKeys('5 3', 3).error, /2 numbers for 3 wires/);
  assert.match(readKeys('1e999 1', 2).error, /too large/);
});

test('patterns have a key for each wire', () => {
  for (let wires = 1; wires <= 64; wires += 1) {
    for (const pattern of ['random', 'sorted', 'reversed', 'bitonic', 'two-runs', 'zero-one']) {
      assert.equal(patternKeys(pattern, wires).length, wires, `${pattern} ${wires}`);
    }
    const permutation = patternKeys('random', wires).sort((a, b) => a - b);
    assert.deepEqual(permutation, patternKeys('sorted', wires));
  }
  assert.deepEqual(patternKeys('bitonic', 6), [1, 3, 5, 6, 4, 2]);
  assert.ok(areZeroOne(patternKeys('zero-one', 9)));
  assert.deepEqual(bitsOf(0b0110, 4), [0, 1, 1, 0]);
  assert.deepEqual(shares([3, 1, 3, 2]), [1, 0, 1, 0.5]);
  assert.deepEqual(shares([0, 0]), [0, 0]);
});

test('an address leads back to the same place', () => {
  const place = {
    view: 'network', kind: undefined, wires: undefined, network: shortNetwork('# wires: 5\n[(0,1),(2,3)]\n[(3,0)]\n', 5),
    input: [1.5, -2, 3, 0, 1], done: 3, second: 'bubble', chapter: undefined, challenge: undefined, rungs: undefined,
  };
  assert.deepEqual(readPlace(writePlace(place)), place);
  assert.equal(longNetwork('5:0-1.2-3;3-0'), '# wires: 5\n[(0,1),(2,3)]\n[(3,0)]\n');
  assert.equal(longNetwork('3:'), '# wires: 3\n');
  assert.equal(readPlace('#input=1_x&n=lots&at=-1').input, undefined);
  assert.equal(readPlace('#n=1e9').wires, undefined);
  assert.deepEqual(readPlace(writePlace({ view: 'ladder', rungs: ['naive_scan', 'compare_pair'] })).rungs, ['naive_scan', 'compare_pair']);
});

test('undo and redo go through the history, and a change forgets what was undone', () => {
  const undo = new Undo('a');
  undo.add('b');
  undo.add('c');
  assert.equal(undo.undo(), 'b');
  assert.equal(undo.undo(), 'a');
  assert.equal(undo.undo(), 'a');
  assert.equal(undo.redo(), 'b');
  undo.add('d');
  assert.equal(undo.canRedo, false);
  assert.equal(undo.undo(), 'b');
});

test('colours of keys differ in grey, and text on them can be read', () => {
  for (const dark of [false, true]) {
    const numbers = (text) => text.match(/\d+/g).map(Number);
    const grey = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => brightness(numbers(keyColour(share, dark).fill)));
    const ordered = dark ? grey : [...grey].reverse();
    for (let index = 1; index < ordered.length; index += 1) assert.ok(ordered[index] - ordered[index - 1] > 0.02, grey.join(' '));
    for (let share = 0; share <= 1; share += 0.05) {
      const { fill, text } = keyColour(share, dark);
      const [paper, ink] = [brightness(numbers(fill)), text === '#ffffff' ? 1 : 0];
      const contrast = (Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05);
      assert.ok(contrast >= 4.5, `share ${share}: contrast ${contrast}`);
    }
  }
});

test('a film counts what its workers do', () => {
  const film = {
    rung: 'x', file: '', keys: 8, workers: 2, called: 'work-items', group: 2, local: true,
    moments: [
      { step: 'a', touches: [{ worker: 0, act: 'load', places: [0, 4] }, { worker: 1, act: 'load', places: [1, 5] }], end: 'barrier' },
      { step: 'a', touches: [{ worker: 0, act: 'compare_local', places: [0, 1] }, { worker: 1, act: 'idle', places: [] }], end: null },
      { step: 'b', touches: [{ worker: 0, act: 'compare', places: [0, 7] }], end: 'end of launch' },
    ],
  };
  assert.deepEqual(sums(film, 0).map(([value]) => value), [0, 4, 2, 0, 1]);
  // A comparison in memory reads two keys and writes two.
  assert.deepEqual(sums(film, 2).map(([value]) => value), [2, 8, 4, 1, 2]);
});

test('a run of the laboratory is opened with rungs that it measured', () => {
  const rungs = ['naive_scan', 'compare_pair', 'local_memory', 'recursive'];
  const rows = (...names) => ({ where: '', rows: names.map((name) => [name, 16, 1]) });
  assert.deepEqual(firstOf(rungs, rows('cpu:std', 'cuda:compare_pair', 'cpu:recursive')), ['compare_pair', 'recursive']);
  assert.deepEqual(firstOf(rungs, rows('cpu:std')), ['naive_scan', 'local_memory']);
  assert.deepEqual(firstOf(rungs, rows('opencl:naive_scan')), ['naive_scan', 'local_memory']);
});

test('the first step of a run is brought, the others are in registers', () => {
  const runs = [
    { steps: [0, 3], bits: [0, 2], brought: 'memory' },
    { steps: [3, 5], bits: [1, 3], brought: 'lanes' },
    { steps: [5, 6], bits: [0, 1], brought: 'local' },
  ];
  assert.deepEqual(movesOf(runs, [0, 6]), [['memory', 1], ['local', 1], ['lanes', 1], ['registers', 3]]);
  assert.deepEqual(movesOf(runs, [3, 5]), [['lanes', 1], ['registers', 1]]);
});

test('a recorded time is told for what was measured only', () => {
  const recorded = { rows: [['h200', 4, 1024, true, 4.8e-6]], where: { h200: '' } };
  assert.equal(measuredTime(recorded, 'h200', 4, 1024, true), 4.8e-6);
  for (const [machine, bytes, n, inPlace] of [[undefined, 4, 1024, true], ['h200', 8, 1024, true], ['h200', 4, 1025, true], ['h200', 4, 1024, false]]) {
    assert.equal(measuredTime(recorded, machine, bytes, n, inPlace), null);
  }
});

test('places of keys differ in grey, on light and on dark pages', () => {
  const style = readFileSync(new URL('../../web/style.css', import.meta.url), 'utf8');
  const themes = [...style.matchAll(/--place-memory: (#\w+); --place-local: (#\w+); --place-lanes: (#\w+); --place-registers: (#\w+);/g)];
  assert.equal(themes.length, 2);
  for (const [, ...colours] of themes) {
    const grey = colours.map((colour) => brightness([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))));
    const ordered = [...grey].sort((a, b) => a - b);
    for (let index = 1; index < ordered.length; index += 1) assert.ok(ordered[index] - ordered[index - 1] > 0.05, grey.join(' '));
  }
});

test('amounts and times have units that people read', () => {
  assert.equal(amount(999), '999 bytes');
  assert.equal(amount(8_388_608), '8.39 MB');
  assert.equal(duration(0.0132), '13.2 ms');
  assert.equal(duration(2.5e-6), '2.5 µs');
  assert.equal(duration(12), '12 s');
});
