// Answers questions beside the page, so that a long proof does not stop it. Made from a blob by prover.js.
import { startEngine } from './engine.js';

/** @type {Promise<(question: object) => any> | undefined} */
let engine;

self.onmessage = async ({ data }) => {
  if (data.program) {
    engine = startEngine(data.program);
    return;
  }
  const ask = await engine;
  const started = performance.now();
  try {
    const answer = ask?.(data.question);
    self.postMessage({ number: data.number, answer, milliseconds: performance.now() - started });
  } catch (error) {
    self.postMessage({ number: data.number, error: String(error instanceof Error ? error.message : error) });
  }
};
