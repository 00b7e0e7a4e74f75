// The keys that enter a network.

/**
 * The numbers in a text such as "5 3, 8 1"; zeros and ones may stand without spaces.
 * @param {string} text
 * @param {number} wires
 * @returns {{ keys: number[] } | { error: string }}
 */
export function readKeys(text, wires) {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  if (words.length === 1 && wires > 1 && /^[01]+$/.test(words[0])) return checkKeys([...words[0]], wires);
  return checkKeys(words, wires);
}

/** @param {string[]} words @param {number} wires @returns {{ keys: number[] } | { error: string }} */
function checkKeys(words, wires) {
  const wrong = words.find((word) => !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word));
  if (wrong !== undefined) return { error: `“${wrong}” is not a number` };
  const keys = words.map(Number);
  if (!keys.every(Number.isFinite)) return { error: 'a number is too large' };
  if (keys.length !== wires) return { error: `${keys.length} numbers for ${wires} wires: give one for each` };
  return { keys };
}

/**
 * Keys of a pattern.
 * @param {string} pattern
 * @param {number} wires
 * @param {() => number} random a number from 0 up to 1
 * @returns {number[]}
 */
export function patternKeys(pattern, wires, random = Math.random) {
  const ascending = Array.from({ length: wires }, (_, index) => index + 1);
  switch (pattern) {
    case 'sorted':
      return ascending;
    case 'reversed':
      return ascending.reverse();
    case 'bitonic': {
      const half = Math.ceil(wires / 2);
      const rising = ascending.map((key) => 2 * key - 1).slice(0, half);
      const falling = ascending.map((key) => 2 * key).slice(0, wires - half).reverse();
      return [...rising, ...falling];
    }
    case 'two-runs': {
      const split = wires < 2 ? 0 : 2 ** Math.floor(Math.log2(wires - 1));
      const chosen = shuffled(ascending, random).slice(0, split);
      const first = ascending.filter((key) => chosen.includes(key));
      return [...first, ...ascending.filter((key) => !chosen.includes(key))];
    }
    case 'zero-one':
      return ascending.map(() => (random() < 0.5 ? 0 : 1));
    default:
      return shuffled(ascending, random);
  }
}

/** @param {number[]} keys @param {() => number} random */
function shuffled(keys, random) {
  const result = [...keys];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other], result[last]];
  }
  return result;
}

/**
 * The 0-1 input of a number: bit w is the key on wire w.
 * @param {number} number
 * @param {number} wires
 */
export function bitsOf(number, wires) {
  return Array.from({ length: wires }, (_, wire) => (number >>> wire) & 1);
}

/** @type {(keys: number[]) => boolean} */
export const areZeroOne = (keys) => keys.every((key) => key === 0 || key === 1);

/**
 * For every key its place in the order of the different keys, from 0 to 1. Zeros and ones are what they are.
 * @param {number[]} keys
 */
export function shares(keys) {
  if (areZeroOne(keys)) return keys;
  const different = [...new Set(keys)].sort((a, b) => a - b);
  const last = Math.max(1, different.length - 1);
  return keys.map((key) => (different.length === 1 ? 0.5 : different.indexOf(key) / last));
}
