// The workbench: one network on the screen, what plays on it, and what the reader changes.
import { Panel } from './panel.js';
import { Undo } from './undo.js';
import { Editor } from './editor.js';
import { Sweep } from './sweep.js';
import { capital, counted, element, escapeText, messageOf, milliseconds } from './dom.js';
import { patternKeys, readKeys } from './keys.js';
import { halts, haltAt, stageAt, stageEnds } from './timeline.js';

/**
 * @typedef {import('./engine.js').Ask} Ask
 * @typedef {import('./engine.js').Network} Network
 * @typedef {import('./engine.js').Verdict} Verdict
 * @typedef {import('./prover.js').Prover} Prover
 * @typedef {{ kind: string, network: Network }} Shown
 */

/** How long a stage takes at speed 1, and a comparator, in milliseconds. */
const STAGE_TIME = 1000;
const COMPARATOR_TIME = 650;

/** Longer lists of keys are for screen readers only. */
const MOST_KEYS_IN_WORDS = 20;

/** The height of a picture of few wires, in pixels, and of each of two. */
const HEIGHT = 520;
const HEIGHT_OF_TWO = 300;

export class Bench {
  /**
   * @param {Ask} ask
   * @param {Prover} prover
   */
  constructor(ask, prover) {
    this.ask = ask;
    this.prover = prover;
    this.panel = new Panel(element('panel'));
    this.second = new Panel(element('second'));
    /** @type {Undo<Shown>} */
    this.history = new Undo(this.generate('bitonic', 8));
    this.kind = 'bitonic';
    /** @type {number[]} */
    this.keys = [];
    this.secondKind = '';
    this.halt = 0;
    this.playing = false;
    /** @type {{ from: number, to: number, start: number } | null} */
    this.flight = null;
    /** @type {Verdict | null} */
    this.verdict = null;
    /** @type {Set<() => void>} whom to tell that another network or other keys are shown, or that a verdict came */
    this.listeners = new Set();
    this.stillness = window.matchMedia('(prefers-reduced-motion: reduce)');
    this.editor = new Editor(this);
    this.sweep = new Sweep(this);
    this.listen();
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.listeners.add(listener);
  }

  tell() {
    for (const listener of this.listeners) listener();
  }

  /** @returns {Network} */
  get network() {
    return this.history.states[this.history.at].network;
  }

  /** @param {string} kind @param {number} wires @returns {Shown} */
  generate(kind, wires) {
    return { kind, network: this.ask({ ask: 'generate', kind, wires }) };
  }

  /** The number of comparators that have worked. */
  get done() {
    const all = this.halts();
    return all[Math.min(this.halt, all.length - 1)];
  }

  /** @returns {import('./timeline.js').Unit} */
  get unit() {
    return /** @type {any} */ (element('unit')).value;
  }

  halts() {
    return halts(this.network, this.unit);
  }

  // What is shown

  /**
   * Shows a network of a kind.
   * @param {string} kind
   * @param {number} wires
   * @param {number[]} [keys]
   */
  showKind(kind, wires, keys) {
    this.show(this.generate(kind, wires), keys);
  }

  /**
   * Shows the network in a text.
   * @param {string} text
   * @param {number[]} [keys]
   */
  showText(text, keys) {
    this.show({ kind: '', network: this.ask({ ask: 'read', text }) }, keys);
  }

  /** Begins anew with this network. @param {Shown} shown @param {number[]} [keys] */
  show(shown, keys) {
    this.history = new Undo(shown);
    this.changed(keys);
  }

  /** Goes on with a changed network, which is of no kind. @param {Network} network */
  add(network) {
    this.history.add({ kind: '', network });
    this.changed();
  }

  /** After another network has come. @param {number[]} [keys] */
  changed(keys) {
    const { kind, network } = this.history.states[this.history.at];
    this.kind = kind;
    // What was proved was proved of another network: whoever hears of the change must not take it for this one's.
    this.verdict = null;
    this.sweep.stop();
    this.panel.selection = null;
    this.panel.ghost = null;
    if (this.panel.cursor) {
      this.panel.cursor.slot = Math.min(this.panel.cursor.slot, 2 * network.depth);
      this.panel.cursor.wire = Math.min(this.panel.cursor.wire, network.wires - 1);
    }
    this.fillChoices();
    this.setKeys(keys ?? (this.keys.length === network.wires ? this.keys : this.newKeys()));
    this.prove();
  }

  newKeys() {
    const pattern = element('pattern');
    if (/** @type {any} */ (pattern).value === 'typed') /** @type {any} */ (pattern).value = 'random';
    return patternKeys(/** @type {any} */ (pattern).value, this.network.wires);
  }

  /** @param {number[]} keys @param {number} [done] */
  setKeys(keys, done = 0) {
    this.keys = keys;
    this.halt = haltAt(this.halts(), done);
    this.flight = null;
    this.pause();
    const input = /** @type {HTMLInputElement} */ (element('keys'));
    if (document.activeElement !== input) input.value = keys.join(' ');
    element('keys-error').textContent = '';
    const height = this.secondKind ? HEIGHT_OF_TWO : HEIGHT;
    this.panel.height = height;
    this.second.height = height;
    this.panel.show(this.network, keys, this.ask({ ask: 'trace', network: this.network.list, keys }));
    this.showSecond();
    this.rest();
    this.tell();
  }

  showSecond() {
    const shown = this.secondKind !== '';
    element('second').hidden = !shown;
    element('second-title').hidden = !shown;
    element('compare').hidden = !shown;
    if (!shown) return;
    try {
      const network = this.generate(this.secondKind, this.network.wires).network;
      const trace = this.ask({ ask: 'trace', network: network.list, keys: this.keys });
      element('second-title').textContent = this.secondKind;
      element('second').setAttribute('aria-label', `The network ${this.secondKind} on the same keys`);
      this.second.show(network, this.keys, trace);
      this.tellComparison();
    } catch (error) {
      element('second').hidden = true;
      element('second-title').textContent = messageOf(error);
      element('compare').hidden = true;
    }
  }

  tellComparison() {
    const rows = [
      { name: this.kind || 'your network', network: this.network, trace: this.panel.trace },
      { name: this.secondKind, network: /** @type {Network} */ (this.second.network), trace: this.second.trace },
    ];
    const first = Math.min(...rows.map((row) => row.trace.sorted_after_stage ?? Infinity));
    const cells = rows.map(({ name, network, trace }) => {
      const stage = trace.sorted_after_stage;
      const best = stage === first && Number.isFinite(first);
      return `<tr${best ? ' class="best"' : ''}><td>${escapeText(name)}</td><td class="number">${network.size}</td>` +
        `<td class="number">${network.depth}</td><td class="number">${stage === null ? 'never' : `stage ${stage}`}${best ? ' ✓' : ''}</td></tr>`;
    });
    element('compare').innerHTML =
      '<tr><th>network</th><th class="number">comparators</th><th class="number">depth</th><th class="number">in order after</th></tr>' +
      cells.join('');
  }

  fillChoices() {
    const wires = this.network.wires;
    const kinds = this.ask({ ask: 'kinds', wires });
    const fill = (/** @type {HTMLSelectElement} */ select, /** @type {string} */ chosen, /** @type {string} */ none) => {
      const options = kinds.map((/** @type {any} */ { name, exists }) =>
        `<option value="${name}"${exists ? '' : ' disabled'}${name === chosen ? ' selected' : ''}>${name}</option>`);
      select.innerHTML = (none ? `<option value=""${chosen ? '' : ' selected'}>${none}</option>` : '') + options.join('');
    };
    fill(element('kind'), this.kind, this.kind ? '' : 'your own');
    fill(element('second-kind'), this.secondKind, 'nothing');
    /** @type {any} */ (element('wires')).value = wires;
    const described = kinds.find((/** @type {any} */ { name }) => name === this.kind);
    element('kind-text').textContent = described ? capital(described.description) + '.' : '';
    const { size, depth } = this.network;
    element('counts').textContent = `${counted(wires, 'wire')}, ${counted(size, 'comparator')}, depth ${depth}`;
    /** @type {any} */ (element('undo')).disabled = !this.history.canUndo;
    /** @type {any} */ (element('redo')).disabled = !this.history.canRedo;
    element('sweep-text').textContent = '';
    element('sweep-map').hidden = true;
    /** @type {any} */ (element('sweep')).disabled = wires > 16;
    if (wires > 16) element('sweep-text').textContent = 'There are too many inputs to watch: choose at most 16 wires.';
  }

  // Playback

  /** Shows the halt without a movement. */
  rest() {
    this.flight = null;
    this.panel.rest(this.done);
    if (!element('second').hidden && this.second.network) this.second.rest(this.secondDone(this.halt));
    this.describe();
  }

  /** @param {number} halt */
  secondDone(halt) {
    const all = halts(/** @type {Network} */ (this.second.network), this.unit);
    return all[Math.min(halt, all.length - 1)];
  }

  lastHalt() {
    const own = this.halts().length - 1;
    if (element('second').hidden || !this.second.network) return own;
    return Math.max(own, halts(this.second.network, this.unit).length - 1);
  }

  /** Goes to a halt, moving there if it is the next one. @param {number} halt */
  goTo(halt) {
    const target = Math.min(this.lastHalt(), Math.max(0, halt));
    const from = this.halt;
    this.halt = target;
    if (Math.abs(target - from) === 1 && !this.stillness.matches) this.fly(from, target);
    else this.rest();
  }

  /** @param {number} from @param {number} to */
  fly(from, to) {
    this.flight = { from, to, start: performance.now() };
    this.describe();
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.step(now));
  }

  /** @param {number} now */
  step(now) {
    this.frame = 0;
    if (!this.flight) return;
    const { from, to, start } = this.flight;
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const all = this.halts();
    const own = [all[Math.min(low, all.length - 1)], all[Math.min(high, all.length - 1)]];
    const speed = 2 ** Number(/** @type {any} */ (element('speed')).value);
    const ends = stageEnds(this.network);
    const stages = this.unit === 'block' ? Math.max(1, stageAt(ends, own[1]) - stageAt(ends, own[0])) : 1;
    const time = ((this.unit === 'comparator' ? COMPARATOR_TIME : STAGE_TIME) * stages) / speed;
    const part = Math.min(1, Math.max(0, now - start) / time);
    const shown = to > from ? part : 1 - part;
    this.panel.fly(own[0], own[1], shown);
    if (!element('second').hidden && this.second.network) {
      this.second.fly(this.secondDone(low), this.secondDone(high), shown);
    }
    if (part < 1) {
      this.frame = requestAnimationFrame((next) => this.step(next));
      return;
    }
    this.rest();
    if (!this.playing) return;
    if (this.halt < this.lastHalt()) {
      this.halt += 1;
      this.fly(this.halt - 1, this.halt);
    } else {
      this.pause();
    }
  }

  play() {
    if (this.halt >= this.lastHalt()) {
      this.halt = 0;
      this.rest();
    }
    this.setPlaying(true);
    if (this.stillness.matches) this.playStill();
    else if (this.halt < this.lastHalt()) {
      this.halt += 1;
      this.fly(this.halt - 1, this.halt);
    } else this.pause();
  }

  /** Plays without movement: a halt after the other. */
  playStill() {
    if (!this.playing) return;
    this.halt = Math.min(this.lastHalt(), this.halt + 1);
    this.rest();
    if (this.halt >= this.lastHalt()) this.pause();
    else setTimeout(() => this.playStill(), 700);
  }

  pause() {
    this.setPlaying(false);
  }

  /** @param {boolean} playing */
  setPlaying(playing) {
    this.playing = playing;
    const button = element('play');
    button.textContent = playing ? '❚❚ Pause' : '▶ Play';
    button.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    element('caption').setAttribute('aria-live', playing ? 'off' : 'polite');
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** @param {number} by */
  stepBy(by) {
    this.pause();
    this.goTo(this.halt + by);
  }

  /** Says in words where the keys are. */
  describe() {
    const at = /** @type {HTMLInputElement} */ (element('at'));
    at.max = String(this.lastHalt());
    at.value = String(this.halt);
    const { network, panel } = this;
    const done = this.done;
    const ends = stageEnds(network);
    const keys = panel.trace.states[done]?.map((origin) => this.keys[origin]) ?? [];
    let text;
    if (network.size === 0) text = '<b>No comparators yet</b>';
    else if (done === 0) text = '<b>Start</b>';
    else {
      const comparator = panel.layout?.sequence[done - 1];
      const stage = comparator ? comparator.stage : 0;
      const part = network.stages[stage].parts[0];
      const block = network.blocks.find(({ stages: [first, end] }) => first <= stage && stage < end);
      const names = [block?.name, part && `${part.name} of ${part.bottom - part.top + 1}`].filter(Boolean);
      text = [`<b>Stage ${stage + 1} of ${network.depth}</b>`, ...names].join(' · ');
      if (this.unit === 'comparator' && comparator) {
        const swapped = panel.trace.states[done - 1][comparator.min] !== panel.trace.states[done][comparator.min];
        text += ` · wires ${comparator.min} and ${comparator.max} ${swapped ? 'change places' : 'stay'}`;
      }
      if (done === network.size) text += panel.trace.sorted_after === null ? ' · <b>not in order</b>' : ' · in order';
    }
    at.setAttribute('aria-valuetext', `stage ${stageAt(ends, done)} of ${network.depth}`);
    const hidden = keys.length > MOST_KEYS_IN_WORDS ? ' unseen' : '';
    element('caption').innerHTML = `${text} <span class="state${hidden}">${keys.map(escapeText).join(' ')}</span>`;
  }

  // Proofs

  /** @returns {import('./engine.js').Claim} */
  claim() {
    const chosen = /** @type {any} */ (element('claim')).value;
    if (chosen === 'own') return this.network.claim;
    return chosen === 'merges_two_runs' ? { does: chosen, split: Math.ceil(this.network.wires / 2) } : { does: chosen };
  }

  async prove() {
    const box = element('verdict');
    box.className = 'verdict';
    box.textContent = 'Proving …';
    element('play-failure').hidden = true;
    element('stop-proof').hidden = true;
    this.verdict = null;
    const patience = setTimeout(() => {
      element('stop-proof').hidden = false;
    }, 600);
    const result = await this.prover.ask({ ask: 'prove', network: this.network.list, claim: this.claim() });
    clearTimeout(patience);
    if (result.outdated) return;
    element('stop-proof').hidden = true;
    if (result.stopped) {
      box.innerHTML = '<b>Stopped</b>Nothing is known.';
      return;
    }
    this.verdict = result.answer ?? { verdict: 'unknown', text: result.error ?? '' };
    const { verdict, text } = this.verdict;
    const words = { proved: 'Proved', refuted: 'Refuted', unknown: 'Not known' };
    const time = verdict === 'proved' ? ` in ${milliseconds(result.milliseconds ?? 0)}` : '';
    box.className = `verdict ${verdict}`;
    box.innerHTML = `<b>${words[verdict]}</b>${escapeText(capital(text.replace(/^proved: /, '')))}${time}.`;
    element('play-failure').hidden = verdict !== 'refuted';
    this.tell();
  }

  playFailure() {
    if (this.verdict?.verdict !== 'refuted') return;
    this.sweep.stop();
    this.setPattern('typed');
    this.setKeys(/** @type {number[]} */ (this.verdict.input));
    this.play();
  }

  /** @param {string} pattern */
  setPattern(pattern) {
    /** @type {any} */ (element('pattern')).value = pattern;
  }

  // The reader's hands

  listen() {
    const on = (/** @type {string} */ id, /** @type {string} */ event, /** @type {(event: any) => void} */ act) =>
      element(id).addEventListener(event, act);
    on('kind', 'change', ({ target }) => target.value && this.try(() => this.showKind(target.value, this.network.wires)));
    on('wires', 'change', ({ target }) => this.setWires(Number(target.value)));
    on('pattern', 'change', ({ target }) => {
      if (target.value === 'typed') element('keys').focus();
      else this.setKeys(this.newKeys());
    });
    on('again', 'click', () => this.setKeys(this.newKeys()));
    on('keys', 'input', ({ target }) => this.typed(target.value));
    on('keys', 'blur', ({ target }) => {
      if (!element('keys-error').textContent) target.value = this.keys.join(' ');
    });
    on('first', 'click', () => this.stepBy(-Infinity));
    on('back', 'click', () => this.stepBy(-1));
    on('play', 'click', () => this.toggle());
    on('forward', 'click', () => this.stepBy(1));
    on('last', 'click', () => this.stepBy(Infinity));
    on('at', 'input', ({ target }) => {
      this.pause();
      this.halt = Number(target.value);
      this.rest();
    });
    on('unit', 'change', () => this.setUnit(this.unit));
    on('claim', 'change', () => this.prove());
    on('play-failure', 'click', () => this.playFailure());
    on('stop-proof', 'click', () => this.prover.stop());
    on('second-kind', 'change', ({ target }) => this.compareWith(target.value));
    document.addEventListener('keydown', (event) => this.key(event));
  }

  /** @param {() => void} act */
  try(act) {
    try {
      act();
    } catch (error) {
      element('keys-error').textContent = messageOf(error);
      this.fillChoices();
    }
  }

  /** @param {string} kind */
  compareWith(kind) {
    this.secondKind = kind;
    this.setKeys(this.keys, this.done);
  }

  /** @param {import('./timeline.js').Unit} unit */
  setUnit(unit) {
    const done = this.panel.flight ? this.panel.flight.leg[1] : this.panel.done;
    /** @type {any} */ (element('unit')).value = unit;
    this.halt = haltAt(this.halts(), done);
    this.pause();
    this.rest();
  }

  /** @param {number} wires */
  setWires(wires) {
    const wanted = Math.min(64, Math.max(1, Math.round(wires) || this.network.wires));
    if (this.kind) this.try(() => this.showKind(this.kind, wanted));
    else this.editor.change({ what: 'wires', wires: wanted });
  }

  /** @param {string} text */
  typed(text) {
    const read = readKeys(text, this.network.wires);
    if ('error' in read) {
      element('keys-error').textContent = `Keys: ${read.error}.`;
      return;
    }
    this.setPattern('typed');
    this.setKeys(read.keys);
  }

  /** Keys everywhere but in fields. @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || element('work').hidden || document.querySelector('dialog[open]')) return;
    if ((event.ctrlKey || event.metaKey) && !target.matches('input, textarea')) {
      if (event.key === 'z' && !event.shiftKey) this.editor.undo();
      else if (event.key === 'y' || (event.key.toLowerCase() === 'z' && event.shiftKey)) this.editor.redo();
      else return;
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, textarea, select')) return;
    if (event.key === ' ' && target.matches('button, summary, a')) return;
    const act = {
      ' ': () => this.toggle(),
      ArrowLeft: () => this.stepBy(-1),
      ArrowRight: () => this.stepBy(1),
      Home: () => this.stepBy(-Infinity),
      End: () => this.stepBy(Infinity),
      c: () => this.setUnit('comparator'),
      s: () => this.setUnit('stage'),
      b: () => this.setUnit('block'),
      n: () => this.setKeys(this.newKeys()),
      e: () => {
        this.editor.setEditing(!this.editor.editing);
        if (this.editor.editing) element('panel').focus();
      },
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }
}
