// All inputs of zeros and ones, one after the other, before the reader's eyes.
import { bitsOf } from './keys.js';
import { element } from './dom.js';

/** @typedef {import('./bench.js').Bench} Bench */

/** About how many frames a sweep takes. */
const FRAMES = 160;

export class Sweep {
  /** @param {Bench} bench */
  constructor(bench) {
    this.bench = bench;
    /** The frame that is asked for; 0 when nothing runs. */
    this.frame = 0;
    element('sweep').addEventListener('click', () => (this.frame ? this.stop() : this.start()));
  }

  start() {
    const { bench } = this;
    const wires = bench.network.wires;
    const total = 2 ** wires;
    const map = /** @type {HTMLCanvasElement} */ (element('sweep-map'));
    map.hidden = false;
    map.width = 2 ** Math.ceil(wires / 2);
    map.height = 2 ** Math.floor(wires / 2);
    const context = /** @type {CanvasRenderingContext2D} */ (map.getContext('2d'));
    context.clearRect(0, 0, map.width, map.height);
    element('sweep').textContent = 'Stop';
    bench.setPattern('typed');
    const style = getComputedStyle(map);
    const [good, bad] = [style.getPropertyValue('--good'), style.getPropertyValue('--swap')];
    const batch = Math.max(1, Math.round(total / (bench.stillness.matches ? 1 : FRAMES)));
    const network = bench.network.list;
    let next = 0;
    const go = () => {
      const count = Math.min(batch, total - next);
      const { failed } = bench.ask({ ask: 'sweep', network, first: next, count });
      const end = failed ?? next + count;
      context.fillStyle = good;
      for (let input = next; input < end; input += 1) context.fillRect(input % map.width, Math.floor(input / map.width), 1, 1);
      const shown = failed ?? end - 1;
      bench.setKeys(bitsOf(shown, wires), bench.network.size);
      if (failed !== null) {
        context.fillStyle = bad;
        context.fillRect(failed % map.width, Math.floor(failed / map.width), 1, 1);
        this.end(`Input ${failed + 1} of ${total.toLocaleString('en')} is not sorted. It is on the wires now: play it.`);
        return;
      }
      next = end;
      element('sweep-text').textContent = `${next.toLocaleString('en')} of ${total.toLocaleString('en')} inputs sorted`;
      if (next < total) this.frame = requestAnimationFrame(go);
      else this.end(`All ${total.toLocaleString('en')} inputs are sorted, so every input is.`);
    };
    this.frame = requestAnimationFrame(go);
  }

  /** @param {string} text */
  end(text) {
    this.frame = 0;
    element('sweep').textContent = 'Try all inputs';
    element('sweep-text').textContent = text;
    this.bench.tell();
  }

  stop() {
    if (!this.frame) return;
    cancelAnimationFrame(this.frame);
    this.end('Stopped.');
  }
}
