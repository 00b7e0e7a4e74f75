// The lecture: chapters of text, each with something live beside it.
import { element, escapeText } from './dom.js';
import { readKeys } from './keys.js';

/**
 * @typedef {import('./bench.js').Bench} Bench
 * @typedef {{ kind?: string, wires?: number, text?: string, keys?: number[], with?: string, unit?: string }} Scene
 * @typedef {{ title: string, html: string, scene: Scene, live?: 'bitonic' | 'cases' | 'sweep' }} Chapter
 */

/** @type {Chapter[]} */
export const CHAPTERS = [
  {
    title: 'One comparator',
    html: `<p>A <b>wire</b> carries a key from left to right. A <b>comparator</b> joins two wires: the smaller key leaves on the upper one, the larger key on the lower one.</p>
<p>That is the only part there is. A <b>network</b> is a number of wires and a list of comparators, fixed before any key is seen. It has no “if”, and no loop that ends early.</p>
<p class="try">Press Play. Then drag a key at the left to the other wire, and play again.</p>`,
    scene: { kind: 'bitonic', wires: 2, keys: [7, 3] },
  },
  {
    title: 'Many comparators',
    html: `<p>Insertion sort is a network. The second key is compared with the first; the third moves up past both; the fourth past three.</p>
<p>Comparators on different wires do not know of each other, so they can work at the same time. Such a group is a <b>stage</b>. A network has two costs. Its <b>size</b>, the number of comparators, is the work. Its <b>depth</b>, the number of stages, is the time if every wire has a processor of its own.</p>
<p class="try">The lower network is the same sort, with one comparator a stage. The size is the same; look who is done first.</p>`,
    scene: { kind: 'insertion-parallel', wires: 4, keys: [4, 3, 2, 1], with: 'insertion' },
  },
  {
    title: 'Zeros and ones',
    html: `<p>How can one know that a network sorts <em>everything</em>? Eight keys have 40,320 orders; sixteen have 20,922,789,888,000.</p>
<p><b>The 0-1 principle: a network that sorts every input of zeros and ones sorts every input.</b></p>
<p>Why: a comparator only looks at which key is larger. Replace every key below some limit by 0 and the others by 1. Every comparator does what it did before, or swaps two equal keys, which nobody can see. So if a network left a larger key above a smaller one, then with that key as the limit it would leave a 1 above a 0.</p>`,
    scene: { kind: 'odd-even-merge-sort', wires: 8, keys: [1, 0, 1, 1, 0, 0, 1, 0] },
    live: 'sweep',
  },
  {
    title: 'Bitonic sequences',
    html: `<p>A sequence is <b>bitonic</b> if it rises and then falls, or if it becomes such a sequence when its beginning is moved to its end. So one that falls and then rises is bitonic, too.</p>
<p>Think of the keys on a circle: they go up once and down once.</p>`,
    scene: { kind: 'bitonic-cleaner', wires: 8, keys: [1, 3, 6, 8, 7, 5, 4, 2] },
    live: 'bitonic',
  },
  {
    title: 'The half-cleaner',
    html: `<p>The <b>half-cleaner</b> is a single stage that compares wire i with wire i + n/2.</p>
<p><b>Theorem.</b> Of a bitonic sequence it makes two bitonic halves, and no key of the upper half is greater than a key of the lower half. On zeros and ones, one half comes out <em>clean</em>: all zeros or all ones.</p>
<p>A bitonic input of zeros and ones is a single stretch of ones on a circle. There are only n(n − 1) + 2 of them, so the theorem can be proved by trying each.</p>`,
    scene: { kind: 'half-cleaner', wires: 8, keys: [0, 0, 1, 1, 1, 1, 1, 0] },
    live: 'cases',
  },
  {
    title: 'A bitonic sequence is sorted',
    html: `<p>Both halves are bitonic, so each can be half-cleaned again, and each quarter after that. After log₂ n stages every piece is one key, and no key of a piece is greater than a key of the next: <b>the sequence is sorted.</b></p>
<p>Half-cleaners of 8, 4 and 2 wires: that is the whole merge.</p>`,
    scene: { kind: 'bitonic-cleaner', wires: 8, keys: [1, 3, 6, 8, 7, 5, 4, 2] },
  },
  {
    title: 'The sorter',
    html: `<p>Now sort. Two keys side by side, one pair up and the next pair down, are a bitonic sequence of four. A merge sorts it. Two such fours, one up and one down, are a bitonic sequence of eight. And so on, doubling.</p>
<p>Each shaded box is a merge; arrows point to where the larger key goes. For 2<sup>k</sup> keys there are k rounds of merges and k(k + 1)/2 stages of n/2 comparators each.</p>`,
    scene: { kind: 'bitonic-alternating', wires: 8, keys: [26, 53, 11, 97, 60, 4, 75, 38], unit: 'block' },
  },
  {
    title: 'All arrows one way: the flip',
    html: `<p>The arrows in both directions are a nuisance: a program must know for each comparator which way it points. They go away if both halves are sorted up. Read the second half backwards, and the two make a bitonic sequence again.</p>
<p>So the first stage of a merge compares the first wire with the last, the second with the last but one, and so on: a <b>flip</b>. A bitonic sequence read backwards is still bitonic, so ordinary half-cleaners finish the work.</p>
<p>In numbers: the flip compares i with i xor (2<sup>k</sup> − 1), the half-cleaners compare i with i xor 2<sup>j</sup>. This is the form that the library uses everywhere.</p>`,
    scene: { kind: 'bitonic', wires: 8, keys: [26, 53, 11, 97, 60, 4, 75, 38] },
  },
  {
    title: 'Any number of keys',
    html: `<p>So far n was a power of two. The usual way out is padding: fill up with the largest key, sort, drop what was added. In flip form there is nothing to do.</p>
<p>Imagine wires for the missing keys at the bottom, all carrying infinity. A comparator that touches one of them has it as its lower wire, and there the infinity stays. Such a comparator never changes anything: leave it out, and the imagined wire with it.</p>
<p class="try">Change the number of wires above. The network sorts for every n, and nothing is padded.</p>`,
    scene: { kind: 'bitonic', wires: 6, keys: [5, 2, 6, 1, 4, 3] },
  },
  {
    title: 'Other ways: odd and even',
    html: `<p><b>Odd-even merge sort</b>, also by Batcher, merges the keys with even and with odd numbers separately, then compares neighbours. It needs fewer comparators than the bitonic sorter, at the same depth; but some wires pause, and the distances are less regular.</p>
<p><b>Odd-even transposition</b> only ever compares neighbours, in n phases. It is simple, and quadratic: a key travels one wire a phase.</p>
<p class="try">Both sort the same reversed keys here. Look at the table of the Network view for the counts: 63 comparators against 120.</p>`,
    scene: { kind: 'odd-even-merge-sort', wires: 16, keys: [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1], with: 'odd-even-transposition' },
  },
  {
    title: 'From the network to the machine',
    html: `<p>A program does not draw wires: it runs loops over an array. Each stage is a pass over the keys, and moving the keys costs more than comparing them.</p>
<p><b>A processor</b> compares eight or sixteen keys with one instruction, because it knows beforehand which ones meet. <b>Threads</b> share the blocks of a stage and wait for each other between stages. <b>A GPU</b> has a work-item for every few keys; if every stage were a kernel of its own, a million keys would cross the memory bus 210 times.</p>
<p>So stages that stay within a block of keys are done together while the block sits in registers or in local memory. That grouping is the <b>plan</b> of a sort; the view <b>Plan</b> above draws it.</p>`,
    scene: { kind: 'bitonic', wires: 16, unit: 'block' },
  },
];

/** The view of the tour. */
export class Tour {
  /** @param {Bench} bench */
  constructor(bench) {
    this.bench = bench;
    this.number = 0;
    this.case = 0;
    /** @type {string[]} */
    this.cases = [];
    element('tour').addEventListener('click', (event) => this.click(event));
    element('tour').addEventListener('input', (event) => this.input(/** @type {HTMLInputElement} */ (event.target)));
  }

  /** @param {number} number */
  open(number) {
    this.number = Math.min(CHAPTERS.length - 1, Math.max(0, number));
    const { scene } = CHAPTERS[this.number];
    const { bench } = this;
    bench.sweep.stop();
    bench.secondKind = scene.with ?? '';
    bench.setPattern(scene.keys ? 'typed' : 'random');
    /** @type {any} */ (element('unit')).value = scene.unit ?? 'stage';
    bench.showKind(scene.kind ?? 'bitonic', scene.wires ?? 8, scene.keys);
    this.case = 0;
    this.draw();
  }

  draw() {
    const { title, html, live } = CHAPTERS[this.number];
    const last = CHAPTERS.length - 1;
    const contents = CHAPTERS.map((chapter, number) =>
      `<li><button type="button" data-chapter="${number}" aria-current="${number === this.number}">${number + 1}. ${chapter.title}</button></li>`);
    element('tour').innerHTML =
      `<section class="card" aria-labelledby="chapter-title"><div class="tour-text"><p class="small">Chapter ${this.number + 1} of ${CHAPTERS.length}</p>` +
      `<h2 id="chapter-title" tabindex="-1">${title}</h2>${html}${this.live(live)}</div>` +
      `<div class="steps"><button type="button" data-chapter="${this.number - 1}" ${this.number === 0 ? 'disabled' : ''}>← Back</button>` +
      `<button type="button" class="main" data-chapter="${this.number + 1}" ${this.number === last ? 'disabled' : ''}>Next →</button></div></section>` +
      `<details class="card"><summary>All chapters</summary><ol class="list">${contents.join('')}</ol></details>`;
    if (live === 'bitonic') this.judge(this.bench.keys.join(' '));
    if (live === 'cases') {
      this.cases = this.bench.ask({ ask: 'bitonic_inputs', wires: this.bench.network.wires });
      this.showCase(Math.max(0, this.cases.indexOf(this.bench.keys.join(''))), false);
    }
  }

  /** @param {Chapter['live']} live */
  live(live) {
    switch (live) {
      case 'bitonic':
        return `<div class="try"><label>Is this bitonic? Type eight keys. <input id="tour-keys" type="text" value="${this.bench.keys.join(' ')}" autocomplete="off"></label>
<p id="tour-verdict" aria-live="polite"></p>
<div class="row"><button type="button" data-keys="6 7 8 5 3 1 2 4">rotated</button><button type="button" data-keys="8 5 2 1 3 4 6 7">falls, rises</button><button type="button" data-keys="1 5 2 6 3 7 4 8">zigzag</button></div></div>`;
      case 'cases':
        return `<div class="try"><label>All bitonic inputs of zeros and ones <input id="tour-case" type="range" min="0" max="57" value="0"></label>
<p id="tour-verdict" aria-live="polite"></p>
<div class="row"><button type="button" data-run>Try each</button></div></div>`;
      case 'sweep':
        return `<div class="try"><p>All 256 inputs of eight wires, before your eyes:</p><div class="row"><button type="button" data-sweep>Try all inputs</button></div><p id="tour-verdict" aria-live="polite"></p></div>`;
      default:
        return '';
    }
  }

  /** Says whether keys are bitonic, and puts them on the wires. @param {string} text */
  judge(text) {
    const place = element('tour-verdict');
    const read = readKeys(text, this.bench.network.wires);
    if ('error' in read) {
      place.textContent = `${read.error}.`;
      return;
    }
    const { bitonic, turns } = this.bench.ask({ ask: 'sequence', keys: read.keys });
    const around = turns === 0 ? 'never turn' : `turn ${turns} times`;
    place.innerHTML = bitonic
      ? `<b class="solved">Bitonic.</b> On the circle the keys ${around}. The network sorts them.`
      : `<b class="error">Not bitonic.</b> On the circle the keys ${around}; a bitonic sequence turns at most twice. The network need not sort them.`;
    this.bench.setPattern('typed');
    if (read.keys.join() !== this.bench.keys.join()) this.bench.setKeys(read.keys);
  }

  /** @param {number} number @param {boolean} end whether keys have come out already */
  showCase(number, end) {
    this.case = number;
    const text = this.cases[number];
    /** @type {any} */ (element('tour-case')).value = number;
    this.bench.setPattern('typed');
    this.bench.setKeys([...text].map(Number), end ? this.bench.network.size : 0);
    const { trace } = this.bench.panel;
    const out = trace.states[trace.states.length - 1].map((origin) => text[origin]);
    const half = out.length / 2;
    const clean = (/** @type {string[]} */ keys) => keys.every((key) => key === keys[0]);
    const which = clean(out.slice(0, half)) ? 'The upper half' : clean(out.slice(half)) ? 'The lower half' : 'No half';
    element('tour-verdict').innerHTML = `Case ${number + 1} of ${this.cases.length}: <code>${escapeText(text)}</code>. ${which} comes out clean.`;
  }

  run() {
    let number = 0;
    const chapter = this.number;
    const go = () => {
      if (this.number !== chapter || element('tour-case') === null) return;
      this.showCase(number, true);
      number += 1;
      if (number < this.cases.length) setTimeout(go, 70);
      else element('tour-verdict').innerHTML += ' <b class="solved">That was every case: the theorem holds for eight wires.</b>';
    };
    go();
  }

  /** @param {HTMLInputElement} target */
  input(target) {
    if (target.id === 'tour-keys') this.judge(target.value);
    if (target.id === 'tour-case') this.showCase(Number(target.value), false);
  }

  /** @param {Event} event */
  click(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest('button');
    if (!button) return;
    if (button.dataset.chapter !== undefined) {
      this.open(Number(button.dataset.chapter));
      element('chapter-title').focus();
      this.onMove?.();
    } else if (button.dataset.keys !== undefined) {
      /** @type {any} */ (element('tour-keys')).value = button.dataset.keys;
      this.judge(button.dataset.keys);
    } else if ('run' in button.dataset) this.run();
    else if ('sweep' in button.dataset) {
      this.bench.sweep.start();
      const place = element('tour-verdict');
      const watch = () => {
        place.textContent = element('sweep-text').textContent;
        if (this.bench.sweep.frame) requestAnimationFrame(watch);
      };
      requestAnimationFrame(watch);
    }
  }

  /** @type {(() => void) | undefined} */
  onMove;
}
