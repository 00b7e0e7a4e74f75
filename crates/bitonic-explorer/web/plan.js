// The plan of a sort: which steps are done together, and where the keys then sit.
import { element, escapeText, messageOf } from './dom.js';

/**
 * A plan from outside, as `bitonic explain --html` writes it: its text, and what cuts the network on that device.
 * @typedef {{ text: string, keys: number, key_bytes: number, tile_log2: number, fused_steps: number, network: boolean }} GivenPlan
 * @typedef {{ done: string, keys: number[], parts: number[] }} Picture the data between two passes
 * @typedef {{ merges: number, steps: { merge: number, flip: boolean, span: number }[],
 *             passes: { place: string, steps: [number, number], what: string }[], bytes_of_pass: number }} Passes
 */

/**
 * What machines can hold and fuse, for keys of 32 bits: two ways to write kernels, and what the library plans with.
 * @type {{ name: string, tile: number, fused: number }[]}
 */
const SHAPES = [
  { name: 'a kernel for every step', tile: 0, fused: 1 },
  { name: 'tiles in local memory, a kernel for every other step', tile: 10, fused: 1 },
  { name: 'a processor, directly or through PoCL', tile: 12, fused: 3 },
  { name: 'a GPU, steps fused in registers', tile: 13, fused: 6 },
  { name: 'an NVIDIA H200, steps fused in local memory, too', tile: 13, fused: 10 },
];

export class PlanView {
  /** @param {import('./engine.js').Ask} ask @param {GivenPlan | null} given */
  constructor(ask, given) {
    this.ask = ask;
    this.given = given;
    this.view = element('plan-view');
    this.view.innerHTML = frame(given);
    this.view.addEventListener('input', (event) => this.input(/** @type {HTMLInputElement} */ (event.target)));
    const { columnsort, partition } = ask({ ask: 'large' });
    element('plan-columnsort').innerHTML = columnsort.map((/** @type {Picture} */ shown) => columns(shown)).join('');
    element('plan-partition').innerHTML = partition.map((/** @type {Picture} */ shown) => strip(shown)).join('');
    if (given) {
      this.set('plan-n', Math.max(1, Math.round(Math.log2(given.keys))));
      this.set('plan-bytes', given.key_bytes);
      this.set('plan-tile', given.tile_log2);
      this.set('plan-fused', given.fused_steps);
      this.set('plan-shape', 'given');
    }
    this.draw();
  }

  /** @param {string} id @param {string | number} value */
  set(id, value) {
    /** @type {any} */ (element(id)).value = String(value);
  }

  /** @param {string} id */
  get(id) {
    return Number(/** @type {any} */ (element(id)).value);
  }

  /** @param {HTMLInputElement} target */
  input(target) {
    if (target.id === 'plan-shape') {
      const shape = SHAPES[Number(target.value)];
      const given = this.given;
      if (shape) {
        this.set('plan-tile', shape.tile);
        this.set('plan-fused', shape.fused);
      } else if (given) {
        this.set('plan-n', Math.max(1, Math.round(Math.log2(given.keys))));
        this.set('plan-tile', given.tile_log2);
        this.set('plan-fused', given.fused_steps);
      }
    } else if (target.id !== 'plan-bytes') {
      const match = SHAPES.findIndex((shape) => shape.tile === this.get('plan-tile') && shape.fused === this.get('plan-fused'));
      this.set('plan-shape', match < 0 ? 'own' : match);
    }
    this.draw();
  }

  draw() {
    const [log2, bytes, tile, fused] = ['plan-n', 'plan-bytes', 'plan-tile', 'plan-fused'].map((id) => this.get(id));
    const chosen = /** @type {any} */ (element('plan-shape')).value;
    const exact = chosen === 'given' && this.given;
    const n = exact ? exact.keys : 2 ** log2;
    element('plan-n-text').textContent = exact ? exact.keys.toLocaleString('en') : `2^${log2} = ${n.toLocaleString('en')}`;
    element('plan-tile-text').textContent = `2^${tile} keys`;
    element('plan-fused-text').textContent = fused === 1 ? '1 step' : `${fused} steps`;
    try {
      /** @type {Passes} */
      const plan = this.ask({ ask: 'plan', n, key_bytes: bytes, tile_log2: tile, fused_steps: fused });
      this.tell(plan, n);
      element('plan-picture').innerHTML = picture(plan, Math.min(tile, plan.merges));
    } catch (error) {
      element('plan-sums').textContent = messageOf(error);
    }
  }

  /** @param {Passes} plan @param {number} n */
  tell(plan, n) {
    const moved = plan.passes.length * plan.bytes_of_pass;
    const plain = plan.steps.length * plan.bytes_of_pass;
    const overMemory = plan.passes.filter((pass) => pass.place === 'memory').length;
    const sums = [
      [plan.steps.length.toLocaleString('en'), 'steps of the network'],
      [plan.passes.length.toLocaleString('en'), 'passes over all keys'],
      [`${plan.passes.length - overMemory} + ${overMemory}`, 'in tiles + over memory'],
      [amount(moved), 'read and written'],
      [plan.passes.length ? `${(plain / moved).toFixed(1)} times` : '–', 'less than a pass for every step'],
    ];
    element('plan-sums').innerHTML = sums.map(([value, name]) => `<div><b>${value}</b><span>${name}</span></div>`).join('');
    const rows = plan.passes.map((pass, number) => {
      const [first, end] = pass.steps;
      const steps = end - first === 1 ? `${first + 1}` : `${first + 1}–${end}`;
      return `<tr><td class="number">${number + 1}</td><td class="number">${steps}</td><td><span class="place ${pass.place}"></span>${pass.place}</td>` +
        `<td>${escapeText(pass.what)}</td><td class="number">${amount(plan.bytes_of_pass)}</td></tr>`;
    });
    element('plan-passes').innerHTML =
      '<tr><th class="number">pass</th><th class="number">steps</th><th>keys sit in</th><th>what</th><th class="number">moves</th></tr>' + rows.join('');
    element('plan-alt').textContent =
      `${n.toLocaleString('en')} keys: ${plan.steps.length} steps in ${plan.passes.length} passes, ${overMemory} of them over memory.`;
  }
}

/** @param {GivenPlan | null} given */
function frame(given) {
  const shapes = SHAPES.map(({ name }, number) => `<option value="${number}"${number === 3 && !given ? ' selected' : ''}>${name}</option>`).join('');
  const below = given?.network ? 'Below, the same passes as a picture.' : 'Below, the network in place on the same device, which oblivious sorts use.';
  const notes = given
    ? `<section class="card" aria-label="The plan"><pre tabindex="0">${escapeText(given.text)}</pre><p class="small">${below}</p></section>`
    : '';
  return `<h2 id="plan-title">A sort is a plan</h2>
<p>A machine spends its time moving keys, not comparing them. So steps that stay within a block of keys, a <b>tile</b>, are done together while the tile sits in registers, in a cache or in local memory. Steps between tiles go over memory, several at a time: whoever holds 2^s keys far apart can do s steps before writing them back.</p>
${notes}
<div class="tools" role="group" aria-label="What is planned">
  <label>Keys <output id="plan-n-text"></output><input id="plan-n" type="range" min="1" max="30" value="20" aria-label="Base-2 logarithm of the number of keys"></label>
  <label>Key type <select id="plan-bytes"><option value="1">8 bits</option><option value="2">16 bits</option><option value="4" selected>32 bits</option><option value="8">64 bits</option><option value="16">128 bits</option></select></label>
  <label>Machine <select id="plan-shape">${given ? '<option value="given">the one explained above</option>' : ''}${shapes}<option value="own">as set at the right</option></select></label>
  <label>A tile holds <output id="plan-tile-text"></output><input id="plan-tile" type="range" min="0" max="16" value="13" aria-label="Base-2 logarithm of the keys in a tile"></label>
  <label>A pass over memory does up to <output id="plan-fused-text"></output><input id="plan-fused" type="range" min="1" max="10" value="6" aria-label="Most steps of a pass over memory"></label>
</div>
<div class="sums" id="plan-sums" aria-live="polite"></div>
<div class="figure" tabindex="0" role="img" aria-labelledby="plan-alt"><div id="plan-picture"></div></div>
<p class="small">From left to right the steps of the network, from bottom to top the bits of a key’s place. A mark shows in which bit the two places differ that a step compares: a flip in all bits up to its own, a half-cleaner in one. Below the line are steps inside a tile. Brackets are passes. <span class="place tile"></span>tile <span class="place memory"></span>memory. <span id="plan-alt"></span></p>
<div class="passes" tabindex="0" aria-label="The passes"><table id="plan-passes"></table></div>
<h2>Large arrays: fewer passes than the network</h2>
<p>The number of passes of the network grows with the square of the logarithm. From some length on, two other ways are faster; both leave the blocks that fit a tile to the network. In the pictures the larger key has the stronger colour.</p>
<section class="card" aria-labelledby="columnsort-title"><h2 id="columnsort-title">Columnsort</h2><p class="small">The array is a matrix. Sort every column, deal the keys to all columns, sort, collect them, sort: what is still out of place is near a border between columns. What is compared and moved does not depend on the keys.</p><div class="pictures" id="plan-columnsort"></div></section>
<section class="card" aria-labelledby="partition-title"><h2 id="partition-title">Partition</h2><p class="small">Keys below a pivot go to the left, the others to the right, in place, until every part fits a tile; then the network sorts each. Where a part ends depends on the keys, so secrets are not sorted this way.</p><div class="pictures" id="plan-partition"></div></section>`;
}

/** The colour of a key among so many. @param {number} key @param {number} count */
const keyFill = (key, count) => `color-mix(in oklab, var(--key-large) ${Math.round((100 * key) / (count - 1))}%, var(--key-small))`;

/** The array as a matrix, column beside column. @param {Picture} shown */
function columns({ done, keys, parts }) {
  const [wide, high] = [22, 5];
  const length = keys.length / 4;
  const cells = keys.map((key, place) =>
    `<rect x="${Math.floor(place / length) * (wide + 3)}" y="${(place % length) * high}" width="${wide}" height="${high + 0.3}" fill="${keyFill(key, keys.length)}"/>`);
  const borders = parts.filter((start) => start % length).map((start) =>
    `<line x1="${Math.floor(start / length) * (wide + 3) - 1}" x2="${Math.floor(start / length) * (wide + 3) + wide + 1}" y1="${(start % length) * high}" y2="${(start % length) * high}" stroke="var(--swap)" stroke-width="1.5"/>`);
  return `<figure><svg viewBox="-1 -1 101 ${length * high + 2}" width="101" height="${length * high + 2}" role="img" aria-label="The matrix: ${escapeText(done)}">${cells.join('')}${borders.join('')}</svg><figcaption>${escapeText(done)}</figcaption></figure>`;
}

/** The array as a strip from left to right. @param {Picture} shown */
function strip({ done, keys, parts }) {
  const wide = 6;
  const cells = keys.map((key, place) => `<rect x="${place * wide}" y="4" width="${wide + 0.3}" height="26" fill="${keyFill(key, keys.length)}"/>`);
  const borders = parts.slice(1).map((start) => `<line x1="${start * wide}" x2="${start * wide}" y1="0" y2="34" stroke="var(--swap)" stroke-width="2"/>`);
  const width = keys.length * wide;
  return `<figure class="wide"><svg viewBox="0 0 ${width} 34" width="100%" preserveAspectRatio="none" height="34" role="img" aria-label="The array: ${escapeText(done)}">${cells.join('')}${borders.join('')}</svg><figcaption>${escapeText(done)}</figcaption></figure>`;
}

/** @param {Passes} plan @param {number} tile */
function picture(plan, tile) {
  const { steps, passes, merges } = plan;
  const cell = Math.max(4, Math.min(16, 1180 / Math.max(1, steps.length)));
  const bit = Math.max(7, Math.min(15, 300 / Math.max(1, merges)));
  const left = 40;
  const top = 22;
  const height = merges * bit;
  const width = left + steps.length * cell + 10;
  const y = (/** @type {number} */ number) => top + height - (number + 1) * bit;
  const placeOf = steps.map((_, step) => passes.find((pass) => step >= pass.steps[0] && step < pass.steps[1])?.place ?? 'memory');
  const marks = steps.map((step, number) => {
    const x = left + number * cell;
    const colour = `var(--place-${placeOf[number]})`;
    const [low, high] = step.flip ? [0, step.span - 1] : [step.span - 1, step.span - 1];
    const shape = placeOf[number] === 'memory' ? ` rx="${Math.min(3, cell / 2)}"` : '';
    return `<rect x="${x + cell * 0.12}" y="${y(high) + 1}" width="${cell * 0.76}" height="${(high - low + 1) * bit - 2}" fill="${colour}" opacity="${step.flip ? 0.55 : 1}"${shape}/>`;
  });
  const brackets = passes.map(({ place, steps: [first, end] }) => {
    const [x0, x1] = [left + first * cell + 1, left + end * cell - 1];
    const base = top + height + 6;
    return `<path d="M${x0} ${base}v5H${x1}v-5" fill="none" stroke="var(--place-${place})" stroke-width="${place === 'memory' ? 2.5 : 1.5}"/>`;
  });
  const borders = [];
  for (let merge = 1; merge <= merges; merge += 1) {
    const x = left + ((merge * (merge - 1)) / 2) * cell;
    if (merge * cell > 14) borders.push(`<text x="${x + (merge * cell) / 2}" y="12" text-anchor="middle">${merge}</text>`);
    borders.push(`<line x1="${x}" x2="${x}" y1="${top}" y2="${top + height}" stroke="var(--line)"/>`);
  }
  const labels = Array.from({ length: merges }, (_, number) =>
    (number % Math.ceil(merges / 20) === 0 ? `<text x="${left - 6}" y="${y(number) + bit * 0.75}" text-anchor="end">${number}</text>` : ''));
  const line = tile < merges && tile > 0
    ? `<line x1="${left}" x2="${width - 10}" y1="${y(tile - 1)}" y2="${y(tile - 1)}" stroke="var(--ink)" stroke-dasharray="5 4"/>` : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top + height + 18}" font-size="10" font-family="var(--mono)" fill="var(--faint)" aria-hidden="true">` +
    `<text x="4" y="12">merge</text><text x="4" y="${top + height + 12}">bit</text>${borders.join('')}${marks.join('')}${line}${labels.join('')}${brackets.join('')}</svg>`;
}

/** @param {number} bytes */
export function amount(bytes) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}
