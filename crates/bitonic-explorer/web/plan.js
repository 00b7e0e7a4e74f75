// The plan of a sort: which steps are done together, where the keys then sit, and how long that takes.
import { counted, duration, element, escapeText, messageOf } from './dom.js';

/**
 * A plan from outside, as `bitonic explain --html` writes it: its text, and the machine that it is for.
 * @typedef {{ text: string, keys: number, key_bytes: number, machine: object, network: boolean }} GivenPlan
 * @typedef {{ name: string, recorded?: string, machine: object }} Named a machine of the list
 * @typedef {{ done: string, keys: number[], parts: number[] }} Picture the data between two passes
 * @typedef {'memory' | 'local' | 'lanes' | 'registers'} Brought
 * @typedef {{ steps: [number, number], bits: [number, number], brought: Brought }} Run steps without a move of keys
 * @typedef {{ tile_log2: number, fused_steps: number, held_log2: number, lanes_log2: number }} Cut
 * @typedef {{ passes: number | null, bytes: number | null, least_seconds: number | null, predicted_seconds: number | null }} Cost
 * @typedef {{ merges: number, steps: { merge: number, flip: boolean, span: number }[], runs: Run[], cut: Cut, local: string,
 *             passes: { place: string, steps: [number, number], what: string }[], bytes_of_pass: number, in_place: Cost,
 *             default: { algorithm: string, text: string | null, cost: Cost } | null, copy_bytes_per_second: number | null }} Planned
 * @typedef {[string, number, number, boolean, number]} RecordedRow machine, bytes of a key, keys, whether in place, seconds
 * @typedef {{ rows: RecordedRow[], where: Record<string, string> }} Recorded
 */

/** Ways to write kernels for keys of 32 bits. @type {{ name: string, cut: Cut }[]} */
const WAYS = [
  { name: 'a kernel for every step', cut: { tile_log2: 0, fused_steps: 1, held_log2: 1, lanes_log2: 0 } },
  { name: 'tiles in local memory, a kernel for every other step', cut: { tile_log2: 10, fused_steps: 1, held_log2: 1, lanes_log2: 0 } },
  { name: 'the same, with steps fused in registers', cut: { tile_log2: 13, fused_steps: 6, held_log2: 5, lanes_log2: 0 } },
];

/** The sliders and what they set. @type {[string, keyof Cut][]} */
const SLIDERS = [['plan-tile', 'tile_log2'], ['plan-fused', 'fused_steps'], ['plan-held', 'held_log2'], ['plan-lanes', 'lanes_log2']];

/** From the slowest move to none. @type {Brought[]} */
const PLACES = ['memory', 'local', 'lanes', 'registers'];

export class PlanView {
  /** @param {import('./engine.js').Ask} ask @param {GivenPlan | null} given @param {Named[]} here machines that the command found */
  constructor(ask, given, here) {
    this.ask = ask;
    this.given = given;
    /** @type {Named[]} */
    this.machines = [...here, ...ask({ ask: 'machines' })];
    /** @type {Recorded} */
    this.recorded = JSON.parse(element('recorded-sorts').textContent ?? '{}');
    this.view = element('plan-view');
    this.view.innerHTML = frame(given, this.machines, here.length);
    this.view.addEventListener('input', (event) => this.input(/** @type {HTMLInputElement} */ (event.target)));
    const { columnsort, partition } = ask({ ask: 'large' });
    element('plan-columnsort').innerHTML = columnsort.map((/** @type {Picture} */ shown) => columns(shown)).join('');
    element('plan-partition').innerHTML = partition.map((/** @type {Picture} */ shown) => strip(shown)).join('');
    if (given) {
      this.set('plan-n', Math.max(1, Math.round(Math.log2(given.keys))));
      this.set('plan-bytes', given.key_bytes);
      this.set('plan-machine', 'given');
    } else this.set('plan-machine', here.length ? 'machine-0' : `machine-${this.machines.length - 1}`);
    this.draw();
  }

  /** @param {string} id @param {string | number} value */
  set(id, value) {
    /** @type {any} */ (element(id)).value = String(value);
  }

  /** @param {string} id @returns {string} */
  get(id) {
    return /** @type {any} */ (element(id)).value;
  }

  /** @param {HTMLInputElement} target */
  input(target) {
    if (SLIDERS.some(([id]) => id === target.id)) this.set('plan-machine', 'own');
    else if (target.id === 'plan-n' && this.get('plan-machine') === 'given') this.set('plan-machine', 'own');
    this.draw();
  }

  /** What is chosen in the list. @returns {{ machine: object, recorded?: string, keys?: number }} */
  chosen() {
    const [kind, number] = this.get('plan-machine').split('-');
    if (kind === 'given' && this.given) return { machine: this.given.machine, keys: this.given.keys };
    if (kind === 'machine') return this.machines[Number(number)];
    if (kind === 'way') return { machine: { is: 'own', ...WAYS[Number(number)].cut } };
    return { machine: { is: 'own', ...Object.fromEntries(SLIDERS.map(([id, name]) => [name, Number(this.get(id))])) } };
  }

  draw() {
    const { machine, recorded, keys } = this.chosen();
    const log2 = Number(this.get('plan-n'));
    const bytes = Number(this.get('plan-bytes'));
    const n = keys ?? 2 ** log2;
    element('plan-n-text').textContent = keys ? keys.toLocaleString('en') : `2^${log2} = ${n.toLocaleString('en')}`;
    try {
      /** @type {Planned} */
      const plan = this.ask({ ask: 'plan', n, key_bytes: bytes, machine });
      element('plan-error').textContent = '';
      this.showCut(plan);
      this.tell(plan, n);
      this.tellTimes(plan, n, bytes, recorded);
      element('plan-picture').innerHTML = picture(plan);
    } catch (error) {
      element('plan-error').textContent = `Not planned: ${messageOf(error)}`;
      for (const part of ['plan-sums', 'plan-picture', 'plan-passes', 'plan-times', 'plan-alt', 'plan-times-text']) element(part).textContent = '';
      element('plan-default').hidden = true;
    }
  }

  /** @param {Planned} plan */
  showCut({ cut, local }) {
    for (const [id, name] of SLIDERS) this.set(id, cut[name]);
    element('plan-tile-text').textContent = `2^${cut.tile_log2} keys`;
    element('plan-fused-text').textContent = counted(cut.fused_steps, 'step');
    element('plan-held-text').textContent = counted(2 ** cut.held_log2, 'key');
    element('plan-lanes-text').textContent = cut.lanes_log2 ? `${2 ** cut.lanes_log2}` : 'none';
    element('plan-local-name').textContent = local;
  }

  /** @param {Planned} plan @param {number} n */
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
      const chips = movesOf(plan.runs, pass.steps).map(([place, count]) => `<span class="chip"><span class="place ${place}"></span>${placeName(place, plan.local)} ${count}</span>`);
      return `<tr><td class="number">${number + 1}</td><td class="number">${steps}</td><td>${escapeText(pass.what)}</td><td>${chips.join(' ')}</td>` +
        `<td class="number">${amount(plan.bytes_of_pass)}</td></tr>`;
    });
    element('plan-passes').innerHTML =
      '<tr><th class="number">pass</th><th class="number">steps</th><th>what</th><th>steps, by what brings their keys</th><th class="number">moves</th></tr>' + rows.join('');
    const all = movesOf(plan.runs, [0, plan.steps.length]).map(([place, count]) => `${placeName(place, plan.local)} ${count}`);
    element('plan-alt').textContent =
      `${n.toLocaleString('en')} keys: ${counted(plan.steps.length, 'step')} in ${plan.passes.length === 1 ? '1 pass' : `${plan.passes.length} passes`}, ${overMemory} of them over memory. ` +
      `Steps by what brings their keys together: ${all.join(', ')}.`;
  }

  /** @param {Planned} plan @param {number} n @param {number} bytes @param {string} [machine] */
  tellTimes(plan, n, bytes, machine) {
    const other = plan.default;
    const inPlace = measuredTime(this.recorded, machine, bytes, n, true);
    // Where the default is the network, what was measured of the default was the network.
    const usual = measuredTime(this.recorded, machine, bytes, n, false);
    const rows = [timeRow('the network in place, as oblivious sorts run it', plan.in_place, inPlace ?? (other ? null : usual))];
    if (other) rows.push(timeRow(`the default: ${other.algorithm}`, other.cost, usual));
    element('plan-times').innerHTML =
      '<tr><th>sort</th><th class="number">passes</th><th class="number">moves</th><th class="number">at least</th><th class="number">predicted</th><th class="number">measured</th></tr>' + rows.join('');
    const speed = plan.copy_bytes_per_second;
    const least = speed
      ? `At least: the bytes of all passes at ${amount(speed)} a second, as fast as this device copies. It is a lower bound. Predicted: by the library’s plan, which adds a cost for every launch and for steps in tiles; what was measured shows how near that comes.`
      : 'At least and predicted: undecided, because no speed of copies is recorded for this machine.';
    const where = machine && this.recorded.where[machine];
    const measured = where ? `Measured: random keys, ${where}; see docs/benchmarks.md.` : 'Measured: nothing is recorded for this machine.';
    element('plan-times-text').textContent = `${least} ${measured}`;
    element('plan-default').hidden = !other?.text;
    element('plan-default-text').textContent = other?.text ?? '';
  }
}

/** @param {string} name @param {Cost} cost @param {number | null} measured */
function timeRow(name, cost, measured) {
  const cells = [
    cost.passes === null ? 'as keys demand' : String(cost.passes),
    cost.bytes === null ? 'undecided' : amount(cost.bytes),
    cost.least_seconds === null ? 'undecided' : duration(cost.least_seconds),
    cost.predicted_seconds === null ? 'undecided' : duration(cost.predicted_seconds),
    measured === null ? 'not recorded' : duration(measured),
  ];
  return `<tr><td>${escapeText(name)}</td>${cells.map((cell) => `<td class="number">${cell}</td>`).join('')}</tr>`;
}

/**
 * What was measured of so many keys.
 * @param {Recorded} recorded
 * @param {string | undefined} machine
 * @param {number} bytes
 * @param {number} n
 * @param {boolean} inPlace
 * @returns {number | null} seconds
 */
export function measuredTime(recorded, machine, bytes, n, inPlace) {
  const found = recorded.rows.find((row) => row[0] === machine && row[1] === bytes && row[2] === n && row[3] === inPlace);
  return found ? found[4] : null;
}

/**
 * How many steps find their keys brought in which way: the first step of a run by its move, the others in registers.
 * @param {Run[]} runs
 * @param {[number, number]} steps
 * @returns {[Brought, number][]} those that occur, the slowest first
 */
export function movesOf(runs, [first, end]) {
  const counts = { memory: 0, local: 0, lanes: 0, registers: 0 };
  for (const { steps, brought } of runs) {
    if (steps[0] < first || steps[1] > end) continue;
    counts[brought] += 1;
    counts.registers += steps[1] - steps[0] - 1;
  }
  return PLACES.filter((place) => counts[place] > 0).map((place) => [place, counts[place]]);
}

/** @param {Brought} place @param {string} local */
const placeName = (place, local) => (place === 'local' ? local : place);

/** @param {GivenPlan | null} given @param {Named[]} machines @param {number} here how many of them the command found */
function frame(given, machines, here) {
  const option = (/** @type {Named} */ { name }, /** @type {number} */ number) => `<option value="machine-${number}">${escapeText(name)}</option>`;
  const options = machines.map(option);
  const list = [
    given ? '<option value="given">the one explained above</option>' : '',
    here ? `<optgroup label="Here">${options.slice(0, here).join('')}</optgroup>` : '',
    `<optgroup label="Machines">${options.slice(here).join('')}</optgroup>`,
    `<optgroup label="Kernels that one might write">${WAYS.map(({ name }, number) => `<option value="way-${number}">${name}</option>`).join('')}<option value="own">as set here</option></optgroup>`,
  ];
  const below = given?.network ? 'Below, the same passes as a picture.' : 'Below, the network in place on the same machine, which oblivious sorts use.';
  const notes = given
    ? `<section class="card" aria-label="The plan"><pre tabindex="0">${escapeText(given.text)}</pre><p class="small">${below}</p></section>`
    : '';
  const slider = (/** @type {string} */ id, /** @type {string} */ text, /** @type {string} */ name, /** @type {number} */ min, /** @type {number} */ max) =>
    `<label>${text} <output id="${id}-text"></output><input id="${id}" type="range" min="${min}" max="${max}" aria-label="${name}"></label>`;
  return `<h2 id="plan-title">A sort is a plan</h2>
<p>A machine spends its time moving keys, not comparing them. So steps that stay within a block of keys, a <b>tile</b>, are done together while the tile sits in registers, in a cache or in local memory. Steps between tiles go over memory, several at a time: whoever holds 2^s keys far apart can do s steps before writing them back.</p>
${notes}
<div class="tools" role="group" aria-label="What is planned">
  <label>Keys <output id="plan-n-text"></output><input id="plan-n" type="range" min="1" max="30" value="20" aria-label="Base-2 logarithm of the number of keys"></label>
  <label>Key type <select id="plan-bytes"><option value="1">8 bits</option><option value="2">16 bits</option><option value="4" selected>32 bits</option><option value="8">64 bits</option><option value="16">128 bits</option></select></label>
  <label>Machine <select id="plan-machine">${list.join('')}</select></label>
</div>
<div class="tools" role="group" aria-label="How the network is cut">
  ${slider('plan-tile', 'A tile holds', 'Base-2 logarithm of the keys in a tile', 0, 16)}
  ${slider('plan-fused', 'A pass over memory does up to', 'Most steps of a pass over memory', 1, 10)}
  ${slider('plan-held', 'In registers at a time', 'Base-2 logarithm of the keys that a work-item holds, or of the rows of registers', 1, 8)}
  ${slider('plan-lanes', 'Lanes', 'Base-2 logarithm of the work-items of a sub-group, or of the lanes of a register', 0, 6)}
</div>
<p id="plan-error" class="error" role="alert"></p>
<div class="sums" id="plan-sums" aria-live="polite"></div>
<div class="figure" tabindex="0" role="img" aria-labelledby="plan-alt"><div id="plan-picture"></div></div>
<p class="small">From left to right the steps of the network, from bottom to top the bits of a key’s place. A mark shows in which bit the two places differ that a step compares: a flip in all bits up to its own, a half-cleaner in one. A frame has the bits that number the registers: steps inside it need no move. Its kind says how the keys were brought there: <span class="place memory"></span>from memory, <span class="place local"></span>through <span id="plan-local-name">local memory</span>, <span class="place lanes"></span>between lanes; <span class="place registers"></span>steps whose keys are in registers already. Below the dashed line are steps inside a tile. Brackets are passes. <span id="plan-alt"></span></p>
<section class="card" aria-labelledby="plan-times-title"><h2 id="plan-times-title">How long it takes</h2><div class="scroll" tabindex="0" role="group" aria-label="Times"><table id="plan-times"></table></div><p class="small" id="plan-times-text"></p>
<details id="plan-default" hidden><summary>The library’s plan of the default</summary><pre tabindex="0" id="plan-default-text"></pre></details></section>
<div class="passes" tabindex="0" role="group" aria-label="The passes"><table id="plan-passes"></table></div>
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

/** @param {Planned} plan */
function picture({ steps, passes, runs, merges, cut }) {
  const cell = Math.max(5, Math.min(18, 1180 / Math.max(1, steps.length)));
  const bit = Math.max(8, Math.min(16, 300 / Math.max(1, merges)));
  const left = 40;
  const top = 22;
  const height = merges * bit;
  const width = left + steps.length * cell + 10;
  const x = (/** @type {number} */ step) => left + step * cell;
  const y = (/** @type {number} */ number) => top + height - (number + 1) * bit;
  const frames = runs.map(({ steps: [first, end], bits: [low, high], brought }) => {
    const shown = Math.min(high, merges);
    return `<rect class="run ${brought}" x="${x(first) + 0.75}" y="${y(shown - 1) + 0.5}" width="${(end - first) * cell - 1.5}" height="${(shown - low) * bit - 1}" rx="2"/>`;
  });
  const marks = runs.flatMap(({ steps: [first, end], brought }) => steps.slice(first, end).map((step, index) => {
    const [low, high] = step.flip ? [0, step.span - 1] : [step.span - 1, step.span - 1];
    const colour = `var(--place-${index === 0 ? brought : 'registers'})`;
    return `<rect x="${x(first + index) + cell * 0.2}" y="${y(high) + 2}" width="${cell * 0.6}" height="${(high - low + 1) * bit - 4}" fill="${colour}" opacity="${step.flip ? 0.6 : 1}" rx="1"/>`;
  }));
  const brackets = passes.map(({ place, steps: [first, end] }) => {
    const base = top + height + 6;
    return `<path d="M${x(first) + 1} ${base}v5H${x(end) - 1}v-5" fill="none" stroke="var(--${place === 'memory' ? 'place-memory' : 'soft'})" stroke-width="${place === 'memory' ? 2.5 : 1.5}"/>`;
  });
  const borders = [];
  for (let merge = 1; merge <= merges; merge += 1) {
    const at = x((merge * (merge - 1)) / 2);
    if (merge * cell > 14) borders.push(`<text x="${at + (merge * cell) / 2}" y="12" text-anchor="middle">${merge}</text>`);
    borders.push(`<line x1="${at}" x2="${at}" y1="${top}" y2="${top + height}" stroke="var(--line)"/>`);
  }
  const labels = Array.from({ length: merges }, (_, number) =>
    (number % Math.ceil(merges / 20) === 0 ? `<text x="${left - 6}" y="${y(number) + bit * 0.75}" text-anchor="end">${number}</text>` : ''));
  const tile = cut.tile_log2;
  const line = tile < merges && tile > 0
    ? `<line x1="${left}" x2="${width - 10}" y1="${y(tile - 1)}" y2="${y(tile - 1)}" stroke="var(--ink)" stroke-dasharray="5 4"/>` : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top + height + 18}" font-size="10" font-family="var(--mono)" fill="var(--faint)" aria-hidden="true">` +
    `<text x="4" y="12">merge</text><text x="4" y="${top + height + 12}">bit</text>${borders.join('')}${frames.join('')}${marks.join('')}${line}${labels.join('')}${brackets.join('')}</svg>`;
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
