// Colours of keys: lightness follows the order, so that they differ in grey as well.

/** From the smallest key to the largest; on a dark page the other way round. @type {[number, number, number][]} */
const SCALE = [[250, 222, 140], [132, 196, 158], [52, 134, 158], [32, 60, 118]];
/** @type {[number, number, number][]} */
const DARK_SCALE = [[66, 84, 150], [44, 132, 156], [112, 196, 140], [252, 226, 130]];

/**
 * The colour at a share of the scale, and one for text upon it.
 * @param {number} share from 0 to 1
 * @param {boolean} dark
 * @returns {{ fill: string, text: string }}
 */
export function keyColour(share, dark) {
  const scale = dark ? DARK_SCALE : SCALE;
  const place = Math.min(1, Math.max(0, share)) * (scale.length - 1);
  const index = Math.min(scale.length - 2, Math.floor(place));
  const mixed = scale[index].map((low, channel) =>
    Math.round(low + (scale[index + 1][channel] - low) * (place - index)));
  return { fill: `rgb(${mixed.join(' ')})`, text: brightness(mixed) > 0.179 ? '#000000' : '#ffffff' };
}

/**
 * How bright a colour is to the eye, from 0 to 1: the relative luminance of WCAG.
 * @param {number[]} colour
 */
export function brightness(colour) {
  const [red, green, blue] = colour.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
