// The ladder: two rungs side by side, and who touches which key when.
import { duration, element, escapeText } from './dom.js';

/**
 * @typedef {{ worker: number, act: 'compare' | 'compare_local' | 'load' | 'store' | 'idle', places: number[] }} Touch
 * @typedef {{ step: string, touches: Touch[], end: string | null }} Moment
 * @typedef {{ rung: string, file: string, keys: number, workers: number, called: string, group: number, local: boolean,
 *             moments: Moment[] }} Film
 * @typedef {{ where: string, rows: [string, number, number][] }} Measured implementation, keys, seconds
 */

/** Keys that a device brings in together, in these pictures. */
const LINE = 4;

const TIME = 420;

/** What is shown at first: one rung that wastes much, and one that learned from it. */
const FIRST = ['naive_scan', 'local_memory'];

export class LadderView {
  /** @param {import('./engine.js').Ask} ask @param {Measured | null} measured */
  constructor(ask, measured) {
    this.ask = ask;
    /** @type {Measured} */
    this.measured = measured ?? JSON.parse(element('recorded').textContent ?? '{}');
    /** @type {Record<string, string>} */
    this.texts = JSON.parse(element('ladder-texts').textContent ?? '{}');
    this.at = 0;
    this.playing = false;
    const rungs = ask({ ask: 'rungs' });
    this.view = element('ladder-view');
    this.view.innerHTML = ladderFrame(rungs);
    const first = measured ? firstOf(rungs, this.measured) : FIRST;
    this.films = first.map((rung) => this.film(rung));
    this.open(first);
    this.view.addEventListener('click', (event) => this.click(/** @type {HTMLElement} */ (event.target).closest('button')));
    this.view.addEventListener('input', (event) => this.input(/** @type {HTMLInputElement} */ (event.target)));
  }

  /** @param {string} rung @returns {Film} */
  film(rung) {
    return this.ask({ ask: 'film', rung });
  }

  /** @param {number} side @param {string} rung */
  choose(side, rung) {
    this.films[side] = this.film(rung);
    /** @type {any} */ (element(`rung-${side}`)).value = rung;
    const { file } = this.films[side];
    element(`rung-file-${side}`).textContent = `crates/bitonic-ladder/src/${file}`;
    element(`rung-text-${side}`).textContent = this.texts[file] ?? '';
    element(`rung-times-${side}`).innerHTML = curve(this.measured, rung);
    this.show(0);
  }

  /** Shows these rungs; beside a single one stands one of the first. @param {string[]} rungs */
  open(rungs) {
    const [one, other = FIRST.find((rung) => rung !== one) ?? one] = rungs;
    this.choose(0, one);
    this.choose(1, other);
  }

  get last() {
    return Math.max(...this.films.map((film) => film.moments.length)) - 1;
  }

  /** @param {number} at */
  show(at) {
    this.at = Math.min(this.last, Math.max(0, at));
    const slider = /** @type {HTMLInputElement} */ (element('ladder-at'));
    slider.max = String(this.last);
    slider.value = String(this.at);
    this.films.forEach((film, side) => {
      const now = Math.min(this.at, film.moments.length - 1);
      const moment = film.moments[now];
      element(`rung-picture-${side}`).innerHTML = scene(film, moment);
      const done = this.at >= film.moments.length ? ' Done.' : '';
      element(`rung-now-${side}`).textContent = `Moment ${now + 1} of ${film.moments.length}: ${moment.step}. ${inWords(moment)}${done}`;
      element(`rung-sums-${side}`).innerHTML = sums(film, now).map(([value, name]) => `<div><b>${value}</b><span>${name}</span></div>`).join('');
    });
  }

  /** @param {boolean} playing */
  setPlaying(playing) {
    this.playing = playing;
    element('ladder-play').textContent = playing ? '❚❚ Pause' : '▶ Play';
    if (playing && this.at >= this.last) this.show(0);
    clearTimeout(this.timer);
    const go = () => {
      if (!this.playing) return;
      if (this.at >= this.last) this.setPlaying(false);
      else {
        this.show(this.at + 1);
        this.timer = setTimeout(go, TIME);
      }
    };
    if (playing) this.timer = setTimeout(go, TIME);
  }

  /** @param {HTMLButtonElement | null} button */
  click(button) {
    const by = button?.dataset.by;
    if (button?.id === 'ladder-play') this.setPlaying(!this.playing);
    else if (by !== undefined) {
      this.setPlaying(false);
      this.show(by === 'start' ? 0 : by === 'end' ? this.last : this.at + Number(by));
    }
  }

  /** @param {HTMLInputElement} target */
  input(target) {
    if (target.id === 'ladder-at') {
      this.setPlaying(false);
      this.show(Number(target.value));
    } else if (target.id.startsWith('rung-')) {
      this.setPlaying(false);
      this.choose(Number(target.id.slice(-1)), target.value);
      this.onMove?.();
    }
  }

  /** @type {(() => void) | undefined} whom to tell that another rung is shown */
  onMove;
}

/**
 * Two rungs that a run has times of, if it has; the reader came for them.
 * @param {string[]} rungs
 * @param {Measured} measured
 */
export function firstOf(rungs, { rows }) {
  const names = rows.map(([name]) => name.split(':')[1]);
  return [...new Set([...rungs.filter((rung) => names.includes(rung)), ...FIRST])].slice(0, 2);
}

/** @param {Moment} moment */
function inWords(moment) {
  const busy = moment.touches.filter(({ act }) => act !== 'idle');
  const idle = moment.touches.length - busy.length;
  const acts = { compare: 'compare in memory', compare_local: 'compare in local memory', load: 'load', store: 'store', idle: '' };
  const what = busy.length ? `${busy.length} ${acts[busy[0].act]}` : 'Nobody works';
  return `${what}${idle ? `, ${idle} idle` : ''}.${moment.end ? ` Then: ${moment.end}.` : ''}`;
}

/**
 * What has happened up to a moment.
 * @param {Film} film
 * @param {number} now
 * @returns {[number | string, string][]}
 */
export function sums(film, now) {
  let [comparisons, moved, idle, lines, waits] = [0, 0, 0, 0, 0];
  for (const { touches, end } of film.moments.slice(0, now + 1)) {
    const places = new Set();
    for (const { act, places: touched } of touches) {
      if (act === 'compare' || act === 'compare_local') comparisons += 1;
      if (act === 'idle') idle += 1;
      if (act === 'compare') moved += 2 * touched.length;
      if (act === 'load' || act === 'store') moved += touched.length;
      if (act === 'compare' || act === 'load' || act === 'store') for (const place of touched) places.add(Math.floor(place / LINE));
    }
    lines += places.size;
    if (end) waits += 1;
  }
  return [
    [comparisons, 'comparisons'],
    [moved, 'keys read or written in memory'],
    [lines, `lines of ${LINE} keys touched`],
    [idle, `idle ${film.called}`],
    [waits, 'times all wait'],
  ];
}

/** Workers above, keys below, lines between them. @param {Film} film @param {Moment} moment */
function scene(film, moment) {
  const cell = 34;
  const left = 8;
  const width = left * 2 + film.keys * cell;
  const [workersY, localY, memoryY] = film.local ? [34, 118, 202] : [34, 0, 150];
  const step = (width - 2 * left) / film.workers;
  const workerX = (/** @type {number} */ worker) => left + step * (worker + 0.5);
  const placeX = (/** @type {number} */ place) => left + cell * (place + 0.5);
  const size = Math.min(13, step * 0.4);
  const group = film.group || film.workers;
  const parts = [];
  const boxes = film.called === 'work-items';
  for (let first = 0; first < film.workers && boxes; first += group) {
    const end = Math.min(film.workers, first + group);
    parts.push(`<rect x="${left + step * first + 1.5}" y="${workersY - 20}" width="${step * (end - first) - 3}" height="40" rx="6" fill="var(--part)"/>`);
  }
  for (let place = 0; place < film.keys; place += LINE) {
    parts.push(`<rect x="${left + cell * place + 1.5}" y="${memoryY - 15}" width="${cell * LINE - 3}" height="30" rx="5" fill="none" stroke="var(--wire)"/>`);
  }
  if (film.local) {
    const tile = group * (film.keys / film.workers);
    for (let first = 0; first < film.keys; first += tile) {
      parts.push(`<rect x="${left + cell * first + 1.5}" y="${localY - 15}" width="${cell * tile - 3}" height="30" rx="5" fill="var(--shade)" stroke="var(--shade-edge)" stroke-dasharray="4 3"/>`);
    }
  }
  const marks = [];
  /** @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {string} colour */
  const link = (x0, y0, x1, y1, colour) =>
    parts.push(`<path d="M${x0} ${y0}C${x0} ${(y0 + y1) / 2} ${x1} ${(y0 + y1) / 2} ${x1} ${y1}" fill="none" stroke="${colour}" stroke-width="1.8"/>`);
  /** @param {number} place @param {number} y @param {string} colour */
  const light = (place, y, colour) =>
    marks.push(`<rect x="${placeX(place) - 12}" y="${y - 11}" width="24" height="22" rx="4" fill="${colour}"/>`);
  for (const { worker, act, places } of moment.touches) {
    const tile = Math.floor(worker / group) * 2 * group;
    places.forEach((place, index) => {
      if (act === 'idle') {
        light(place, memoryY, 'var(--line)');
        return;
      }
      const colour = act === 'compare' || act === 'compare_local' ? 'var(--place-local)' : 'var(--place-memory)';
      const y = act === 'compare_local' ? localY : memoryY;
      if (act === 'load' || act === 'store') {
        // With a work-item for every key, a key has its own place in local memory as well.
        const local = film.workers === film.keys ? place : tile + (worker % group) + index * group;
        link(placeX(local), localY + 15, placeX(place), memoryY - 15, colour);
        light(local, localY, colour);
      } else link(workerX(worker), workersY + size, placeX(place), y - 12, colour);
      light(place, y, colour);
    });
  }
  for (let worker = 0; worker < film.workers; worker += 1) {
    const touch = moment.touches.find((other) => other.worker === worker);
    const busy = touch && touch.act !== 'idle';
    marks.push(`<circle cx="${workerX(worker)}" cy="${workersY}" r="${size}" fill="${busy ? 'var(--accent)' : 'var(--card)'}" stroke="var(--accent)" ${busy ? '' : 'stroke-dasharray="3 3"'}/>`);
  }
  const numbers = Array.from({ length: film.keys }, (_, place) =>
    `<text x="${placeX(place)}" y="${memoryY + 30}" text-anchor="middle">${place}</text>`);
  const labels = [`<text x="${left}" y="10">${film.called}${boxes ? ', in groups' : ''}</text>`, `<text x="${left}" y="${memoryY - 21}">memory</text>`];
  if (film.local) labels.push(`<text x="${left}" y="${localY - 21}">local memory of each group</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${memoryY + 38}" width="100%" style="min-width:420px;max-width:${width * 1.2}px" font-size="11" font-family="var(--mono)" fill="var(--faint)" aria-hidden="true">` +
    `${parts.join('')}${marks.join('')}${numbers.join('')}<g stroke="var(--card)" stroke-width="4" paint-order="stroke">${labels.join('')}</g></svg>`;
}

/**
 * The measured times of a rung among those of all others, both axes logarithmic.
 * @param {Measured} measured
 * @param {string} rung
 */
function curve({ where, rows }, rung) {
  const names = [...new Set(rows.map(([name]) => name))];
  const own = names.filter((name) => name.split(':')[1] === rung);
  if (!own.length) return `<p class="small">Measured: nothing of this rung on ${escapeText(where)}.</p>`;
  const [width, height, left, bottom] = [460, 190, 52, 26];
  const span = (/** @type {number[]} */ values) => [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  const [x0, x1] = span(rows.map(([, keys]) => keys));
  const [y0, y1] = span(rows.map(([, , seconds]) => seconds));
  const x = (/** @type {number} */ keys) => left + ((Math.log10(keys) - x0) / (x1 - x0 || 1)) * (width - left - 12);
  const y = (/** @type {number} */ seconds) => height - bottom - ((Math.log10(seconds) - y0) / (y1 - y0 || 1)) * (height - bottom - 10);
  const way = (/** @type {string} */ name) => rows.filter(([other]) => other === name).sort((a, b) => a[1] - b[1]);
  const lines = names.map((name) => {
    const points = way(name).map(([, keys, seconds]) => `${x(keys).toFixed(1)},${y(seconds).toFixed(1)}`).join(' ');
    const chosen = own.includes(name);
    return `<polyline points="${points}" fill="none" stroke="${chosen ? 'var(--accent)' : 'var(--wire)'}" stroke-width="${chosen ? 3 : 1}"/>`;
  });
  const grid = [];
  for (let power = Math.ceil(y0); power <= y1; power += 1) {
    grid.push(`<line x1="${left}" x2="${width - 12}" y1="${y(10 ** power)}" y2="${y(10 ** power)}" stroke="var(--line)"/>` +
      `<text x="${left - 6}" y="${y(10 ** power) + 4}" text-anchor="end">${duration(10 ** power)}</text>`);
  }
  const keys = [...new Set(rows.map(([, count]) => count))].sort((a, b) => a - b);
  const labels = [keys[0], keys[keys.length - 1]].map((count, end) =>
    `<text x="${x(count)}" y="${height - 8}" text-anchor="${end ? 'end' : 'start'}">${count.toLocaleString('en')} keys</text>`);
  const last = way(own[0]).at(-1);
  const words = last ? `${own.join(', ')}: ${duration(last[2])} for ${last[1].toLocaleString('en')} keys` : '';
  return `<p class="small">Measured on ${escapeText(where)}. ${escapeText(words)}; thin lines are the others.</p>` +
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="100%" style="max-width:560px" font-size="11" font-family="var(--mono)" fill="var(--faint)" role="img" aria-label="${escapeText(words)}">` +
    `${grid.join('')}${lines.join('')}${labels.join('')}</svg>`;
}

/** @param {string[]} rungs */
function ladderFrame(rungs) {
  const options = rungs.map((rung) => `<option>${escapeText(rung)}</option>`).join('');
  const side = (/** @type {number} */ number) => `<section class="card" aria-label="Rung ${number + 1}">
<label class="row">Rung <select id="rung-${number}">${options}</select></label>
<div class="figure" id="rung-picture-${number}"></div>
<p class="small now" id="rung-now-${number}" aria-live="polite"></p>
<div class="sums" id="rung-sums-${number}"></div>
<div id="rung-times-${number}"></div>
<details><summary>Its text: <code id="rung-file-${number}"></code></summary><pre tabindex="0" id="rung-text-${number}"></pre></details></section>`;
  return `<h2 id="ladder-title">The ladder: who touches what</h2>
<p>Every rung is a way to write the sort. Here two of them sort 16 keys side by side: on one thread a comparison at a time, on several at the same time, or as the work-items of a GPU, all at once. A dashed circle has nothing to do. Memory is brought in by lines of ${LINE} keys: the fewer lines a moment touches, the better.</p>
<div class="transport" role="group" aria-label="Playback">
  <div class="buttons"><button type="button" data-by="start" aria-label="To the start">|◀</button><button type="button" data-by="-1" aria-label="One moment back">←</button>
  <button type="button" class="main" id="ladder-play">▶ Play</button><button type="button" data-by="1" aria-label="One moment forward">→</button><button type="button" data-by="end" aria-label="To the end">▶|</button></div>
  <label class="grow">Moment <input id="ladder-at" type="range" min="0" value="0"></label>
</div>
<div class="two">${side(0)}${side(1)}</div>`;
}
