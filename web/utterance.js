import { Emitter } from "./emitter.js";

/**
 * @typedef {object} SpeechOptions
 * @property {string} [voice] one of `ready.voices`, or several with their weights, `af_heart(2)+bf_emma(1)`; the first of
 *   `ready.voices` if not given
 * @property {number} [speed] factor on the pace, 0.5 to 2.0
 * @property {string} [language] one of `ready.languages`; the voice's own if not given
 * @property {number} [seed] same seed, text, voice and speed: same samples
 * @property {boolean} [phoneme_times] whether `phonemes` are told
 *
 * @typedef {object} Frame
 * @property {number} at index of its first sample in the utterance
 * @property {Int16Array} samples mono, 24,000 a second
 *
 * @typedef {object} Word
 * @property {string} text as sent
 * @property {number} start index of its first character in the utterance's text (UTF-16, as `String.slice` counts)
 * @property {number} end index behind its last character
 * @property {number} startS when it begins, in seconds from the utterance's first sample
 * @property {number} endS when it ends, likewise
 *
 * @typedef {{phoneme: string, startS: number, endS: number}} Phoneme a sound; times as a word's
 *
 * @typedef {object} Segment
 * @property {number} start index of its first character (UTF-16)
 * @property {number} end index behind its last character
 * @property {number} sample index of its first sample in the utterance
 *
 * @typedef {object} Outcome
 * @property {"done" | "cancelled"} type
 * @property {number} spoken how much of the text was said, as an index into it (UTF-16)
 * @property {number} audioS seconds of audio that were sent
 * @property {number | null} firstAudioS seconds from the first text to the first audio, as the server saw it
 * @property {number} coldStartS seconds that it waited for the model to be loaded
 * @property {number} queueS seconds that its work waited for a place in the engine
 * @property {number} computeS seconds that the engine worked for it
 *
 * @typedef {object} UtteranceEvents
 * @property {string} text a piece was sent
 * @property {{elapsedS: number, expectedS: number | null}} loading it waits for the model, which is being loaded; told
 *   every second, with what that took the last time
 * @property {Segment} segment the next audio speaks this
 * @property {Word[]} words begin in the audio that comes next
 * @property {Phoneme[]} phonemes likewise
 * @property {Frame} audio
 * @property {Outcome | SpeechError} end nothing follows
 */

/** Something could not be spoken. */
export class SpeechError extends Error {
  /**
   * @param {string} code one of docs/protocol.md; or `disconnected`, `closed`, `protocol`, `address`; or `source`, the text's own failure
   * @param {string} message for people
   * @param {{field?: string, allowed?: unknown, retryAfterS?: number, cause?: unknown}} [details]
   */
  constructor(code, message, { field, allowed, retryAfterS, cause } = {}) {
    super(message, { cause });
    this.name = "SpeechError";
    this.code = code;
    /** The field that is wrong, and what is allowed there, if that is what happened. */
    this.field = field;
    this.allowed = allowed;
    /** Seconds to wait before trying again, if that helps. */
    this.retryAfterS = retryAfterS;
  }

  /** @param {any} message an `error` of the server */
  static fromMessage({ code, message, field, allowed, retry_after_ms: wait }) {
    return new SpeechError(code, message, {
      field,
      allowed,
      retryAfterS: wait === undefined ? undefined : wait / 1000,
    });
  }
}

/**
 * One request: takes text, answers with audio, ends once.
 *
 * @extends {Emitter<UtteranceEvents>}
 */
export class Utterance extends Emitter {
  /** All that was written. */
  text = "";
  /** True once it is done, cancelled or failed. */
  ended = false;
  /** True once no more text comes. */
  closed = false;
  /** True once `cancel` was called: no audio follows. */
  cancelled = false;
  /** Why it failed, if it did. @type {SpeechError | null} */
  failure = null;

  #send;
  #options;
  #opened = false;
  #half = ""; // a surrogate whose other half has not come
  /** @type {number[] | null} by code point its index in `text`; null while they are the same */
  #indices = null;
  /** @type {(outcome: Outcome) => void} */
  #resolve = () => {};
  /** @type {(error: SpeechError) => void} */
  #reject = () => {};

  /**
   * Made by `Connection.speak`.
   *
   * @param {number} number
   * @param {SpeechOptions} options
   * @param {(message: object) => void} send
   */
  constructor(number, options, send) {
    super();
    this.number = number;
    this.#options = options;
    this.#send = send;
    /** How it ended. Rejected with a `SpeechError` if it failed. @type {Promise<Outcome>} */
    this.finished = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.finished.catch(() => {}); // who does not ask need not handle it
  }

  /**
   * Send text. Pieces may be cut anywhere. Ignored once the utterance has ended.
   *
   * @param {string} piece
   */
  write(piece) {
    if (this.ended || this.closed) return;
    piece = this.#half + piece;
    this.#half = /[\uD800-\uDBFF]$/.test(piece) ? piece.slice(-1) : "";
    if (this.#half) piece = piece.slice(0, -1);
    if (this.#opened && !piece) return;
    piece = piece.toWellFormed?.() ?? piece;
    this.text += piece;
    this.#indices = null;
    this.#send({ type: "speak", utterance: this.number, text: piece, ...(this.#opened ? {} : this.#options) });
    this.#opened = true;
    this.emit("text", piece);
  }

  /**
   * Write pieces as they come, then end. If they fail the utterance is cancelled and fails with `source`.
   *
   * @param {AsyncIterable<string>} pieces left when the utterance ends before them
   */
  async writeAll(pieces) {
    this.write("");
    try {
      for await (const piece of pieces) {
        if (this.ended || this.cancelled) return;
        this.write(piece);
      }
      this.end();
    } catch (cause) {
      this.cancel();
      this.fail(new SpeechError("source", cause instanceof Error ? cause.message : String(cause), { cause }));
    }
  }

  /** Speak what has been written now, without waiting for the sentence to end. */
  flush() {
    if (!this.ended && this.#opened) this.#send({ type: "flush", utterance: this.number });
  }

  /** No more text comes. */
  end() {
    if (this.ended || this.closed) return;
    if (!this.#opened) this.write("");
    this.closed = true;
    this.#send({ type: "end", utterance: this.number });
  }

  /**
   * Stop. No `audio` event follows, even of frames that are on their way. Stop the player as well.
   *
   * @param {number} [heardS] seconds of it that were heard, for the outcome's `spoken`; if not given the server takes as
   *   much as can have been heard
   */
  cancel(heardS) {
    if (this.ended || this.cancelled) return;
    if (!this.#opened) this.write("");
    this.cancelled = this.closed = true;
    const played = heardS === undefined ? {} : { played_ms: Math.round(heardS * 1000) };
    this.#send({ type: "cancel", utterance: this.number, ...played });
  }

  /**
   * A message of the server about this utterance. For `Connection`.
   *
   * @param {any} message
   */
  receive(message) {
    switch (message.type) {
      case "loading": {
        const { elapsed_ms: elapsed, expected_ms: expected } = message;
        this.emit("loading", { elapsedS: elapsed / 1000, expectedS: expected === undefined ? null : expected / 1000 });
        break;
      }
      case "segment":
        this.emit("segment", { ...this.#range(message), sample: message.sample });
        break;
      case "words":
        this.emit(
          "words",
          message.words.map((/** @type {any} */ word) => ({
            text: word.text,
            ...this.#range(word),
            startS: word.start_s,
            endS: word.end_s,
          })),
        );
        break;
      case "phonemes":
        this.emit(
          "phonemes",
          message.phonemes.map((/** @type {any} */ { phoneme, start_s: startS, end_s: endS }) => ({
            phoneme,
            startS,
            endS,
          })),
        );
        break;
      case "done":
      case "cancelled":
        this.#finish({
          type: message.type,
          spoken: this.#index(message.spoken_characters),
          audioS: message.audio_ms / 1000,
          firstAudioS: message.first_audio_ms === null ? null : message.first_audio_ms / 1000,
          coldStartS: message.cold_start_ms / 1000,
          queueS: message.queue_ms / 1000,
          computeS: message.compute_ms / 1000,
        });
        break;
      case "error":
        this.fail(SpeechError.fromMessage(message));
    }
  }

  /**
   * A frame of the server. For `Connection`.
   *
   * @param {number} at
   * @param {Int16Array} samples
   */
  receiveAudio(at, samples) {
    if (!this.cancelled && !this.ended) this.emit("audio", { at, samples });
  }

  /**
   * End in an error. For `Connection`.
   *
   * @param {SpeechError} error
   */
  fail(error) {
    if (this.ended) return;
    this.ended = true;
    this.failure = error;
    this.#reject(error);
    this.emit("end", error);
  }

  /** @param {Outcome} outcome */
  #finish(outcome) {
    if (this.ended) return;
    this.ended = true;
    this.#resolve(outcome);
    this.emit("end", outcome);
  }

  /** @param {{start: number, end: number}} codePoints */
  #range({ start, end }) {
    return { start: this.#index(start), end: this.#index(end) };
  }

  /**
   * The server counts code points, JavaScript counts UTF-16 units.
   *
   * @param {number} codePoint
   */
  #index(codePoint) {
    if (!this.#indices) {
      let at = 0;
      this.#indices = [0, ...Array.from(this.text, (character) => (at += character.length))];
    }
    return this.#indices[codePoint] ?? this.text.length;
  }
}
