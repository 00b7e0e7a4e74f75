// What the reader sees, as the part of the address after '#'.

/**
 * @typedef {{ view?: string, kind?: string, wires?: number, network?: string, input?: number[], done?: number,
 *             second?: string, chapter?: number, challenge?: number, rungs?: string[] }} Place
 */

/**
 * A network in list form, without the characters that addresses escape: `8:0-1,2-3;0-2`.
 * @param {string} list
 * @param {number} wires
 */
export function shortNetwork(list, wires) {
  const stages = list.split('\n').filter((line) => line.startsWith('['));
  const short = stages.map((line) => line.slice(2, -2).replaceAll('),(', '.').replaceAll(',', '-'));
  return `${wires}:${short.join(';')}`;
}

/** @param {string} short */
export function longNetwork(short) {
  const [wires, stages = ''] = short.split(':');
  const lines = stages.split(';').filter(Boolean);
  const list = lines.map((line) => `[${line.split('.').map((pair) => `(${pair.replace('-', ',')})`).join(',')}]`);
  return [`# wires: ${wires}`, ...list, ''].join('\n');
}

/** @param {Place} place */
export function writePlace(place) {
  /** @type {string[]} */
  const parts = [];
  /** @param {string} name @param {string | number | undefined} value */
  const add = (name, value) => {
    if (value !== undefined && value !== '') parts.push(`${name}=${encodeURIComponent(value)}`);
  };
  add('view', place.view);
  add('kind', place.kind);
  add('n', place.wires);
  add('network', place.network);
  add('input', place.input?.join('_'));
  add('at', place.done);
  add('with', place.second);
  add('chapter', place.chapter);
  add('challenge', place.challenge);
  add('rungs', place.rungs?.join('.'));
  return `#${parts.join('&')}`;
}

/** @param {string} hash @returns {Place} */
export function readPlace(hash) {
  /** @type {Place} */
  const place = {};
  const whole = (/** @type {string | null} */ text) =>
    text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  place.view = words.get('view') ?? undefined;
  place.kind = words.get('kind') ?? undefined;
  place.wires = whole(words.get('n'));
  place.network = words.get('network') ?? undefined;
  const keys = words.get('input')?.split('_').filter(Boolean).map(Number);
  place.input = keys?.every(Number.isFinite) ? keys : undefined;
  place.done = whole(words.get('at'));
  place.second = words.get('with') ?? undefined;
  place.chapter = whole(words.get('chapter'));
  place.challenge = whole(words.get('challenge'));
  place.rungs = words.get('rungs')?.split('.').filter(Boolean).slice(0, 2);
  return place;
}
