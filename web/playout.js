/**
 * What is heard next: a ring of samples, and the decisions of a player. Knows no clock and no audio interface, so that
 * it runs in an AudioWorklet (`playout.worklet.js`) as well as in a test.
 *
 * Samples come as tracks, one an utterance, and are played one behind the other without a gap. Playing begins once
 * `lead` samples wait or nothing more will come. When samples run out in the middle of a track, what is left fades out,
 * an underrun is counted, and playing goes on once `lead` samples wait again.
 */
import { Resampler } from "./resampler.js";

const FADE_S = 0.004;

/**
 * @typedef {{track: number, start: number, end: number | null, first: number}} Track `start` and `end` count samples
 *   since the last stop, `end` is null while more may come; `first` is the index in the track of the sample at `start`.
 * @typedef {"idle" | "waiting" | "playing"} PlayoutState
 * @typedef {{event: "start" | "finish" | "underrun" | "resume", track: number, sample: number, offset: number}}
 *   PlayoutEvent at a sample of the track, `offset` frames behind the beginning of the block that was rendered
 */

export class Playout {
  /** @type {PlayoutState} */
  state = "idle";
  /** Samples that must wait before playing begins. */
  lead = 0;
  /** Times that samples ran out in the middle of a track. */
  underruns = 0;
  /** @type {PlayoutEvent[]} since they were last taken */
  events = [];

  #ring;
  #resampler;
  #fade;
  /** @type {Track[]} */
  #tracks = [];
  #written = 0;
  #read = 0;
  #phase = 0;
  /** @type {Float32Array} what still sounds of something that was cut off, faded */
  #tail = new Float32Array(0);
  #fadeIn = 0;
  #span = new Float32Array(0);

  /**
   * @param {number} inputRate of the samples, in Hz
   * @param {number} outputRate of what is rendered, in Hz
   * @param {number} capacity of the ring, in samples
   */
  constructor(inputRate, outputRate, capacity) {
    this.#ring = new Float32Array(capacity);
    this.#resampler = new Resampler(inputRate, outputRate);
    this.#fade = Math.round(FADE_S * outputRate);
  }

  /** Samples played since the last stop. */
  get consumed() {
    return Math.min(this.#read, this.#written);
  }

  /** Samples that wait. */
  get buffered() {
    return this.#written - this.consumed;
  }

  /** The track that is heard, and the sample in it; null between tracks. */
  get position() {
    const current = this.#tracks[0];
    return current && this.state === "playing" && this.#read >= current.start
      ? { track: current.track, sample: this.#read - current.start + current.first }
      : null;
  }

  /**
   * Add samples to a track, opening it when it is new.
   *
   * @param {number} track
   * @param {Float32Array} samples in -1..1; no more than there is room for
   * @param {number} [at] index in the track of the first of them, if it opens the track
   */
  append(track, samples, at = 0) {
    const kept = this.#ring.length - 2 * Resampler.REACH; // the samples just played are still looked at
    if (this.buffered + samples.length > kept) throw new RangeError("no room in the ring");
    this.#open(track, at);
    const cell = this.#written % this.#ring.length;
    const untilEnd = samples.subarray(0, this.#ring.length - cell);
    this.#ring.set(untilEnd, cell);
    this.#ring.set(samples.subarray(untilEnd.length), 0);
    this.#written += samples.length;
  }

  /**
   * No more samples will come for this track.
   *
   * @param {number} track
   */
  finish(track) {
    this.#open(track, 0).end = this.#written;
  }

  /** Forget everything. What sounds fades out within 4 ms; new tracks may be added at once. */
  stop() {
    if (this.state === "playing") this.#cutOff(Math.min(this.#fade, this.#framesLeft()));
    this.#tracks = [];
    this.#written = this.#read = this.#phase = this.#fadeIn = 0;
    this.#ring.fill(0);
    this.state = "idle";
  }

  /**
   * Render one block.
   *
   * @param {Float32Array} output overwritten
   */
  render(output) {
    output.fill(0);
    if (this.state === "waiting" && this.#canBegin(output.length)) this.#begin();
    if (this.state === "playing") this.#play(output);
    this.#playTail(output);
  }

  /**
   * @param {number} track
   * @param {number} first index in the track of the next sample, if it is new
   */
  #open(track, first) {
    let last = this.#tracks.at(-1);
    if (last?.track !== track) {
      if (last && last.end === null) last.end = this.#written;
      last = { track, start: this.#written, end: null, first };
      this.#tracks.push(last);
      if (this.state === "idle") {
        this.state = "waiting";
        this.#read = this.#written; // the position may have moved past the end by part of a sample
        this.#phase = 0;
      }
    }
    return last;
  }

  get #complete() {
    return this.#tracks.every((track) => track.end !== null);
  }

  /**
   * Whether a block can be played. Enough must stay behind to fade out with, should nothing more come.
   *
   * @param {number} left frames that can be rendered
   * @param {number} wanted frames of the block
   */
  #suffices(left, wanted) {
    return this.#complete || left >= wanted + this.#fade;
  }

  /** @param {number} wanted frames of the next block */
  #canBegin(wanted) {
    return this.#complete || (this.buffered >= this.lead && this.#suffices(this.#framesLeft(), wanted));
  }

  #begin() {
    this.state = "playing";
    const { track, start, first } = this.#tracks[0];
    const sample = this.#read - start + first;
    if (sample > 0) this.#fadeIn = this.#fade;
    this.events.push({ event: sample > 0 ? "resume" : "start", track, sample, offset: 0 });
  }

  /** Frames that can be rendered from what is there. */
  #framesLeft() {
    const samples = this.#written - this.#read - (this.#complete ? 0 : this.#resampler.reach);
    return this.#resampler.framesFor(samples, this.#phase);
  }

  /** @param {Float32Array} output */
  #play(output) {
    const left = this.#framesLeft();
    if (this.#suffices(left, output.length)) {
      this.#readInto(output.subarray(0, left));
      this.#rampUp(output);
    } else {
      this.#cutOff(left);
      this.#passTracks(left);
      const { track, start, first } = this.#tracks[0];
      this.underruns++;
      this.state = "waiting";
      this.events.push({ event: "underrun", track, sample: this.#read - start + first, offset: left });
      return;
    }
    this.#passTracks(Math.min(left, output.length));
  }

  /** @param {Float32Array} output */
  #readInto(output) {
    const { reach } = this.#resampler;
    const moved = this.#resampler.advance(output.length, this.#phase);
    const length = moved + 2 * reach + 1;
    if (this.#span.length < length) this.#span = new Float32Array(length);
    const span = this.#span.subarray(0, length);
    for (let i = 0, at = this.#read - reach; i < span.length; i++, at++) {
      span[i] = at >= 0 && at < this.#written ? this.#ring[at % this.#ring.length] : 0;
    }
    this.#resampler.resample(span, this.#phase, output);
    this.#phase = (this.#phase + output.length * this.#resampler.step) % this.#resampler.phases;
    this.#read += moved;
  }

  /** @param {Float32Array} output */
  #rampUp(output) {
    for (let i = 0; i < output.length && this.#fadeIn > 0; i++) output[i] *= 1 - this.#fadeIn-- / this.#fade;
  }

  /**
   * Let go of what sounds: the next frames become a tail that fades to nothing.
   *
   * @param {number} frames
   */
  #cutOff(frames) {
    this.#tail = new Float32Array(frames);
    this.#readInto(this.#tail);
    this.#rampUp(this.#tail);
    const fade = Math.min(this.#fade, frames);
    for (let i = 0; i < fade; i++) this.#tail[frames - 1 - i] *= i / fade;
  }

  /** @param {Float32Array} output */
  #playTail(output) {
    const frames = Math.min(this.#tail.length, output.length);
    for (let i = 0; i < frames; i++) output[i] += this.#tail[i];
    this.#tail = this.#tail.subarray(frames);
  }

  /**
   * Tell of the tracks that ended and began in this block.
   *
   * @param {number} frames that were rendered
   */
  #passTracks(frames) {
    for (let current = this.#tracks[0]; current; current = this.#tracks[0]) {
      const { track, start, end, first } = current;
      if (end === null || end > this.#read) return;
      const offset = Math.max(0, frames - this.#resampler.framesFor(this.#read - end, 0));
      this.events.push({ event: "finish", track, sample: end - start + first, offset });
      this.#tracks.shift();
      const next = this.#tracks[0];
      if (next && this.state === "playing") {
        this.events.push({ event: "start", track: next.track, sample: 0, offset });
      }
    }
    this.state = "idle";
  }
}
