/**
 * @param {unknown} condition
 * @param {string} message
 * @returns {asserts condition}
 */
export function assert(condition, message) {
  if (!condition) throw new Error(message);
}

/**
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function assertEqual(actual, expected) {
  if (actual instanceof Float32Array && expected instanceof Float32Array) {
    assert(actual.length === expected.length, `${actual.length} samples instead of ${expected.length}`);
    const at = actual.findIndex((sample, i) => sample !== expected[i]);
    assert(at < 0, `sample ${at} is ${actual[at]} instead of ${expected[at]}`);
  } else {
    const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
    assert(is === shouldBe, `${is} instead of ${shouldBe}`);
  }
}

/**
 * Noise, the same in every run.
 *
 * @param {number} length
 */
export function noise(length) {
  let state = 12345;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}

/**
 * @param {number} hertz
 * @param {number} rate
 * @param {number} length
 */
export function sine(hertz, rate, length) {
  return Float32Array.from({ length }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / rate));
}
