/**
 * A WAV file of mono 16-bit samples.
 *
 * @param {Int16Array[]} parts in order
 * @param {number} rate in Hz
 * @returns {Blob}
 */
export function wav(parts, rate) {
  const bytes = 2 * parts.reduce((sum, part) => sum + part.length, 0);
  const header = new DataView(new ArrayBuffer(44));
  const word = (/** @type {number} */ at, /** @type {string} */ name) =>
    [...name].forEach((character, i) => header.setUint8(at + i, character.charCodeAt(0)));
  word(0, "RIFF");
  header.setUint32(4, 36 + bytes, true);
  word(8, "WAVEfmt ");
  header.setUint32(16, 16, true); // bytes of this part
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // channels
  header.setUint32(24, rate, true);
  header.setUint32(28, 2 * rate, true); // bytes a second
  header.setUint16(32, 2, true); // bytes a sample of all channels
  header.setUint16(34, 16, true); // bits a sample
  word(36, "data");
  header.setUint32(40, bytes, true);
  return new Blob([header, .../** @type {Int16Array<ArrayBuffer>[]} */ (parts)], { type: "audio/wav" });
}
