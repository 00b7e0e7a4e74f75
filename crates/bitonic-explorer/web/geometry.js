// Where everything is in the picture of a network, in pixels.
import { inSequence, stageAt, stageEnds } from './timeline.js';

/**
 * @typedef {import('./engine.js').Network} Network
 * @typedef {import('./engine.js').Trace} Trace
 * @typedef {import('./timeline.js').Placed} Placed
 * @typedef {{ gap: number, column: number, padding: number, rest: number, left: number, top: number, right: number, bottom: number }} Sizes
 * @typedef {{ sizes: Sizes, width: number, height: number, rests: number[], stages: { left: number, right: number }[],
 *             sequence: Placed[], ends: number[], ofWires: number[][] }} Layout `ofWires` has the numbers of the comparators on each wire
 * @typedef {{ origin: number, x: number, y: number, startX: number, startY: number, meets: boolean, swapped: boolean }} Traveller
 */

/**
 * Sizes for this many wires in this much height.
 * @param {number} wires
 * @param {number} height
 * @param {number} longest the characters of the longest key
 * @returns {Sizes}
 */
export function sizesFor(wires, height, longest) {
  const top = 54;
  const bottom = 26;
  const gap = Math.min(52, Math.max(19, (height - top - bottom) / Math.max(1, wires - 1)));
  const key = Math.max(1, longest) * gap * 0.3;
  return {
    gap,
    column: Math.max(9, gap * 0.42),
    padding: Math.max(11, gap * 0.45),
    rest: Math.max(10, gap * 0.5 + key * 0.35),
    left: 34 + Math.max(26, key + 16),
    top,
    right: 30 + key,
    bottom,
  };
}

/**
 * Places stages from left to right, spread out over the room there is. Keys rest before the first stage and after each.
 * @param {Network} network
 * @param {Sizes} narrow
 * @param {number} [room] the width to fill, as far as that does not tear the picture apart
 * @returns {Layout}
 */
export function layOut(network, narrow, room = 0) {
  const margins = narrow.left + narrow.right;
  const columns = network.stages.reduce((sum, stage) => sum + Math.max(0, stage.columns - 1), 0);
  const inner = narrow.rest + network.depth * (2 * narrow.padding + narrow.rest) + columns * narrow.column;
  const spread = Math.min(2.4, Math.max(1, (room - margins - 2) / inner));
  const sizes = { ...narrow, rest: narrow.rest * spread, padding: narrow.padding * spread, column: narrow.column * Math.min(1.5, spread) };
  const rests = [sizes.left + sizes.rest / 2];
  let x = sizes.left + sizes.rest;
  const stages = network.stages.map((stage) => {
    const left = x + sizes.padding;
    const right = left + sizes.column * Math.max(0, stage.columns - 1);
    rests.push(right + sizes.padding + sizes.rest / 2);
    x = right + sizes.padding + sizes.rest;
    return { left, right };
  });
  const sequence = inSequence(network);
  /** @type {number[][]} */
  const ofWires = Array.from({ length: network.wires }, () => []);
  sequence.forEach(({ min, max }, number) => {
    ofWires[min].push(number);
    ofWires[max].push(number);
  });
  return {
    sizes,
    rests,
    stages,
    width: x + sizes.right,
    height: sizes.top + sizes.gap * Math.max(0, network.wires - 1) + sizes.bottom,
    sequence,
    ofWires,
    ends: stageEnds(network),
  };
}

/** @param {Layout} layout @param {number} wire */
export function wireY(layout, wire) {
  return layout.sizes.top + layout.sizes.gap * wire;
}

/** @param {Layout} layout @param {Placed} comparator */
export function comparatorX(layout, comparator) {
  return layout.stages[comparator.stage].left + layout.sizes.column * comparator.column;
}

/**
 * Where the key on a wire rests when so many comparators have worked.
 * @param {Layout} layout
 * @param {number} done
 * @param {number} wire
 */
export function restX(layout, done, wire) {
  const stage = stageAt(layout.ends, done);
  for (let number = layout.ends[stage]; number < done; number += 1) {
    const comparator = layout.sequence[number];
    if (comparator.min === wire || comparator.max === wire) {
      return Math.min(comparatorX(layout, comparator) + layout.sizes.padding, layout.rests[stage + 1]);
    }
  }
  return layout.rests[stage];
}

/** @param {number} t */
const ease = (t) => (t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t));
/** @param {number} a @param {number} b @param {number} t */
const between = (a, b, t) => a + (b - a) * t;
/** @param {number} t */
const clamp = (t) => Math.min(1, Math.max(0, t));

/**
 * Where every key is on a leg, which lies within one stage: along its wire to its comparator, over to the other wire if it is
 * swapped, and on.
 * @param {Layout} layout
 * @param {Trace} trace
 * @param {[number, number]} leg
 * @param {number} part from 0 to 1
 * @returns {Traveller[]}
 */
export function travellers(layout, trace, [from, to], part) {
  const before = trace.states[from];
  const after = trace.states[to];
  const newWire = new Map(after.map((origin, wire) => [origin, wire]));
  /** @type {Map<number, Placed>} */
  const meeting = new Map();
  for (const comparator of layout.sequence.slice(from, to)) {
    meeting.set(comparator.min, comparator);
    meeting.set(comparator.max, comparator);
  }
  return before.map((origin, wire) => {
    const target = /** @type {number} */ (newWire.get(origin));
    const [x0, x1] = [restX(layout, from, wire), restX(layout, to, target)];
    const [y0, y1] = [wireY(layout, wire), wireY(layout, target)];
    const comparator = meeting.get(wire);
    if (!comparator) return { origin, x: between(x0, x1, ease(part)), y: y0, startX: x0, startY: y0, meets: false, swapped: false };
    const middle = comparatorX(layout, comparator);
    const [arrive, cross, leave] = [clamp(part / 0.3), clamp((part - 0.3) / 0.4), clamp((part - 0.7) / 0.3)];
    const along = leave > 0 ? between(middle, x1, ease(leave)) : between(x0, middle, ease(arrive));
    // Two keys that change places pass each other: the one that rises at the left, the one that falls at the right.
    const aside = Math.sign(target - wire) * Math.sin(Math.PI * cross) * Math.min(16, layout.sizes.gap * 0.36);
    const y = between(y0, y1, ease(cross));
    return { origin, x: along + aside, y, startX: x0, startY: y0, meets: true, swapped: wire !== target };
  });
}

/**
 * What is under the pointer.
 * @param {Layout} layout
 * @param {number} wires
 * @param {number} x
 * @param {number} y
 * @returns {{ wire: number, onWire: boolean, input: boolean, slot: number, comparator: Placed | null, end: 'top' | 'bottom' | null }}
 */
export function under(layout, wires, x, y) {
  const { gap, top, padding, left } = layout.sizes;
  const exact = (y - top) / gap;
  const wire = Math.min(wires - 1, Math.max(0, Math.round(exact)));
  const reach = Math.max(5, Math.min(9, layout.sizes.column * 0.55));
  /** @type {Placed | null} */
  let comparator = null;
  for (const placed of layout.sequence) {
    const [low, high] = [Math.min(placed.min, placed.max), Math.max(placed.min, placed.max)];
    const near = Math.abs(comparatorX(layout, placed) - x) <= reach;
    if (near && exact >= low - 0.4 && exact <= high + 0.4) comparator = placed;
  }
  const ends = comparator && [Math.min(comparator.min, comparator.max), Math.max(comparator.min, comparator.max)];
  const end = ends && (wire === ends[0] ? 'top' : wire === ends[1] ? 'bottom' : null);
  const stage = layout.stages.findIndex((place) => x <= place.right + padding);
  const slot = stage < 0 ? 2 * layout.stages.length : x >= layout.stages[stage].left - padding ? 2 * stage + 1 : 2 * stage;
  return { wire, onWire: Math.abs(exact - wire) < 0.5, input: x < left, slot, comparator, end };
}

/**
 * The x of a slot: even numbers are before stage slot/2, odd numbers in stage (slot-1)/2.
 * @param {Layout} layout
 * @param {number} slot
 */
export function slotX(layout, slot) {
  if (slot % 2 === 0) return layout.rests[slot / 2];
  const stage = layout.stages[(slot - 1) / 2];
  return (stage.left + stage.right) / 2;
}
