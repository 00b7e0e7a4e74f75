// Proofs in a worker: the newest question counts, and a proof that is no longer wanted is stopped.

/** @typedef {import('./engine.js').Verdict} Verdict */

export class Prover {
  /**
   * @param {string} source the worker's script
   * @param {WebAssembly.Module} program
   */
  constructor(source, program) {
    this.address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    this.program = program;
    this.number = 0;
    this.busy = false;
    /** @type {((result: any) => void) | null} */
    this.settle = null;
    this.start();
  }

  start() {
    this.worker = new Worker(this.address);
    this.worker.postMessage({ program: this.program });
    this.worker.onmessage = ({ data }) => {
      if (data.number !== this.number) return;
      this.busy = false;
      this.settle?.(data);
    };
  }

  /** Stops the proof that is under way. */
  stop() {
    if (!this.busy) return;
    this.worker?.terminate();
    this.busy = false;
    this.number += 1;
    this.settle?.({ stopped: true });
    this.start();
  }

  /**
   * @param {object} question
   * @returns {Promise<{ answer?: Verdict, error?: string, stopped?: boolean, milliseconds?: number }>}
   */
  ask(question) {
    this.stop();
    this.busy = true;
    this.number += 1;
    this.worker?.postMessage({ number: this.number, question });
    return new Promise((resolve) => {
      this.settle = resolve;
    });
  }
}
