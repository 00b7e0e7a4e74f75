// The reader's changes to a network, with the pointer and with keys.
import { areZeroOne } from './keys.js';
import { capital, element, messageOf } from './dom.js';

/**
 * @typedef {import('./bench.js').Bench} Bench
 * @typedef {import('./timeline.js').Placed} Placed
 */

const CHOOSE_FIRST = 'Choose a comparator first: click it, or move the cursor to it.';

export class Editor {
  /** @param {Bench} bench */
  constructor(bench) {
    this.bench = bench;
    this.panel = bench.panel;
    this.editing = false;
    /** @type {(Placed & { moved: number }) | null} a comparator whose end is in hand */
    this.held = null;
    this.listen();
  }

  get network() {
    return this.bench.network;
  }

  listen() {
    const on = (/** @type {string} */ id, /** @type {() => void} */ act) => element(id).addEventListener('click', act);
    on('edit', () => this.setEditing(!this.editing));
    on('undo', () => this.undo());
    on('redo', () => this.redo());
    on('remove', () => this.removeSelected());
    on('turn', () => this.turnSelected());
    on('pack', () => this.change({ what: 'pack' }));
    on('clear', () => this.clear());
    const panel = element('panel');
    panel.addEventListener('pointerdown', (event) => this.pointerDown(event));
    panel.addEventListener('pointermove', (event) => this.pointerMove(event));
    panel.addEventListener('pointerup', (event) => this.pointerUp(event));
    panel.addEventListener('pointercancel', () => this.drop());
    panel.addEventListener('keydown', (event) => this.panelKey(event));
  }

  clear() {
    this.bench.add(this.bench.ask({ ask: 'read', text: `# wires: ${this.network.wires}` }));
  }

  /** @param {object} change @returns {boolean} */
  change(change) {
    try {
      this.bench.add(this.bench.ask({ ask: 'edit', network: this.network.list, change }));
      element('edit-text').textContent = this.editHint();
      return true;
    } catch (error) {
      element('edit-text').textContent = messageOf(error);
      return false;
    }
  }

  undo() {
    this.bench.history.undo();
    this.bench.changed();
  }

  redo() {
    this.bench.history.redo();
    this.bench.changed();
  }

  editHint() {
    return this.editing
      ? 'Drag from wire to wire to add a comparator, or drag the end of one. Keys: arrows, Enter, Delete, R.'
      : 'Change the network; the verdict follows every change.';
  }

  /** @param {boolean} editing */
  setEditing(editing) {
    this.editing = editing;
    this.bench.pause();
    this.panel.editing = editing;
    this.panel.cursor = editing ? { slot: 0, wire: 0 } : null;
    this.panel.selection = null;
    this.panel.ghost = null;
    element('panel').classList.toggle('editing', editing);
    element('edit').setAttribute('aria-pressed', String(editing));
    element('edit-tools').hidden = !editing;
    element('edit-text').textContent = this.editHint();
    this.panel.redraw();
  }

  /** The comparator of a stage that touches a wire. @param {number} stage @param {number} wire */
  comparatorAt(stage, wire) {
    const comparators = this.network.stages[stage]?.comparators ?? [];
    const index = comparators.findIndex(({ min, max }) => min === wire || max === wire);
    return index < 0 ? null : { stage, index, ...comparators[index] };
  }

  selected() {
    const chosen = this.panel.selection;
    return chosen && { ...chosen, ...this.network.stages[chosen.stage].comparators[chosen.index] };
  }

  removeSelected() {
    const chosen = this.panel.selection;
    if (chosen) this.change({ what: 'remove', ...chosen });
    else element('edit-text').textContent = CHOOSE_FIRST;
  }

  turnSelected() {
    const chosen = this.selected();
    if (chosen) this.change({ what: 'move', stage: chosen.stage, index: chosen.index, min: chosen.max, max: chosen.min });
    else element('edit-text').textContent = CHOOSE_FIRST;
  }

  /** Puts down the comparator in hand. */
  place() {
    const { ghost } = this.panel;
    this.panel.ghost = null;
    const held = this.held;
    this.held = null;
    if (!ghost || ghost.from === ghost.to) {
      this.panel.redraw();
      return;
    }
    if (held) {
      const min = held.min === held.moved ? ghost.to : ghost.from;
      const max = held.min === held.moved ? ghost.from : ghost.to;
      this.change({ what: 'move', stage: held.stage, index: held.index, min, max });
      return;
    }
    const [min, max] = [Math.min(ghost.from, ghost.to), Math.max(ghost.from, ghost.to)];
    const stage = Math.floor(ghost.slot / 2);
    this.change({ what: 'add', stage, min, max, alone: ghost.slot % 2 === 0 });
  }

  /** Takes the end of a comparator in hand. @param {import('./timeline.js').Placed} comparator @param {number} wire */
  pickUp(comparator, wire) {
    const other = comparator.min === wire ? comparator.max : comparator.min;
    this.held = { ...comparator, moved: wire };
    this.panel.selection = { stage: comparator.stage, index: comparator.index };
    this.panel.ghost = { slot: 2 * comparator.stage + 1, from: other, to: wire };
  }

  /** @param {PointerEvent} event */
  pointerDown(event) {
    if (event.button !== 0) return;
    const found = this.panel.under(event);
    if (found.input && found.onWire) {
      this.panel.drag = { from: found.wire, to: found.wire };
    } else if (this.editing) {
      if (found.comparator && found.end) this.pickUp(found.comparator, found.wire);
      else if (found.comparator) {
        this.panel.selection = { stage: found.comparator.stage, index: found.comparator.index };
        this.panel.redraw();
        return;
      } else if (found.onWire) {
        this.panel.selection = null;
        this.panel.ghost = { slot: found.slot, from: found.wire, to: found.wire };
      }
      this.panel.cursor = { slot: found.slot, wire: found.wire };
    } else return;
    event.preventDefault();
    element('panel').focus({ preventScroll: true });
    element('panel').setPointerCapture(event.pointerId);
    this.panel.redraw();
  }

  /** @param {PointerEvent} event */
  pointerMove(event) {
    const { drag, ghost } = this.panel;
    if (!drag && !ghost) return;
    const { wire } = this.panel.under(event);
    if (drag) drag.to = wire;
    if (ghost) ghost.to = wire;
    this.panel.redraw();
  }

  /** @param {PointerEvent} event */
  pointerUp(event) {
    const { drag, ghost } = this.panel;
    if (drag) {
      this.panel.drag = null;
      this.exchangeKeys(drag.from, drag.to);
    }
    if (ghost) {
      // A click on the end of a comparator chooses it.
      if (this.held && ghost.to === this.held.moved) this.drop();
      else this.place();
    }
    event.preventDefault();
  }

  drop() {
    this.panel.ghost = null;
    this.panel.drag = null;
    this.held = null;
    this.panel.redraw();
  }

  /** Exchanges two keys that enter; a single zero or one changes. @param {number} one @param {number} other */
  exchangeKeys(one, other) {
    const keys = [...this.bench.keys];
    if (one !== other) [keys[one], keys[other]] = [keys[other], keys[one]];
    else if (areZeroOne(keys)) keys[one] = 1 - keys[one];
    else {
      this.panel.redraw();
      return;
    }
    this.bench.setPattern('typed');
    this.bench.setKeys(keys);
  }

  /** Keys while the picture has the focus. @param {KeyboardEvent} event */
  panelKey(event) {
    if (!this.editing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { panel } = this;
    const cursor = (panel.cursor ??= { slot: 0, wire: 0 });
    const move = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (move) {
      const last = this.network.wires - 1;
      if (panel.ghost) {
        panel.ghost.to = Math.min(last, Math.max(0, panel.ghost.to + move[1]));
        this.say(`from wire ${panel.ghost.from} to wire ${panel.ghost.to}`);
      } else {
        cursor.slot = Math.min(2 * this.network.depth, Math.max(0, cursor.slot + move[0]));
        cursor.wire = Math.min(last, Math.max(0, cursor.wire + move[1]));
        this.sayCursor();
      }
    } else if (event.key === 'Enter') {
      if (panel.ghost) this.place();
      else {
        const there = cursor.slot % 2 ? this.comparatorAt((cursor.slot - 1) / 2, cursor.wire) : null;
        if (there) this.pickUp(there, cursor.wire);
        else panel.ghost = { slot: cursor.slot, from: cursor.wire, to: cursor.wire };
        this.say(there ? 'picked up: arrows choose its new wire' : 'new comparator: arrows choose the other wire');
      }
    } else if (event.key === 'Escape' && panel.ghost) this.drop();
    else if (event.key === 'Delete' || event.key === 'Backspace') this.removeSelected();
    else if (event.key === 'r' || event.key === 'R') this.turnSelected();
    else return;
    event.preventDefault();
    event.stopPropagation();
    panel.redraw();
  }

  sayCursor() {
    const { slot, wire } = /** @type {{ slot: number, wire: number }} */ (this.panel.cursor);
    const there = slot % 2 ? this.comparatorAt((slot - 1) / 2, wire) : null;
    this.panel.selection = there && { stage: there.stage, index: there.index };
    const place = slot % 2 ? `stage ${(slot + 1) / 2}` : slot === 0 ? 'before stage 1' : `after stage ${slot / 2}`;
    const what = there ? `, comparator of wires ${there.min} and ${there.max}` : '';
    this.say(`wire ${wire}, ${place}${what}`);
  }

  /** @param {string} text */
  say(text) {
    element('caption').textContent = capital(text);
  }
}
