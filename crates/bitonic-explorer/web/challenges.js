// Small tasks: build, repair, shorten, understand.
import { counted, element, escapeText } from './dom.js';

/**
 * @typedef {import('./bench.js').Bench} Bench
 * @typedef {{ wires: number, size?: number, depth?: number }} Goal a network that sorts, with at most so many comparators and stages
 * @typedef {{ title: string, text: string, start: string, keys?: number[], goal?: Goal, answers?: string[], right?: number,
 *             why?: string, hints: string[] }} Challenge
 */

/** @type {Challenge[]} */
export const CHALLENGES = [
  {
    title: 'Three wires',
    text: 'Build a network that sorts three keys with three comparators.',
    start: '# wires: 3',
    goal: { wires: 3, size: 3 },
    hints: [
      'First bring the largest key to the lowest wire.',
      'A comparator of wires 0 and 1, then one of wires 1 and 2: now wire 2 has the largest key. What is left?',
    ],
  },
  {
    title: 'Four wires, five comparators',
    text: 'Insertion sort needs six comparators for four keys. Five are enough.',
    start: '# wires: 4',
    goal: { wires: 4, size: 5 },
    hints: [
      'Sort two pairs at the same time.',
      'The smaller of the two smaller keys is the smallest of all, and the larger of the two larger keys the largest.',
      'Pairs (0,1) and (2,3), then (0,2) and (1,3). Two keys are in doubt.',
    ],
  },
  {
    title: 'Repair it',
    text: 'One comparator of this bitonic sorter was lost. Put it back: one more comparator is enough.',
    start: '[(0,1),(2,3),(4,5),(6,7)]\n[(0,3),(1,2),(4,7),(5,6)]\n[(0,1),(2,3),(4,5),(6,7)]\n[(0,7),(1,6),(3,4)]\n[(0,2),(1,3),(4,6),(5,7)]\n[(0,1),(2,3),(4,5),(6,7)]',
    goal: { wires: 8, size: 24 },
    hints: [
      'Play the counterexample and look for the stage that treats the wires unevenly.',
      'Stage 4 is a flip: the first wire with the last, the second with the last but one, and so on.',
    ],
  },
  {
    title: 'One too many',
    text: 'This bitonic sorter of six wires has a comparator that never does anything. Find it and delete it: 14 comparators sort, too.',
    start: '[(0,1),(2,3),(4,5)]\n[(0,3),(1,2)]\n[(0,1),(2,3),(4,5)]\n[(2,5),(3,4)]\n[(0,2),(1,3)]\n[(0,1),(2,3),(4,5)]',
    goal: { wires: 6, size: 14 },
    hints: [
      'Which comparator finds its two keys in order every time?',
      'Two comparators of the same two wires follow each other with nothing between them on these wires.',
    ],
  },
  {
    title: 'Five wires, five stages',
    text: 'Sort five keys with at most nine comparators in at most five stages. Both numbers are the least possible.',
    start: '# wires: 5',
    goal: { wires: 5, size: 9, depth: 5 },
    hints: [
      'Use every wire you can in the first stage: two comparators and one wire left.',
      'Start with (0,3) and (1,4). Then (0,2) and (1,3).',
      'Go on with (0,1) and (2,4), then (1,2) and (3,4). One comparator is left.',
    ],
  },
  {
    title: 'Six wires, twelve comparators',
    text: 'Twelve comparators sort six keys, and no network needs fewer. Find one.',
    start: '# wires: 6',
    goal: { wires: 6, size: 12 },
    hints: [
      'Sort two groups of three wires with three comparators each. Six are left to merge them.',
      'Or begin with three pairs, and sort their smaller keys and their larger keys.',
      'The network “smallest” with six wires shows a solution.',
    ],
  },
  {
    title: 'What does it compute?',
    text: 'This network does not sort. What is certain about what comes out?',
    start: '[(0,1)]\n[(1,2)]\n[(2,3)]\n[(3,4)]\n[(4,5)]',
    keys: [4, 6, 1, 5, 2, 3],
    answers: ['The smallest key is on wire 0.', 'The largest key is on wire 5.', 'Wire 2 has the median.'],
    right: 1,
    why: 'Each comparator takes the larger key one wire on. It is the first round of bubble sort: a maximum by tournament, one game after the other.',
    hints: ['Follow one key with single steps. Which keys travel far?', 'Try the reversed keys, then random ones.'],
  },
  {
    title: 'And this one?',
    text: 'Five keys enter. What is certain about wire 2 when they come out?',
    start: '[(0,1),(3,4)]\n[(0,3)]\n[(1,4)]\n[(1,2)]\n[(2,3)]\n[(1,2)]',
    keys: [3, 5, 1, 4, 2],
    answers: ['It has the median.', 'It has the smallest key.', 'Nothing is certain.'],
    right: 0,
    why: 'Seven comparators find the median of five keys. Sorting them takes nine: a network need not sort to be of use.',
    hints: ['Wire 2 is compared late, with keys that are neither the smallest nor the largest.', 'Try several random inputs.'],
  },
];

/** The view of the challenges. */
export class Challenges {
  /** @param {Bench} bench */
  constructor(bench) {
    this.bench = bench;
    this.number = 0;
    this.hints = 0;
    /** @type {Set<number>} */
    this.solved = new Set();
    this.shown = false;
    bench.onChange(() => this.shown && this.judge());
    element('challenges').addEventListener('click', (event) => this.click(event));
  }

  /** @param {number} number */
  open(number) {
    this.shown = true;
    this.number = Math.min(CHALLENGES.length - 1, Math.max(0, number));
    this.hints = 0;
    this.reply = '';
    const { start, goal, keys } = CHALLENGES[this.number];
    /** @type {any} */ (element('claim')).value = 'sorts';
    this.bench.secondKind = '';
    this.bench.setPattern('random');
    this.bench.showText(start, keys);
    if (!keys) this.bench.setKeys(this.bench.newKeys());
    this.bench.editor.setEditing(Boolean(goal));
    this.draw();
  }

  close() {
    if (!this.shown) return;
    this.shown = false;
    this.bench.editor.setEditing(false);
    /** @type {any} */ (element('claim')).value = 'own';
  }

  judge() {
    const { goal } = CHALLENGES[this.number];
    const { network, verdict } = this.bench;
    const met = goal && verdict?.verdict === 'proved' && network.wires === goal.wires && network.size > 0 &&
      network.size <= (goal.size ?? Infinity) && network.depth <= (goal.depth ?? Infinity);
    if (met) this.solved.add(this.number);
    this.draw();
  }

  draw() {
    const { title, text, goal, answers, hints, why } = CHALLENGES[this.number];
    const { network, verdict } = this.bench;
    const solved = this.solved.has(this.number);
    const list = CHALLENGES.map(({ title: name }, number) =>
      `<li><button type="button" data-challenge="${number}" aria-current="${number === this.number}"><span>${number + 1}. ${name}</span>` +
      `<span>${this.solved.has(number) ? '✓ solved' : ''}</span></button></li>`);
    const tooMany = goal?.size !== undefined && network.size > goal.size ? ' · too many comparators' : '';
    const tooDeep = goal?.depth !== undefined && network.depth > goal.depth ? ' · too many stages' : '';
    const sorts = verdict?.verdict === 'proved' ? 'sorts' : 'does not sort yet';
    const progress = goal ? `<p class="small">Now: ${counted(network.size, 'comparator')}, depth ${network.depth}, ${sorts}${tooMany}${tooDeep}</p>` : '';
    const choices = (answers ?? []).map((answer, number) =>
      `<button type="button" data-answer="${number}">${escapeText(answer)}</button>`).join('');
    const done = solved ? `<p class="solved">✓ Solved${why ? '.' : ': proved for every input.'}</p>${why ? `<p class="small">${why}</p>` : ''}` : '';
    element('challenges').innerHTML =
      `<section class="card" aria-labelledby="challenge-title"><h2 id="challenge-title">${title}</h2><p class="goal">${text}</p>${progress}` +
      `${choices ? `<div class="answers">${choices}</div>` : ''}<div aria-live="polite">${this.reply ?? ''}${done}</div>` +
      hints.slice(0, this.hints).map((hint, number) => `<p class="small"><b>Hint ${number + 1}.</b> ${hint}</p>`).join('') +
      `<div class="row"><button type="button" data-hint ${this.hints >= hints.length ? 'disabled' : ''}>Hint</button>` +
      `<button type="button" data-challenge="${this.number}">Start again</button></div></section>` +
      `<section class="card" aria-labelledby="challenge-list"><h2 id="challenge-list">All challenges</h2><ol class="list">${list.join('')}</ol></section>`;
  }

  /** @param {Event} event */
  click(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest('button');
    if (!button) return;
    if (button.dataset.challenge !== undefined) this.open(Number(button.dataset.challenge));
    else if (button.dataset.answer !== undefined) this.answer(Number(button.dataset.answer));
    else if ('hint' in button.dataset) {
      this.hints += 1;
      this.draw();
    }
    const again = button.dataset.challenge !== undefined ? '[aria-current=true]' : 'hint' in button.dataset ? '[data-hint]' : `[data-answer="${button.dataset.answer}"]`;
    /** @type {HTMLElement | null} */ (element('challenges').querySelector(again))?.focus();
  }

  /** @param {number} number */
  answer(number) {
    const right = number === CHALLENGES[this.number].right;
    if (right) this.solved.add(this.number);
    this.reply = right ? '' : '<p class="error">No: look for keys with which it is not so.</p>';
    this.draw();
  }
}
