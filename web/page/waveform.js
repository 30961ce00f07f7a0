import { Canvas } from "./canvas.js";

const PIXELS_A_SECOND = 120;
const BAR = 3;
const PITCH = 5; // pixels from bar to bar
const LINE_HEIGHT = 17;
const LINES = 3; // of words, so that short ones in quick speech have room beside each other
const WORDS_HEIGHT = LINES * LINE_HEIGHT + 8;
const PEAKS_A_SECOND = 100;
const HEAD_AT = 0.38; // where in the width the present is once the waveform moves

/**
 * The speech as a row of bars over its words: what was heard in full colour, what waits to be heard pale, the present
 * between them. Follows the present while it speaks, and shows the whole when it is over.
 */
export class Waveform {
  #still = matchMedia("(prefers-reduced-motion: reduce)");

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.canvas = new Canvas(element);
  }

  /** @param {import("./take.js").Take | null} take */
  draw(take) {
    const context = this.canvas.clear();
    const { width, height } = this.canvas;
    const middle = (height - WORDS_HEIGHT) / 2;
    if (!take?.samples) {
      this.canvas.element.classList.remove("moving");
      context.fillStyle = this.canvas.line;
      for (let x = 0; x < width; x += PITCH) bar(context, x, middle, 1.5);
      context.fillStyle = this.canvas.soft;
      context.font = `13px ${this.canvas.sans}`;
      if (!take) context.fillText("The sound appears here as it arrives.", 0, height - WORDS_HEIGHT + LINE_HEIGHT);
      return;
    }
    const heard = take.heard;
    const scale = take.ending ? Math.min(PIXELS_A_SECOND, width / take.seconds) : PIXELS_A_SECOND;
    const left = this.#left(take, heard, scale);
    this.canvas.element.classList.toggle("moving", left > 0);
    this.#drawBars(take, heard, scale, left, middle);
    this.#drawWords(take, heard, scale, left);
    const head = heard * scale - left;
    if (!take.ending) {
      context.fillStyle = this.canvas.ink;
      context.fillRect(head - 0.75, 4, 1.5, height - WORDS_HEIGHT - 8);
    }
  }

  /**
   * How far the waveform has moved to the left, in pixels.
   *
   * @param {import("./take.js").Take} take
   * @param {number} heard
   * @param {number} scale
   */
  #left(take, heard, scale) {
    const { width } = this.canvas;
    if (take.ending) return 0;
    if (this.#still.matches) return Math.floor((heard * scale) / (width * 0.9)) * width * 0.9;
    return Math.max(0, heard * scale - width * HEAD_AT);
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {number} heard
   * @param {number} scale
   * @param {number} left
   * @param {number} middle
   */
  #drawBars(take, heard, scale, left, middle) {
    const { context, width } = this.canvas;
    const peaksABar = (PITCH / scale) * PEAKS_A_SECOND;
    const first = Math.floor(left / PITCH);
    const last = Math.min(first + Math.ceil(width / PITCH) + 1, Math.ceil(take.peaks.length / peaksABar));
    for (let i = first; i < last; i++) {
      let peak = 0;
      for (let at = Math.floor(i * peaksABar); at < (i + 1) * peaksABar; at++)
        peak = Math.max(peak, take.peaks[at] ?? 0);
      context.fillStyle = i * PITCH < heard * scale ? this.canvas.accent : this.canvas.faint;
      bar(context, i * PITCH - left, middle, Math.max(1.5, Math.sqrt(peak) * (middle - 4)));
    }
    context.fillStyle = this.canvas.line;
    for (let x = last * PITCH - left; x < width; x += PITCH) bar(context, x, middle, 1.5);
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {number} heard
   * @param {number} scale
   * @param {number} left
   */
  #drawWords(take, heard, scale, left) {
    const { context, width, height } = this.canvas;
    context.font = `13px ${this.canvas.sans}`;
    const free = new Array(LINES).fill(-Infinity); // where in each line the last word ended
    for (const { text, startS, endS } of take.words) {
      const x = startS * scale - left;
      if (x > width) break;
      const line = free.findIndex((until) => until < x);
      if (line < 0 || x < -150) continue;
      const now = !take.ending && startS <= heard && heard < endS;
      context.fillStyle = now ? this.canvas.accent : startS <= heard ? this.canvas.ink : this.canvas.soft;
      context.fillText(text, x, height - WORDS_HEIGHT + (line + 1) * LINE_HEIGHT);
      free[line] = x + context.measureText(text).width + 5;
    }
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} middle
 * @param {number} reach above and below it
 */
function bar(context, x, middle, reach) {
  context.beginPath();
  context.roundRect(x, middle - reach, BAR, 2 * reach, BAR / 2);
  context.fill();
}
