// Undo and redo.

/** @template State */
export class Undo {
  /** @param {State} state */
  constructor(state) {
    this.states = [state];
    this.at = 0;
  }

  /** @param {State} state */
  add(state) {
    this.states.splice(this.at + 1, Infinity, state);
    this.at = this.states.length - 1;
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at + 1 < this.states.length;
  }

  /** @returns {State} */
  undo() {
    if (this.canUndo) this.at -= 1;
    return this.states[this.at];
  }

  /** @returns {State} */
  redo() {
    if (this.canRedo) this.at += 1;
    return this.states[this.at];
  }
}
