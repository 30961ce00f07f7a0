import { Canvas } from "./canvas.js";
import { spanOf } from "./timeline.js";

const TOP_HZ = 12_000;
const QUIETEST = -95; // dB
const LOUDEST = -25;
const COLUMNS = 2048;
const ROWS = 128;
const FINEST_S = 1 / 60; // a column

/**
 * What is heard by pitch and time, below the timeline and on its scale: from the press of the button on.
 *
 * Columns are kept in a picture of a fixed size. When a take outgrows it, the picture is squeezed to half its width and
 * columns last twice as long from then on.
 */
export class Spectrogram {
  /** @type {AnalyserNode | null} */
  #analyser = null;
  #levels = new Uint8Array(0);
  #picture = document.createElement("canvas");
  #pen;
  #column = new ImageData(1, ROWS);
  #columnS = FINEST_S;
  #written = 0; // columns
  /** @type {import("./take.js").Take | null} whose sound is in the picture */
  #take = null;

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.canvas = new Canvas(element);
    this.#picture.width = COLUMNS;
    this.#picture.height = ROWS;
    this.#pen = /** @type {CanvasRenderingContext2D} */ (this.#picture.getContext("2d"));
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

  /** @param {import("./take.js").Take | null} take */
  draw(take) {
    if (take !== this.#take) this.#begin(take);
    if (take && !take.ending) this.#write(take.now);
    const context = this.canvas.clear();
    if (!take) return;
    const { width, height } = this.canvas;
    const seconds = COLUMNS * this.#columnS;
    context.imageSmoothingEnabled = true;
    context.drawImage(this.#picture, 0, 0, (seconds / spanOf(take)) * width, height);
    context.globalCompositeOperation = "source-in"; // the picture has only opacity
    context.fillStyle = this.canvas.accent;
    context.fillRect(0, 0, width, height);
    context.globalCompositeOperation = "source-over";
  }

  /** @param {import("./take.js").Take | null} take */
  #begin(take) {
    this.#take = take;
    this.#columnS = FINEST_S;
    this.#written = 0;
    this.#pen.clearRect(0, 0, COLUMNS, ROWS);
  }

  /** @param {number} now in seconds */
  #write(now) {
    if (!this.#analyser) return;
    while (now >= COLUMNS * this.#columnS) this.#squeeze();
    const last = Math.floor(now / this.#columnS);
    if (last < this.#written) return;
    this.#analyser.getByteFrequencyData(this.#levels);
    const bins = Math.min(this.#levels.length, (TOP_HZ / this.#analyser.context.sampleRate) * this.#analyser.fftSize);
    for (let row = 0; row < ROWS; row++) {
      const level = this.#levels[Math.floor(((ROWS - 1 - row) / ROWS) * bins)];
      this.#column.data[4 * row + 3] = 255 * (level / 255) ** 1.3;
    }
    // Drawings may come late: what lies between is as it is now.
    for (; this.#written <= last; this.#written++) this.#pen.putImageData(this.#column, this.#written, 0);
  }

  #squeeze() {
    this.#pen.globalCompositeOperation = "copy";
    this.#pen.drawImage(this.#picture, 0, 0, COLUMNS / 2, ROWS);
    this.#pen.globalCompositeOperation = "source-over";
    this.#columnS *= 2;
    this.#written = Math.ceil(this.#written / 2);
  }
}
