// Proofs in a worker: the newest question counts, and a proof that is no longer wanted is stopped.

/**
 * @typedef {import('./engine.js').Verdict} Verdict
 * @typedef {{ answer?: Verdict, error?: string, milliseconds?: number, stopped?: boolean, outdated?: boolean }} Result
 * @typedef {{ question: object, settle: (result: Result) => void }} Asked
 */

/** How long a proof that is no longer wanted may go on, in milliseconds: most are done before, and a new worker costs more. */
const PATIENCE = 200;

export class Prover {
  /**
   * @param {string} source the worker's script
   * @param {WebAssembly.Module} program
   */
  constructor(source, program) {
    this.address = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    this.program = program;
    this.number = 0;
    /** @type {Asked | null} what the worker works on */
    this.current = null;
    /** @type {Asked | null} what it will work on next */
    this.waiting = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.patience = undefined;
    this.start();
  }

  start() {
    this.worker = new Worker(this.address);
    this.worker.postMessage({ program: this.program });
    this.worker.onmessage = ({ data }) => {
      if (data.number === this.number) this.finish(this.waiting ? { outdated: true } : data);
    };
  }

  /** @param {object} question @returns {Promise<Result>} */
  ask(question) {
    return new Promise((settle) => {
      this.waiting?.settle({ outdated: true });
      this.waiting = { question, settle };
      if (!this.current) this.next();
      else this.patience ??= setTimeout(() => this.restart({ outdated: true }), PATIENCE);
    });
  }

  next() {
    this.current = this.waiting;
    this.waiting = null;
    if (!this.current) return;
    this.number += 1;
    this.worker?.postMessage({ number: this.number, question: this.current.question });
  }

  /** @param {Result} result of the current question */
  finish(result) {
    clearTimeout(this.patience);
    this.patience = undefined;
    const { current } = this;
    this.next();
    current?.settle(result);
  }

  /** @param {Result} result what becomes of the current question */
  restart(result) {
    this.worker?.terminate();
    this.start();
    this.finish(result);
  }

  /** Stops the proof that is under way. */
  stop() {
    if (this.current) this.restart({ stopped: true });
  }
}
