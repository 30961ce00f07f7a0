import { Canvas } from "./canvas.js";

const LABELS_WIDTH = 86;
const AXIS_HEIGHT = 22;
const HEADROOM = 20; // for the label of the first sound
const LANES = /** @type {const} */ (["Text", "Queue", "Segments", "Audio", "Heard", "Ahead"]);

/**
 * What happened when: a lane each for text sent, characters that waited to be spoken, segments, audio received, speech
 * heard, and speech that waited to be heard.
 */
export class Timeline {
  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.canvas = new Canvas(element);
  }

  /** @param {import("./take.js").Take | null} take */
  draw(take) {
    const context = this.canvas.clear();
    const { width, height } = this.canvas;
    const span = spanOf(take);
    const lane = (height - AXIS_HEIGHT - HEADROOM) / LANES.length;
    const x = (/** @type {number} */ time) => LABELS_WIDTH + (time / span) * (width - LABELS_WIDTH - 12);
    context.font = `13px ${this.canvas.sans}`;
    context.textBaseline = "middle";
    this.#drawAxis(span, x);
    LANES.forEach((name, i) => {
      context.fillStyle = this.canvas.soft;
      context.fillText(name, 0, HEADROOM + (i + 0.5) * lane);
      context.fillStyle = this.canvas.line;
      context.fillRect(LABELS_WIDTH, HEADROOM + Math.round((i + 1) * lane), width - LABELS_WIDTH, 1);
    });
    if (!take) {
      context.fillStyle = this.canvas.soft;
      context.textAlign = "center";
      context.fillText("Nothing has been spoken yet.", x(span / 2), HEADROOM + 2.5 * lane);
      context.textAlign = "left";
      return;
    }
    const row = (/** @type {number} */ i) => {
      const top = HEADROOM + i * lane;
      return { top: top + lane * 0.24, height: lane * 0.52, bottom: top + lane };
    };
    this.#drawTexts(take, x, row(0));
    this.#drawArea(steps(take.queue, take.endedAt ?? take.now), x, row(1), (most) => `up to ${most} characters`);
    this.#drawLoad(take, x, row(1));
    this.#drawSegments(take, x, row(2));
    this.#drawFrames(take, x, row(3));
    this.#drawPlays(take, x, row(4));
    this.#drawArea(take.ahead, x, row(5), (most) => `up to ${most.toFixed(1)} s`);
    this.#drawFirstSound(take, x);
  }

  /**
   * @param {number} span
   * @param {(time: number) => number} x
   */
  #drawAxis(span, x) {
    const { context, width, height } = this.canvas;
    const steps = (span % 3 ? 4 : 3) * (width < 600 ? 1 : 2);
    for (let i = 0; i <= steps; i++) {
      const time = (span * i) / steps;
      context.fillStyle = this.canvas.line;
      context.fillRect(Math.round(x(time)), HEADROOM, 1, height - AXIS_HEIGHT - HEADROOM);
      context.fillStyle = this.canvas.soft;
      context.textAlign = i === steps ? "right" : i ? "center" : "left";
      context.fillText(`${+time.toFixed(2)} s`, i === steps ? width : x(time), height - 8);
    }
    context.textAlign = "left";
  }

  /**
   * @typedef {{top: number, height: number, bottom: number}} Row
   * @param {import("./take.js").Take} take
   * @param {(time: number) => number} x
   * @param {Row} row
   */
  #drawTexts(take, x, row) {
    const { context } = this.canvas;
    context.fillStyle = this.canvas.accent;
    for (const { time, characters } of take.texts) {
      const height = Math.min(row.height, 5 + characters); // a long piece is a tall mark
      context.fillRect(x(time) - 1, row.top + row.height - height, 2, height);
    }
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {(time: number) => number} x
   * @param {Row} row
   */
  #drawSegments(take, x, row) {
    const { context } = this.canvas;
    for (const { time, until, start, end } of take.segments) {
      const width = Math.max(4, x(until) - x(time));
      context.fillStyle = this.canvas.glow;
      context.strokeStyle = this.canvas.accent;
      context.beginPath();
      context.roundRect(x(time), row.top, width, row.height, 4);
      context.fill();
      context.stroke();
      const text = take.utterance.text.slice(start, end).trim();
      context.fillStyle = this.canvas.ink;
      context.fillText(this.#fitting(text, width - 14), x(time) + 6, row.top + row.height / 2);
    }
  }

  /**
   * As much of a text as there is room for.
   *
   * @param {string} text
   * @param {number} room in pixels
   */
  #fitting(text, room) {
    const { context } = this.canvas;
    const whole = context.measureText(text).width;
    if (whole <= room) return text;
    const characters = Math.floor((text.length * room) / whole) - 3;
    return characters < 3 ? "" : `${text.slice(0, characters).trimEnd()}…`;
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {(time: number) => number} x
   * @param {Row} row
   */
  #drawFrames(take, x, row) {
    const { context } = this.canvas;
    context.fillStyle = this.canvas.accent;
    let drawn = -Infinity;
    for (const { time } of take.frames) {
      const at = x(time);
      if (at - drawn < 1) continue;
      context.fillRect(at, row.top, 1, row.height);
      drawn = at;
    }
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {(time: number) => number} x
   * @param {Row} row
   */
  #drawPlays(take, x, row) {
    const { context } = this.canvas;
    const until = take.endedAt ?? take.now;
    take.plays.forEach(({ event, time }, i) => {
      const next = Math.min(take.plays[i + 1]?.time ?? until, until);
      if (event === "finish" || next < time) return;
      context.fillStyle = event === "underrun" ? this.canvas.warn : this.canvas.accent;
      const thin = event === "underrun" ? row.height * 0.4 : 0;
      context.beginPath();
      context.roundRect(x(time), row.top + thin, Math.max(2, x(next) - x(time)), row.height - 2 * thin, 4);
      context.fill();
    });
  }

  /**
   * @param {{time: number, amount: number}[]} curve
   * @param {(time: number) => number} x
   * @param {Row} row
   * @param {(most: number) => string} worded says what its peak stands for
   */
  #drawArea(curve, x, row, worded) {
    const { context, width } = this.canvas;
    const peak = curve.reduce((most, point) => (point.amount > most.amount ? point : most), { time: 0, amount: 0 });
    if (!peak.amount) return;
    const room = row.bottom - row.top;
    context.beginPath();
    context.moveTo(x(curve[0].time), row.bottom);
    for (const { time, amount } of curve) context.lineTo(x(time), row.bottom - (amount / peak.amount) * room);
    context.lineTo(x(curve[curve.length - 1].time), row.bottom);
    context.fillStyle = this.canvas.glow;
    context.fill();
    context.strokeStyle = this.canvas.accent;
    context.stroke();
    const words = worded(peak.amount);
    const at = x(curve[curve.length - 1].time) + 6;
    context.fillStyle = this.canvas.soft;
    if (at + context.measureText(words).width <= width) context.fillText(words, at, row.top + room / 3);
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {(time: number) => number} x
   * @param {Row} row
   */
  #drawLoad(take, x, row) {
    if (!take.load) return;
    const { context } = this.canvas;
    const { from } = take.load;
    const until = take.segments.length || take.ending ? take.load.until : take.now;
    context.fillStyle = this.canvas.ink;
    const words = this.#fitting(`the model is loaded, ${milliseconds(until - from)}`, x(until) - x(from) - 14);
    context.fillText(words, x(from) + 8, row.top + row.height / 2);
    context.fillRect(x(from), row.bottom - 3, x(until) - x(from), 3);
  }

  /**
   * @param {import("./take.js").Take} take
   * @param {(time: number) => number} x
   */
  #drawFirstSound(take, x) {
    const { context, width, height } = this.canvas;
    if (take.firstSound === null) return;
    const at = Math.round(x(take.firstSound));
    context.fillStyle = this.canvas.ink;
    context.fillRect(at, 0, 1, height - AXIS_HEIGHT);
    // The server tells its part when all is done.
    const firstAudioS = take.outcome?.firstAudioS;
    const server = firstAudioS ? `, the server’s part ${milliseconds(firstAudioS)}` : "";
    const words = `first sound ${milliseconds(take.firstSound)}`;
    const room = width - at - 6;
    const all = words + server;
    context.fillText(context.measureText(all).width < room ? all : words, at + 6, HEADROOM / 2);
  }
}

/**
 * Seconds that the timeline shows, from the press of the button on.
 *
 * @param {import("./take.js").Take | null} take
 */
export function spanOf(take) {
  return niceSpan(take ? (take.endedAt ?? take.now) : 0);
}

/**
 * A curve that stays where it is until it changes.
 *
 * @param {{time: number, amount: number}[]} changes
 * @param {number} until in seconds
 */
function steps(changes, until) {
  return changes.flatMap(({ time, amount }, i) => [
    { time, amount },
    { time: changes[i + 1]?.time ?? until, amount },
  ]);
}

/** @param {number} seconds */
export function milliseconds(seconds) {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(2)} s`;
}

/**
 * The least of 4, 6, 8, 12, 16, 24... seconds that holds `seconds`, so that the axis seldom changes.
 *
 * @param {number} seconds
 */
function niceSpan(seconds) {
  let span = 4;
  while (span < seconds) span *= 2;
  return seconds > 4 && span * 0.75 >= seconds ? span * 0.75 : span;
}
