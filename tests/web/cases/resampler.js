/** Each export is a test of `Resampler`: it throws if something is not as it should be. */
import { Playout } from "../playout.js";
import { assert, assertEqual, sine } from "./asserting.js";

/**
 * @param {Float32Array} samples at 24 kHz
 * @param {number} rate
 */
function resample(samples, rate) {
  const playout = new Playout(24000, rate, 1 << 16);
  playout.append(1, samples);
  playout.finish(1);
  const output = new Float32Array(Math.ceil((samples.length * rate) / 24000));
  for (let at = 0; at < output.length; at += 128) playout.render(output.subarray(at, at + 128));
  return output;
}

/**
 * The error of a resampled tone against the tone itself, away from its ends, in dB of the tone.
 *
 * @param {number} hertz
 * @param {number} rate
 */
function error(hertz, rate) {
  const output = resample(sine(hertz, 24000, 12000), rate);
  const ideal = sine(hertz, rate, output.length);
  let wrong = 0;
  let right = 0;
  for (let i = rate / 100; i < output.length - rate / 100; i++) {
    wrong += (output[i] - ideal[i]) ** 2;
    right += ideal[i] ** 2;
  }
  return 10 * Math.log10(wrong / right);
}

export function keeps_tones_up_to_10_kHz() {
  for (const rate of [44100, 48000, 96000]) {
    for (const hertz of [100, 1000, 5000, 8000, 10000]) {
      const decibels = error(hertz, rate);
      assert(decibels < -60, `${hertz} Hz at ${rate}: ${decibels.toFixed(1)} dB`);
    }
  }
}

export function keeps_what_a_slower_device_can_play() {
  for (const hertz of [100, 1000, 5000]) {
    const decibels = error(hertz, 16000);
    assert(decibels < -60, `${hertz} Hz at 16 kHz: ${decibels.toFixed(1)} dB`);
  }
}

export function does_not_fold_what_a_slower_device_cannot_play() {
  const output = resample(sine(11000, 24000, 12000), 16000);
  const loudest = output.subarray(200, -200).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  assert(loudest < 0.001, `11 kHz at 16 kHz: ${loudest}`);
}

export function keeps_constants() {
  const output = resample(new Float32Array(4800).fill(0.5), 44100);
  for (const sample of output.subarray(100, -100)) assert(Math.abs(sample - 0.5) < 1e-6, String(sample));
}

export function has_the_length_that_time_has() {
  assertEqual(
    resample(new Float32Array(4800).fill(0.5), 48000).findLastIndex((sample) => Math.abs(sample) > 0.2),
    9599,
  );
}
