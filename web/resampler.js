/**
 * Band-limited interpolation between two fixed rates (Smith and Gossett, 1984): a Kaiser-windowed sinc, tabulated
 * for every phase that the ratio of the rates can take, so that positions never drift. No state: positions are given.
 */
export class Resampler {
  /** Input samples that one output sample looks at on either side. */
  static REACH = 32;

  /**
   * @param {number} inputRate in Hz
   * @param {number} outputRate in Hz
   */
  constructor(inputRate, outputRate) {
    const divisor = greatestCommonDivisor(inputRate, outputRate);
    /** Positions between two input samples that an output sample can have. */
    this.phases = outputRate / divisor;
    /** Phases from one output sample to the next. */
    this.step = inputRate / divisor;
    /** Input samples looked at on either side; none when the rates are equal, which passes samples through. */
    this.reach = this.phases === this.step ? 0 : Resampler.REACH;
    /** @type {Float32Array[]} by phase, 2 * REACH taps each */
    this.taps = [];
    const cutoff = Math.min(1, outputRate / inputRate) * 0.97;
    for (let phase = 0; this.reach && phase < this.phases; phase++) {
      this.taps.push(designTaps(phase / this.phases, this.reach, cutoff));
    }
  }

  /**
   * Input samples that `frames` output samples move past, from a phase.
   *
   * @param {number} frames
   * @param {number} phase
   */
  advance(frames, phase) {
    return Math.floor((phase + frames * this.step) / this.phases);
  }

  /**
   * Output samples until the position has moved past `samples` input samples, from a phase.
   *
   * @param {number} samples
   * @param {number} phase
   */
  framesFor(samples, phase) {
    return Math.max(0, Math.ceil((samples * this.phases - phase) / this.step));
  }

  /**
   * Fill `output` from `input`.
   *
   * @param {Float32Array} input `input[reach]` is the sample at or before the first output sample's position; there are
   *   `advance(output.length, phase) + 2 * reach + 1` samples.
   * @param {number} phase of the first output sample, 0 .. phases - 1
   * @param {Float32Array} output
   */
  resample(input, phase, output) {
    if (!this.reach) {
      output.set(input.subarray(0, output.length));
      return;
    }
    const width = 2 * this.reach;
    let first = 1; // the tap of `reach - 1` samples before the position
    for (let frame = 0; frame < output.length; frame++) {
      const taps = this.taps[phase];
      let sum = 0;
      for (let tap = 0; tap < width; tap++) sum += taps[tap] * input[first + tap];
      output[frame] = sum;
      phase += this.step;
      while (phase >= this.phases) {
        phase -= this.phases;
        first++;
      }
    }
  }
}

/**
 * @param {number} fraction where between two input samples, 0 .. 1
 * @param {number} reach
 * @param {number} cutoff as a fraction of the input's Nyquist frequency
 */
function designTaps(fraction, reach, cutoff) {
  const taps = new Float32Array(2 * reach);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) {
    const distance = tap - (reach - 1) - fraction;
    const angle = Math.PI * distance * cutoff;
    taps[tap] = (angle === 0 ? 1 : Math.sin(angle) / angle) * kaiser(distance / reach, 8);
    sum += taps[tap];
  }
  return taps.map((value) => value / sum); // a constant stays the same constant at every phase
}

/**
 * @param {number} at -1 .. 1
 * @param {number} beta
 */
function kaiser(at, beta) {
  return bessel(beta * Math.sqrt(Math.max(0, 1 - at * at))) / bessel(beta);
}

/**
 * The modified Bessel function of the first kind and order 0, by its power series.
 *
 * @param {number} x
 */
function bessel(x) {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

/**
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
function greatestCommonDivisor(a, b) {
  return b ? greatestCommonDivisor(b, a % b) : a;
}
