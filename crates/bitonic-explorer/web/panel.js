// A network on the screen: two canvases, one for what stands still and one for what moves, and the scrolling around them.
import { comparatorX, layOut, restX, sizesFor, slotX, travellers, under, wireY } from './geometry.js';
import { keyColour } from './colour.js';
import { areZeroOne, shares } from './keys.js';
import { legs, stageAt } from './timeline.js';

/**
 * @typedef {import('./engine.js').Network} Network
 * @typedef {import('./engine.js').Trace} Trace
 * @typedef {{ slot: number, from: number, to: number }} Ghost a comparator that is being placed
 * @typedef {{ stage: number, index: number }} Selection
 */

export class Panel {
  /** @param {HTMLElement} box the element that scrolls */
  constructor(box) {
    this.box = box;
    this.room = document.createElement('div');
    this.room.className = 'room';
    this.still = document.createElement('canvas');
    this.moving = document.createElement('canvas');
    this.layers = document.createElement('div');
    this.layers.className = 'layers';
    this.layers.append(this.still, this.moving);
    // A finger on the keys at the left drags one; elsewhere it scrolls the picture.
    this.grip = document.createElement('div');
    this.grip.className = 'grip';
    box.append(this.layers, this.room, this.grip);
    /** @type {Network | null} */
    this.network = null;
    /** @type {Trace} */
    this.trace = { states: [[]], sorted_after: 0, sorted_after_stage: 0 };
    /** @type {number[]} */
    this.keys = [];
    this.done = 0;
    /** @type {{ leg: [number, number], part: number } | null} */
    this.flight = null;
    /** @type {Selection | null} */
    this.selection = null;
    /** @type {Ghost | null} */
    this.ghost = null;
    /** @type {{ slot: number, wire: number } | null} */
    this.cursor = null;
    this.editing = false;
    this.names = true;
    /** @type {{ from: number, to: number } | null} an input key that is being dragged */
    this.drag = null;
    /** @type {number[]} the colours of keys, as shares of the scale */
    this.colours = [];
    /** The characters of the longest key. */
    this.longest = 1;
    this.stale = true;
    this.height = 520;
    box.addEventListener('scroll', () => this.redraw(), { passive: true });
    new ResizeObserver(() => this.fit()).observe(box);
  }

  /**
   * @param {Network} network
   * @param {number[]} keys
   * @param {Trace} trace
   */
  show(network, keys, trace) {
    this.network = network;
    this.keys = keys;
    this.trace = trace;
    this.colours = shares(keys);
    this.longest = Math.max(1, ...keys.map((key) => String(key).length));
    this.fit();
  }

  fit() {
    if (!this.network) return;
    const sizes = sizesFor(this.network.wires, this.height, this.longest);
    this.layout = layOut(this.network, sizes, this.box.clientWidth);
    // Nothing is drawn while the panel is hidden; it fits itself again when it is shown.
    if (!this.box.clientWidth) return;
    this.room.style.width = `${Math.ceil(this.layout.width)}px`;
    this.room.style.height = `${Math.ceil(this.layout.height)}px`;
    this.grip.style.width = `${Math.ceil(this.layout.sizes.left)}px`;
    this.grip.style.height = `${Math.ceil(this.layout.height)}px`;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.box.clientWidth, Math.min(this.box.clientHeight, Math.ceil(this.layout.height))];
    for (const canvas of [this.still, this.moving]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.readTheme();
    this.redraw();
  }

  readTheme() {
    const style = getComputedStyle(this.box);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    this.theme = {
      dark: colour('--dark') === '1',
      ink: colour('--ink'),
      faint: colour('--faint'),
      wire: colour('--wire'),
      accent: colour('--accent'),
      swap: colour('--swap'),
      paper: colour('--paper'),
      shade: colour('--shade'),
      shadeEdge: colour('--shade-edge'),
      part: colour('--part'),
      font: colour('--mono') || 'monospace',
    };
  }

  /** Draws again with the next frame. */
  redraw() {
    this.stale = true;
    if (this.awaited) return;
    this.awaited = requestAnimationFrame(() => {
      this.awaited = 0;
      this.draw();
    });
  }

  /** Scrolls so that the stage at work is in sight. */
  follow() {
    if (!this.layout || !this.network) return;
    const done = this.flight ? this.flight.leg[1] : this.done;
    const stage = Math.min(stageAt(this.layout.ends, Math.max(0, done - 1)) + 1, this.network.depth);
    const x = this.layout.rests[stage];
    const { scrollLeft, clientWidth } = this.box;
    if (x > scrollLeft + clientWidth - 60) this.box.scrollLeft = x - clientWidth * 0.35;
    if (x < scrollLeft + 80) this.box.scrollLeft = Math.max(0, x - clientWidth * 0.6);
  }

  draw() {
    if (!this.layout || !this.network || !this.theme) return;
    if (this.stale) this.drawStill();
    this.stale = false;
    this.drawMoving();
  }

  /** @param {HTMLCanvasElement} canvas */
  begin(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, -this.box.scrollLeft * ratio, -this.box.scrollTop * ratio);
    context.lineCap = 'round';
    context.textBaseline = 'middle';
    return context;
  }

  /** What is in sight, from x to x. @returns {[number, number]} */
  sight() {
    return [this.box.scrollLeft - 40, this.box.scrollLeft + this.box.clientWidth + 40];
  }

  drawStill() {
    const context = this.begin(this.still);
    this.drawShades(context);
    this.drawWires(context);
    this.drawComparators(context);
    this.drawMargins(context);
    if (this.editing) this.drawEditing(context);
  }

  /** @param {CanvasRenderingContext2D} context */
  drawShades(context) {
    const { layout, network, theme } = this.drawn();
    const [from, to] = this.sight();
    const { padding, gap, rest } = layout.sizes;
    for (const block of network.blocks) {
      const [first, last] = [layout.stages[block.stages[0]], layout.stages[block.stages[1] - 1]];
      if (last.right + padding < from || first.left - padding > to) continue;
      const left = first.left - padding - rest * 0.12;
      const right = last.right + padding + rest * 0.12;
      const top = wireY(layout, block.wires[0]) - gap * 0.42;
      const bottom = wireY(layout, block.wires[1] - 1) + gap * 0.42;
      context.fillStyle = theme.shade;
      context.strokeStyle = theme.shadeEdge;
      context.lineWidth = 1;
      roundedBox(context, left, top, right - left, bottom - top, 7);
      context.fill();
      context.stroke();
    }
    if (!this.names) return;
    network.stages.forEach((stage, number) => {
      const place = layout.stages[number];
      if (place.right + padding < from || place.left - padding > to) return;
      for (const part of stage.parts) {
        context.fillStyle = theme.part;
        const [top, bottom] = [wireY(layout, part.top) - gap * 0.3, wireY(layout, part.bottom) + gap * 0.3];
        roundedBox(context, place.left - padding * 0.6, top, place.right - place.left + padding * 1.2, bottom - top, 5);
        context.fill();
      }
    });
  }

  /** @param {CanvasRenderingContext2D} context */
  drawWires(context) {
    const { layout, network, theme, colours } = this.drawn();
    const end = layout.rests[network.depth] + layout.sizes.rest / 2;
    const thick = Math.min(4, Math.max(2.4, layout.sizes.gap * 0.1));
    const [from, to] = this.sight();
    for (let wire = 0; wire < network.wires; wire += 1) {
      const y = wireY(layout, wire);
      context.strokeStyle = theme.wire;
      context.lineWidth = 1.25;
      line(context, layout.sizes.left - 6, y, end, y);
      // The way that keys have come, in their colours.
      context.lineWidth = thick;
      let x = layout.sizes.left - 6;
      let origin = this.trace.states[0][wire];
      for (const number of layout.ofWires[wire]) {
        if (number >= this.done) break;
        const comparator = layout.sequence[number];
        const next = this.trace.states[number + 1][wire];
        if (next === origin) continue;
        const here = comparatorX(layout, comparator);
        if (here > from && x < to) {
          context.strokeStyle = keyColour(colours[origin], theme.dark).fill;
          line(context, x, y, here, y);
        }
        [x, origin] = [here, next];
      }
      const last = this.done === network.size ? end : restX(layout, this.done, wire);
      context.strokeStyle = keyColour(colours[origin], theme.dark).fill;
      line(context, x, y, last, y);
    }
  }

  /** @param {CanvasRenderingContext2D} context */
  drawComparators(context) {
    const { layout, network, theme } = this.drawn();
    const [from, to] = this.sight();
    const dot = Math.min(4.5, Math.max(2.6, layout.sizes.gap * 0.11));
    layout.sequence.forEach((comparator, number) => {
      const x = comparatorX(layout, comparator);
      if (x < from || x > to) return;
      const [y0, y1] = [wireY(layout, comparator.min), wireY(layout, comparator.max)];
      const worked = number < this.done;
      const swapped = worked && this.trace.states[number][comparator.min] !== this.trace.states[number + 1][comparator.min];
      const colour = swapped ? theme.swap : worked ? theme.ink : theme.accent;
      const chosen = this.selection?.stage === comparator.stage && this.selection.index === comparator.index;
      if (chosen) {
        context.strokeStyle = theme.accent;
        context.globalAlpha = 0.3;
        context.lineWidth = 12;
        line(context, x, y0, x, y1);
        context.globalAlpha = 1;
      }
      context.strokeStyle = colour;
      context.lineWidth = swapped ? 2.6 : worked ? 1.3 : 1.8;
      line(context, x, y0, x, y1);
      context.fillStyle = colour;
      disc(context, x, y0, dot);
      if (network.ascending) disc(context, x, y1, dot);
      else arrow(context, x, y1, Math.sign(y1 - y0), dot * 1.7);
    });
  }

  /** Wire numbers and keys at the left, keys that came out at the right, names of stages above. @param {CanvasRenderingContext2D} context */
  drawMargins(context) {
    const { layout, network, theme } = this.drawn();
    const { gap, left } = layout.sizes;
    const [from, to] = this.sight();
    const size = Math.min(13, Math.max(10, gap * 0.5));
    context.font = `${size}px ${theme.font}`;
    // Wire numbers stay in sight when the picture is scrolled to the side, stage numbers when it is scrolled down.
    const side = this.box.scrollLeft;
    context.textAlign = 'right';
    if (side > 0) {
      context.fillStyle = theme.paper;
      context.fillRect(side, 0, 28, layout.height);
    }
    context.fillStyle = theme.faint;
    for (let wire = 0; wire < network.wires; wire += 1) context.fillText(String(wire), side + 24, wireY(layout, wire));
    context.textAlign = 'center';
    const width = left - 6 - 32;
    for (let wire = 0; wire < network.wires; wire += 1) {
      const y = wireY(layout, wire);
      const shown = this.drag && wire === this.drag.from ? this.drag.to : this.drag && wire === this.drag.to ? this.drag.from : wire;
      context.strokeStyle = this.drag && shown !== wire ? theme.accent : theme.wire;
      context.lineWidth = this.drag && shown !== wire ? 2 : 1;
      roundedBox(context, 32, y - Math.min(11, gap * 0.42), width, 2 * Math.min(11, gap * 0.42), 4);
      context.stroke();
      context.fillStyle = theme.ink;
      context.fillText(String(this.keys[shown]), 32 + width / 2, y + 0.5);
    }
    this.drawBorders(context);
    const above = this.box.scrollTop;
    if (above > 0) {
      context.fillStyle = theme.paper;
      context.fillRect(from, above, to - from, 34);
    }
    context.font = `11px ${theme.font}`;
    const now = this.flight ? stageAt(layout.ends, this.flight.leg[0]) : stageAt(layout.ends, Math.max(0, this.done - 1));
    let lastName = -Infinity;
    network.stages.forEach((stage, number) => {
      const place = layout.stages[number];
      const x = (place.left + place.right) / 2;
      if (x < from || x > to) return;
      const current = (this.done > 0 || this.flight) && number === now;
      context.fillStyle = current ? theme.ink : theme.faint;
      context.font = `${current ? 'bold ' : ''}11px ${theme.font}`;
      context.fillText(String(number + 1), x, above + 12);
      const name = stage.parts[0]?.name;
      if (!name || !this.names) return;
      const text = name === 'flip' ? 'flip' : 'half-clean';
      const half = context.measureText(text).width / 2;
      if (x - half < lastName + 6) return;
      lastName = x + half;
      context.font = `10px ${theme.font}`;
      context.fillText(text, x, above + 26);
    });
  }

  /** Dotted lines between stages. @param {CanvasRenderingContext2D} context */
  drawBorders(context) {
    const { layout, network, theme } = this.drawn();
    const [from, to] = this.sight();
    const { gap, top } = layout.sizes;
    context.strokeStyle = theme.shadeEdge;
    context.globalAlpha = 0.6;
    context.lineWidth = 1;
    context.setLineDash([2, 5]);
    for (let number = 1; number < network.depth; number += 1) {
      const x = layout.rests[number];
      if (x > from && x < to && network.depth < 200) line(context, x, top - gap * 0.4, x, layout.height - 12);
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} context */
  drawEditing(context) {
    const { layout, theme } = this.drawn();
    const reach = Math.max(5, layout.sizes.gap * 0.2);
    if (this.cursor && !this.ghost) {
      const { slot, wire } = this.cursor;
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.setLineDash(slot % 2 ? [] : [3, 3]);
      const [x, y] = [slotX(layout, slot), wireY(layout, wire)];
      const stage = slot % 2 ? layout.stages[(slot - 1) / 2] : null;
      const half = stage ? (stage.right - stage.left) / 2 + reach + 3 : reach;
      roundedBox(context, x - half, y - reach, 2 * half, 2 * reach, 4);
      context.stroke();
      context.setLineDash([]);
    }
    if (!this.ghost) return;
    const x = slotX(layout, this.ghost.slot);
    const [y0, y1] = [wireY(layout, this.ghost.from), wireY(layout, this.ghost.to)];
    context.strokeStyle = theme.accent;
    context.fillStyle = theme.accent;
    context.lineWidth = 2.5;
    context.setLineDash([5, 5]);
    line(context, x, y0, x, y1);
    context.setLineDash([]);
    disc(context, x, y0, 5.5);
    disc(context, x, y1, 5.5);
  }

  drawMoving() {
    const { layout, network, theme, colours } = this.drawn();
    const context = this.begin(this.moving);
    const [from, to] = this.sight();
    const radius = Math.min(15, layout.sizes.gap * 0.42);
    const size = Math.min(13, Math.max(8.5, radius * (this.longest > 2 ? 0.82 : 1.05)));
    const half = Math.max(radius, this.longest * size * 0.31 + 3);
    const keys = this.flight
      ? travellers(layout, this.trace, this.flight.leg, this.flight.part)
      : this.trace.states[this.done].map((origin, wire) => ({
          origin,
          x: restX(layout, this.done, wire),
          y: wireY(layout, wire),
          startX: 0,
          startY: 0,
          meets: false,
          swapped: false,
        }));
    if (this.flight && this.flight.part < 0.3) {
      context.lineWidth = Math.min(4, Math.max(2.4, layout.sizes.gap * 0.1));
      for (const { origin, x, startX, startY } of keys) {
        context.strokeStyle = keyColour(colours[origin], theme.dark).fill;
        line(context, startX, startY, x, startY);
      }
    }
    const meeting = this.flight !== null && this.flight.part > 0.25 && this.flight.part < 0.8;
    if (this.flight && meeting) {
      for (const comparator of layout.sequence.slice(...this.flight.leg)) {
        const x = comparatorX(layout, comparator);
        if (x < from || x > to) continue;
        const before = this.trace.states[this.flight.leg[0]][comparator.min];
        const swapped = this.trace.states[this.flight.leg[1]][comparator.min] !== before;
        context.strokeStyle = swapped ? theme.swap : theme.ink;
        context.lineWidth = swapped ? 4.5 : 3;
        context.setLineDash(swapped ? [] : [2, 6]);
        line(context, x, wireY(layout, comparator.min), x, wireY(layout, comparator.max));
      }
      context.setLineDash([]);
    }
    context.font = `600 ${size}px ${theme.font}`;
    context.textAlign = 'center';
    // Keys that change places are drawn last: they pass over the others.
    const inOrder = keys.filter((key) => key.x > from && key.x < to).sort((a, b) => Number(a.swapped) - Number(b.swapped));
    for (const key of inOrder) {
      const { fill, text } = keyColour(colours[key.origin], theme.dark);
      context.fillStyle = fill;
      const lit = key.meets && meeting;
      context.strokeStyle = lit ? (key.swapped ? theme.swap : theme.ink) : theme.paper;
      context.lineWidth = lit ? 3 : 1.5;
      roundedBox(context, key.x - half, key.y - radius, 2 * half, 2 * radius, radius);
      context.fill();
      context.stroke();
      context.fillStyle = text;
      context.fillText(String(this.keys[key.origin]), key.x, key.y + 0.5);
    }
    if (this.done === network.size && !this.flight) this.drawVerdict(context);
  }

  /** A check or a cross behind each key that came out. @param {CanvasRenderingContext2D} context */
  drawVerdict(context) {
    const { layout, network, theme } = this.drawn();
    const keys = this.trace.states[network.size].map((origin) => this.keys[origin]);
    const x = layout.rests[network.depth] + layout.sizes.rest / 2 + 14;
    context.font = `12px ${theme.font}`;
    context.textAlign = 'left';
    keys.forEach((key, wire) => {
      const wrong = (wire > 0 && keys[wire - 1] > key) || (wire + 1 < keys.length && key > keys[wire + 1]);
      if (!wrong) return;
      context.fillStyle = theme.swap;
      context.fillText('✗', x, wireY(layout, wire));
    });
  }

  /** What every part of a drawing needs. */
  drawn() {
    return /** @type {{ layout: import('./geometry.js').Layout, network: Network, theme: Record<string, any>, colours: number[] }} */ (
      /** @type {unknown} */ ({ layout: this.layout, network: this.network, theme: this.theme, colours: this.colours })
    );
  }

  /**
   * Shows keys on their way, or at rest.
   * @param {number} from
   * @param {number} to the same for keys at rest
   * @param {number} part
   */
  fly(from, to, part) {
    if (!this.layout) return;
    const ways = legs(this.layout.ends, from, to);
    if (from === to || part >= 1) {
      this.rest(to);
      return;
    }
    const place = part * ways.length;
    const index = Math.min(ways.length - 1, Math.floor(place));
    const leg = ways[index];
    const changed = !this.flight || this.flight.leg[0] !== leg[0] || this.done !== leg[0];
    this.flight = { leg, part: place - index };
    this.done = leg[0];
    if (changed) {
      this.stale = true;
      this.follow();
    }
    this.draw();
  }

  /** @param {number} done */
  rest(done) {
    this.flight = null;
    this.done = done;
    this.stale = true;
    this.follow();
    this.draw();
  }

  /** What is under the pointer. @param {PointerEvent} event */
  under(event) {
    const box = this.box.getBoundingClientRect();
    const x = event.clientX - box.left - this.box.clientLeft + this.box.scrollLeft;
    const y = event.clientY - box.top - this.box.clientTop + this.box.scrollTop;
    const { layout, network } = this.drawn();
    return under(layout, network.wires, x, y);
  }

  get isZeroOne() {
    return areZeroOne(this.keys);
  }
}

/** @param {CanvasRenderingContext2D} context @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} radius */
function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} way @param {number} size */
function arrow(context, x, y, way, size) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - size, y - way * size * 1.6);
  context.lineTo(x + size, y - way * size * 1.6);
  context.fill();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} width @param {number} height @param {number} radius */
function roundedBox(context, x, y, width, height, radius) {
  context.beginPath();
  context.roundRect(x, y, width, height, radius);
}
