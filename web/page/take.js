import { Emitter } from "../emitter.js";

const PEAK_SAMPLES = 240; // 10 ms

/**
 * @typedef {import("../utterance.js").Utterance} Utterance
 * @typedef {import("../utterance.js").Word} Word
 * @typedef {import("../utterance.js").SpeechError} SpeechError
 *
 * @typedef {object} TakeEvents
 * @property {"finished" | "stopped" | "failed"} over nothing more will be heard
 */

/**
 * All that is known of one utterance, from the press of the button to its last sample: what was sent, what came, what
 * was heard, and when. Times are seconds from the press; `Word` and `Segment` count from the first sample.
 *
 * @extends {Emitter<TakeEvents>}
 */
export class Take extends Emitter {
  /** @type {{time: number, characters: number}[]} */
  texts = [];
  /**
   * Each with when it was announced, and when the last audio of it came.
   *
   * @type {(import("../utterance.js").Segment & {time: number, until: number})[]}
   */
  segments = [];
  /** @type {Word[]} */
  words = [];
  /** @type {{time: number, at: number, samples: Int16Array}[]} */
  frames = [];
  /** @type {number[]} loudest sample of each 10 ms, 0..1 */
  peaks = [];
  /** @type {{event: "start" | "finish" | "underrun" | "resume", time: number, seconds: number}[]} */
  plays = [];
  /** @type {{time: number, amount: number}[]} characters that were sent and not spoken yet, at each change */
  queue = [];
  /** @type {{time: number, amount: number}[]} seconds of speech that waited to be heard, now and then */
  ahead = [];
  /** @type {{from: number, until: number, expectedS: number | null} | null} how long it waited for the model, so far */
  load = null;
  /** @type {"finished" | "stopped" | "failed" | null} */
  ending = null;
  /** When it was over. @type {number | null} */
  endedAt = null;
  /** When the first sound was heard. @type {number | null} */
  firstSound = null;
  /** What the server says of it, if it was not broken off. @type {import("../utterance.js").Outcome | null} */
  outcome = null;
  /** Samples that came. */
  samples = 0;

  #askedAt;
  #player;
  #whole; // all of the text was there at once
  /** @type {number | null} */
  #pace = null;
  #sent = 0; // characters
  #reached = 0; // seconds that were heard when somebody last looked
  /** @type {(() => void)[]} */
  #offs = [];

  /**
   * @param {Utterance} utterance to be played
   * @param {import("../player.js").Player} player that plays it
   * @param {number} askedAt as `performance.now()` has it
   */
  constructor(utterance, player, askedAt) {
    super();
    this.utterance = utterance;
    this.#player = player;
    this.#askedAt = askedAt;
    this.#whole = utterance.closed;
    if (utterance.text) this.#text(utterance.text);
    utterance.on("text", (piece) => this.#text(piece));
    utterance.on("loading", (loading) => this.#loading(loading));
    utterance.on("segment", (segment) => this.#segment(segment));
    utterance.on("words", (words) => this.words.push(...words));
    utterance.on("audio", (frame) => this.#frame(frame));
    utterance.on("end", (outcome) => {
      if (!(outcome instanceof Error)) this.outcome = outcome;
    });
    for (const event of /** @type {const} */ (["start", "finish", "underrun", "resume"])) {
      this.#offs.push(player.on(event, (passage) => this.#passage(event, passage)));
    }
  }

  /** Seconds since it was asked for. */
  get now() {
    return (performance.now() - this.#askedAt) / 1000;
  }

  /** Seconds of speech that came. */
  get seconds() {
    return this.samples / this.#player.rate;
  }

  /** Times that speech ran out while it was heard. */
  get underruns() {
    return this.plays.filter(({ event }) => event === "underrun").length;
  }

  /**
   * Seconds of work for a second of speech: what the engine says; before that, how fast speech came, as long as the
   * server did not pace itself and did not wait for text.
   */
  get rtf() {
    const { computeS, audioS } = this.outcome ?? {};
    return computeS && audioS ? computeS / audioS : this.#pace;
  }

  /** Seconds of speech that were heard. */
  get heard() {
    if (this.ending) return this.ending === "stopped" ? this.#reached : this.seconds;
    const position = this.#player.position(); // of nothing, before the first sound and behind the last
    if (position?.track === this.utterance.number) {
      this.#reached = Math.max(this.#reached, Math.min(position.seconds, this.seconds));
    }
    return this.#reached;
  }

  /**
   * What is being said at `heard`: the word, or the segment if the server told no words.
   *
   * @param {number} heard in seconds of speech
   * @returns {{start: number, end: number}} indices in the text; empty at 0 before anything is said
   */
  saying(heard) {
    const word = this.words.findLast(({ startS }) => startS <= heard);
    if (word || this.words.length) return word ?? { start: 0, end: 0 };
    const reached = heard > 0 ? heard * this.#player.rate : -1;
    return this.segments.findLast(({ sample }) => sample <= reached) ?? { start: 0, end: 0 };
  }

  /** Stop it: not a sample more is heard. */
  stop() {
    if (this.ending) return;
    const { heard } = this;
    this.#player.stop();
    this.utterance.cancel(heard);
    this.#over("stopped");
  }

  /** Note how much waits to be heard. */
  noteAhead() {
    const pause = Math.max(0.04, this.now / 500); // no more of them than can be seen
    if (this.ending || this.now - (this.ahead.at(-1)?.time ?? -1) < pause) return;
    this.ahead.push({ time: this.now, amount: Math.max(0, this.seconds - this.heard) });
  }

  /** @param {string} piece */
  #text(piece) {
    if (!piece) return;
    this.texts.push({ time: this.now, characters: piece.length });
    this.#sent += piece.length;
    this.#noteQueue();
  }

  /** @param {{elapsedS: number, expectedS: number | null}} loading */
  #loading({ elapsedS, expectedS }) {
    this.load = { from: this.now - elapsedS, until: this.now, expectedS };
  }

  /** @param {import("../utterance.js").Segment} segment */
  #segment(segment) {
    if (this.load && !this.segments.length) this.load.until = this.now;
    this.segments.push({ ...segment, time: this.now, until: this.now });
    this.#noteQueue();
  }

  #noteQueue() {
    this.queue.push({ time: this.now, amount: this.#sent - (this.segments.at(-1)?.end ?? 0) });
  }

  /** @param {import("../utterance.js").Frame} frame */
  #frame({ at, samples }) {
    const { now } = this;
    this.frames.push({ time: now, at, samples });
    const segment = this.segments.at(-1);
    if (segment) segment.until = now;
    for (let i = 0; i < samples.length; i++) {
      const peak = Math.floor((at + i) / PEAK_SAMPLES);
      this.peaks[peak] = Math.max(this.peaks[peak] ?? 0, Math.abs(samples[i]) / 32768);
    }
    this.samples = at + samples.length;
    // Only text that was there at once says what work costs; only until the server has enough ahead to take its time.
    if (this.#whole && this.seconds - this.heard < 5) this.#pace = (now - this.texts[0].time) / this.seconds;
    this.noteAhead();
  }

  /**
   * @param {"start" | "finish" | "underrun" | "resume"} event
   * @param {import("../player.js").Passage} passage
   */
  #passage(event, { track, seconds, inSeconds }) {
    if (track !== this.utterance.number) return;
    const time = this.now + inSeconds;
    this.plays.push({ event, time, seconds });
    if (event === "start" && this.samples) this.firstSound = time;
    if (event === "finish") {
      const wait = setTimeout(() => this.#over(this.utterance.failure ? "failed" : "finished"), inSeconds * 1000);
      this.#offs.push(() => clearTimeout(wait));
    }
  }

  /** @param {"finished" | "stopped" | "failed"} ending */
  #over(ending) {
    this.ending = ending;
    this.endedAt = this.now;
    for (const off of this.#offs) off();
    this.emit("over", ending);
  }
}
