// Starts the page.
import { Bench } from './bench.js';
import { element, messageOf } from './dom.js';
import { Challenges } from './challenges.js';
import { LadderView } from './ladder.js';
import { PlanView } from './plan.js';
import { Prover } from './prover.js';
import { Tour } from './tour.js';
import { startEngine } from './engine.js';
import { longNetwork, readPlace, shortNetwork, writePlace } from './permalink.js';

/** @typedef {import('./permalink.js').Place} Place */

const VIEWS = ['network', 'tour', 'challenges', 'plan', 'ladder'];

class App {
  /**
   * @param {import('./engine.js').Ask} ask
   * @param {Prover} prover
   * @param {any} opened what the command put into the page
   */
  constructor(ask, prover, opened) {
    this.ask = ask;
    this.bench = new Bench(ask, prover);
    this.tour = new Tour(this.bench);
    this.tour.onMove = () => this.remember();
    this.challenges = new Challenges(this.bench);
    this.plan = new PlanView(ask, opened.plan ?? null, opened.machines ?? []);
    this.ladder = new LadderView(ask, opened.measured ?? null);
    this.ladder.onMove = () => this.remember();
    this.view = 'network';
    this.bench.onChange(() => this.remember());
    this.listen();
    this.open(location.hash.length > 1 ? readPlace(location.hash) : openedPlace(opened));
    if (opened.network && location.hash.length <= 1) this.guard(() => this.bench.showText(opened.network, opened.input));
    this.ready = true;
    this.remember();
  }

  /** Tells the reader what goes wrong. @param {() => void} act @returns {boolean} whether nothing did */
  guard(act) {
    try {
      act();
      element('failure').hidden = true;
      return true;
    } catch (error) {
      element('failure').hidden = false;
      element('failure').textContent = messageOf(error);
      return false;
    }
  }

  /** Shows what an address says. @param {Place} place */
  open(place) {
    this.setView(VIEWS.includes(place.view ?? '') ? /** @type {string} */ (place.view) : 'network', place);
    if (this.view === 'tour' || this.view === 'challenges') return;
    const { bench } = this;
    bench.secondKind = place.second ?? '';
    bench.setPattern(place.input ? 'typed' : 'random');
    const shown = this.guard(() => {
      if (place.rungs?.length) this.ladder.open(place.rungs);
      if (place.network) bench.showText(longNetwork(place.network), place.input);
      else bench.showKind(place.kind ?? 'bitonic', place.wires ?? 8, place.input);
      if (place.done) bench.setKeys(bench.keys, place.done);
    });
    if (!shown) bench.showKind('bitonic', 8);
  }

  /** @param {string} view @param {Place} [place] */
  setView(view, place = {}) {
    const before = this.view;
    this.view = view;
    for (const button of element('views').querySelectorAll('button')) {
      if (button.dataset.view === view) button.setAttribute('aria-current', 'page');
      else button.removeAttribute('aria-current');
    }
    element('plan-view').hidden = view !== 'plan';
    element('ladder-view').hidden = view !== 'ladder';
    element('work').hidden = view === 'plan' || view === 'ladder';
    element('work').dataset.view = view;
    for (const part of document.querySelectorAll('[data-for]')) {
      /** @type {HTMLElement} */ (part).hidden = !(/** @type {HTMLElement} */ (part).dataset.for ?? '').split(' ').includes(view);
    }
    this.bench.pause();
    this.ladder.setPlaying(false);
    this.bench.sweep.stop();
    if (before === 'challenges' && view !== 'challenges') this.challenges.close();
    if (view === 'tour') this.tour.open(place.chapter !== undefined ? place.chapter - 1 : this.tour.number);
    if (view === 'challenges') this.challenges.open(place.challenge !== undefined ? place.challenge - 1 : this.challenges.number);
    this.remember();
  }

  /** @returns {Place} */
  place() {
    const { bench, view } = this;
    if (view === 'tour') return { view, chapter: this.tour.number + 1 };
    if (view === 'challenges') return { view, challenge: this.challenges.number + 1 };
    if (view === 'plan') return { view };
    if (view === 'ladder') return { view, rungs: this.ladder.films.map(({ rung }) => rung) };
    const { list, wires } = bench.network;
    const what = bench.kind ? { kind: bench.kind, wires } : { network: shortNetwork(list, wires) };
    return { view, ...what, input: bench.keys, done: bench.done || undefined, second: bench.secondKind || undefined };
  }

  /** Keeps the address in step, so that it can be copied any time. */
  remember() {
    if (!this.ready || this.bench.sweep.frame || this.awaited) return;
    this.awaited = setTimeout(() => {
      this.awaited = undefined;
      const hash = writePlace(this.place());
      if (hash !== location.hash) history.replaceState(null, '', hash);
    }, 150);
  }

  listen() {
    element('views').addEventListener('click', (event) => {
      const view = /** @type {HTMLElement} */ (event.target).closest('button')?.dataset.view;
      if (view) this.setView(view);
    });
    // The event's own address: the one of the page may have been brought in step meanwhile.
    window.addEventListener('hashchange', ({ newURL }) => this.open(readPlace(new URL(newURL).hash)));
    element('skip').addEventListener('click', (event) => {
      event.preventDefault();
      element('main').focus();
    });
    element('help-open').addEventListener('click', () => /** @type {HTMLDialogElement} */ (element('help')).showModal());
    document.addEventListener('keydown', (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (event.key === '?' && !target.matches('input, textarea, select') && !document.querySelector('dialog[open]')) {
        /** @type {HTMLDialogElement} */ (element('help')).showModal();
      }
    });
    element('copy-link').addEventListener('click', () => this.copyLink());
    for (const form of ['list', 'json', 'svg']) {
      element(`save-${form}`).addEventListener('click', () => this.save(form));
    }
    element('import').addEventListener('click', () => this.bring(/** @type {any} */ (element('import-text')).value));
    element('import-file').addEventListener('change', async ({ target }) => {
      const file = /** @type {HTMLInputElement} */ (target).files?.[0];
      if (!file) return;
      const text = await file.text();
      /** @type {any} */ (element('import-text')).value = text.slice(0, 100_000);
      this.bring(text);
    });
    watchTheme(() => {
      this.bench.panel.fit();
      this.bench.second.fit();
    });
  }

  async copyLink() {
    const address = location.href.split('#')[0] + writePlace(this.place());
    history.replaceState(null, '', writePlace(this.place()));
    try {
      await navigator.clipboard.writeText(address);
      element('share-text').textContent = 'The link is in the clipboard. It has the network, the keys and the place.';
    } catch {
      element('share-text').textContent = 'The address of this page is the link: copy it from the address bar.';
    }
  }

  /** @param {string} form */
  save(form) {
    const keys = form === 'svg' ? this.bench.keys : [];
    const text = this.ask({ ask: 'export', network: this.bench.network.list, keys, form });
    const type = { list: 'text/plain', json: 'application/json', svg: 'image/svg+xml' }[form];
    const name = `${this.bench.kind || 'network'}-${this.bench.network.wires}.${form === 'list' ? 'txt' : form}`;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    element('share-text').textContent = `Saved as ${name}.`;
  }

  /** @param {string} text */
  bring(text) {
    try {
      this.bench.showText(text);
      element('share-text').textContent = `Read: ${element('counts').textContent}.`;
    } catch (error) {
      element('share-text').textContent = `This is not a network: ${messageOf(error)}`;
    }
  }
}

/** @param {any} opened @returns {Place} */
function openedPlace(opened) {
  const { view, kind, wires, input } = opened;
  return { view: view ?? (opened.plan || opened.machines ? 'plan' : 'network'), kind, wires, input };
}

/** Light or dark: as the system says, or as the reader chose. @param {() => void} redraw */
function watchTheme(redraw) {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const choices = ['system', 'light', 'dark'];
  let choice = 0;
  const apply = () => {
    const dark = choices[choice] === 'system' ? system.matches : choices[choice] === 'dark';
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    element('theme').setAttribute('aria-label', `Colours: ${choice === 0 ? 'as the system' : choices[choice]}`);
    element('theme').title = `Colours: ${choice === 0 ? 'as the system' : choices[choice]}`;
    element('theme').textContent = ['◐', '○', '●'][choice];
    redraw();
  };
  system.addEventListener('change', apply);
  element('theme').addEventListener('click', () => {
    choice = (choice + 1) % choices.length;
    apply();
  });
  apply();
}

/** The program, which the page carries compressed and as text. @returns {Promise<ArrayBuffer>} */
function unpack() {
  const packed = Uint8Array.from(atob((element('program').textContent ?? '').trim()), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

async function start() {
  const program = await WebAssembly.compile(await unpack());
  const prover = new Prover(element('worker').textContent ?? '', program);
  const opened = JSON.parse(element('opened').textContent ?? '{}');
  const app = new App(await startEngine(program), prover, opened);
  // For the curious, and for tests.
  Object.assign(window, { explorer: app, unpack });
  document.documentElement.dataset.ready = 'yes';
}

start().catch((error) => {
  element('failure').hidden = false;
  element('failure').textContent = `The explorer could not start: ${messageOf(error)}`;
});
