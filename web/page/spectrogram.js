import { Canvas } from "./canvas.js";

const TOP_HZ = 12_000;
const QUIETEST = -95; // dB
const LOUDEST = -25;
const PIXELS_A_SECOND = 90;
const WIDEST = 12; // pixels written at once, when drawings come late
const GAP = 12; // pixels wiped before the pen

/** What is heard by pitch and time, written from left to right and over again: nothing moves but the pen. */
export class Spectrogram {
  /** @type {AnalyserNode | null} */
  #analyser = null;
  #levels = new Uint8Array(0);
  #pen = 0;
  #drawn = 0; // in milliseconds

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.canvas = new Canvas(element);
  }

  /**
   * Listen to what leaves this node.
   *
   * @param {AudioNode | null} node
   */
  listen(node) {
    if (!node || this.#analyser?.context === node.context) return;
    this.#analyser = new AnalyserNode(node.context, {
      fftSize: 1024,
      smoothingTimeConstant: 0,
      minDecibels: QUIETEST,
      maxDecibels: LOUDEST,
    });
    this.#levels = new Uint8Array(this.#analyser.frequencyBinCount);
    node.connect(this.#analyser);
  }

  /**
   * @param {boolean} speaking whether there is something to write
   * @param {number} now in milliseconds
   */
  draw(speaking, now) {
    const { context, width, height } = this.canvas;
    if (this.canvas.stale) {
      this.canvas.clear();
      this.#pen = 0;
      context.fillStyle = this.canvas.paper;
      context.fillRect(0, 0, width, height);
    }
    const column = Math.min(WIDEST, ((now - this.#drawn) / 1000) * PIXELS_A_SECOND);
    this.#drawn = now;
    if (!speaking || !this.#analyser) return;
    this.#analyser.getByteFrequencyData(this.#levels);
    const bins = Math.min(this.#levels.length, (TOP_HZ / this.#analyser.context.sampleRate) * this.#analyser.fftSize);
    context.fillStyle = this.canvas.paper;
    context.fillRect(this.#pen, 0, column + GAP, height);
    context.fillStyle = this.canvas.accent;
    for (let y = 0; y < height; y++) {
      const bin = Math.floor(((height - y) / height) * bins);
      context.globalAlpha = (this.#levels[bin] / 255) ** 1.3;
      if (context.globalAlpha > 0.02) context.fillRect(this.#pen, y, column, 1);
    }
    context.globalAlpha = 1;
    this.#pen = this.#pen + column < width ? this.#pen + column : 0;
  }
}
