// Small helpers around the document.

/** @template {HTMLElement} [Found=HTMLElement] @param {string} id @returns {Found} */
export function element(id) {
  return /** @type {Found} */ (document.getElementById(id));
}

/** @param {number} count @param {string} what */
export function counted(count, what) {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** @param {string} text */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {unknown} text */
export function escapeText(text) {
  return String(text).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @param {number} time */
export function milliseconds(time) {
  if (time < 1) return 'less than 1 ms';
  return time < 1000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(1)} s`;
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 1e-3) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  return seconds < 1 ? `${Number((seconds * 1e3).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
