// The compiled Rust program, and how it is asked.

/**
 * @typedef {{ min: number, max: number, column: number }} DrawnComparator
 * @typedef {{ name: string, top: number, bottom: number }} Part
 * @typedef {{ columns: number, comparators: DrawnComparator[], parts: Part[] }} DrawnStage
 * @typedef {{ stages: [number, number], wires: [number, number], name: string }} Block
 * @typedef {{ does: string, split?: number }} Claim
 * @typedef {{ wires: number, size: number, depth: number, ascending: boolean, list: string, stages: DrawnStage[],
 *             blocks: Block[], claim: Claim, claim_text: string }} Network
 * @typedef {{ states: number[][], sorted_after: number | null, sorted_after_stage: number | null }} Trace
 * @typedef {{ verdict: 'proved' | 'refuted' | 'unknown', text: string, cases?: number, input?: number[],
 *             permutation?: number[] }} Verdict
 * @typedef {(question: object) => any} Ask
 */

/**
 * Starts the program. The result asks it: a question in, an answer out, an `Error` for the reader otherwise.
 * @param {WebAssembly.Module} program
 * @returns {Promise<Ask>}
 */
export async function startEngine(program) {
  const instance = await WebAssembly.instantiate(program);
  const { memory, room, ask, answer_address: answerAddress } = /** @type {any} */ (instance.exports);
  return (question) => {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    const address = room(bytes.length);
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    const length = ask();
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, answerAddress(), length));
    const reply = JSON.parse(text);
    if ('error' in reply) throw new Error(reply.error);
    return reply.answer;
  };
}
