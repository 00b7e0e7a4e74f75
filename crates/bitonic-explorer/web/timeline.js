// Where a network can be halted: after a comparator, after a stage, after a block.

/**
 * @typedef {import('./engine.js').Network} Network
 * @typedef {'comparator' | 'stage' | 'block'} Unit
 * @typedef {{ stage: number, index: number, min: number, max: number, column: number }} Placed
 */

/**
 * All comparators in the order in which they work.
 * @param {Network} network
 * @returns {Placed[]}
 */
export function inSequence(network) {
  return network.stages.flatMap((stage, number) =>
    stage.comparators.map((comparator, index) => ({ stage: number, index, ...comparator })));
}

/**
 * How many comparators have worked before the first stage and after each.
 * @param {Network} network
 * @returns {number[]}
 */
export function stageEnds(network) {
  const ends = [0];
  for (const stage of network.stages) ends.push(ends[ends.length - 1] + stage.comparators.length);
  return ends;
}

/**
 * The halts: how many comparators have worked at each, from 0 to all.
 * @param {Network} network
 * @param {Unit} unit
 * @returns {number[]}
 */
export function halts(network, unit) {
  const ends = stageEnds(network);
  if (unit === 'stage') return ends;
  if (unit === 'comparator') return Array.from({ length: network.size + 1 }, (_, done) => done);
  const afterBlocks = network.blocks.map((block) => ends[block.stages[1]]);
  return [...new Set([0, ...afterBlocks, network.size])].sort((a, b) => a - b);
}

/**
 * The halt at or before so many comparators.
 * @param {number[]} allHalts
 * @param {number} done
 */
export function haltAt(allHalts, done) {
  return Math.max(0, allHalts.findLastIndex((halt) => halt <= done));
}

/**
 * The way from one number of comparators to a larger one, cut where stages end.
 * @param {number[]} ends what `stageEnds` says
 * @param {number} from
 * @param {number} to
 * @returns {[number, number][]}
 */
export function legs(ends, from, to) {
  const borders = [from, ...ends.filter((end) => end > from && end < to), to];
  return borders.slice(1).map((end, index) => [borders[index], end]);
}

/**
 * The stage that is under way, or about to begin, when so many comparators have worked.
 * @param {number[]} ends
 * @param {number} done
 */
export function stageAt(ends, done) {
  // By halving: it is asked for every key in every frame, and insertion sort has thousands of stages.
  let [low, high] = [0, ends.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= done) low = middle;
    else high = middle;
  }
  return low;
}
