/**
 * Plays speech as it arrives, in an AudioWorklet: without gaps, at the device's own rate, silent at once when told.
 *
 *     const player = new Player();
 *     button.onclick = async () => { await player.open(); player.append(1, samples); player.finish(1); };
 */
import { Emitter } from "./emitter.js";

const RING_CAPACITY = 1 << 18; // samples; 11 s of speech
const WORKLET = new URL("./playout.worklet.js", import.meta.url);

/**
 * @typedef {{type: "append", track: number, samples: Int16Array, at: number}
 *   | {type: "finish", track: number}
 *   | {type: "lead", samples: number}
 *   | {type: "stop", generation: number}} PlayoutCommand
 *
 * @typedef {object} PlayoutReport
 * @property {number} generation
 * @property {import("./playout.js").PlayoutState} state
 * @property {{track: number, sample: number} | null} position at `time`
 * @property {number} time in seconds of the context's clock
 * @property {number} consumed
 * @property {number} buffered
 * @property {number} underruns
 * @property {{event: "start" | "finish" | "underrun" | "resume", track: number, sample: number, time: number}[]} events
 *
 * @typedef {object} Passage something that happens to a track
 * @property {number} track
 * @property {number} seconds in the track
 * @property {number} inSeconds from now until it is heard; negative if that has been
 *
 * @typedef {object} PlayerEvents
 * @property {Passage} start a track's first sample leaves for the device
 * @property {Passage} finish a track's last sample has left
 * @property {Passage} underrun samples ran out in the middle of a track
 * @property {Passage} resume playing goes on after an underrun
 * @property {"closed" | "suspended" | "running"} state the audio device's; "suspended" needs `open()` from a click
 */

/** @extends {Emitter<PlayerEvents>} */
export class Player extends Emitter {
  /** Samples a second of what is appended, in Hz. */
  rate;
  /** Times that samples ran out in the middle of a track. */
  underruns = 0;
  /** How much must be there before playing begins; learned from how evenly frames came. */
  lead = new Lead();

  /** @type {AudioContext | null} */
  #context = null;
  /** @type {AudioWorkletNode | null} */
  #node = null;
  /** @type {Promise<void> | null} */
  #opening = null;
  #makeContext;

  #generation = 0;
  #underrunsBefore = 0; // on devices that went
  #sounded = true; // since the last recovery
  /** @type {(PlayoutCommand & {type: "append" | "finish"})[]} not given to the worklet yet */
  #queue = [];
  /** @type {(PlayoutCommand & {type: "append" | "finish"})[]} given, not played yet: lost if the device goes */
  #fed = [];
  #fedSamples = 0; // of this generation
  #consumed = 0; // of them, as reported
  #droppedSamples = 0; // of them, that are no longer in #fed
  /** @type {Map<number, number>} samples that came, by track that has not finished */
  #arrived = new Map();
  /** @type {{track: number, sample: number, time: number, event: string}[]} what is heard from when on */
  #anchors = [];
  /** @type {Map<number, () => void>} by track, ends listening to an utterance */
  #listening = new Map();

  /**
   * @param {object} [options]
   * @param {number} [options.rate] of the samples, in Hz
   * @param {() => AudioContext} [options.context] makes the context to play on, at each opening
   */
  constructor({ rate = 24_000, context = () => new AudioContext({ latencyHint: "interactive" }) } = {}) {
    super();
    this.rate = rate;
    this.#makeContext = context;
  }

  /** @returns {"closed" | "suspended" | "running"} */
  get state() {
    if (!this.#context) return "closed";
    return this.#context.state === "running" ? "running" : "suspended";
  }

  /** The node that sounds, for meters; null before `open()`. @returns {AudioNode | null} */
  get output() {
    return this.#node;
  }

  /** Seconds of speech that wait to be heard. */
  get buffered() {
    const queued = this.#queue.reduce((sum, item) => sum + (item.type === "append" ? item.samples.length : 0), 0);
    return (queued + this.#fedSamples - this.#consumed) / this.rate;
  }

  /** Seconds from a sample leaving the worklet to its sounding, as far as the browser knows. */
  get latency() {
    return this.#context ? this.#context.outputLatency || this.#context.baseLatency || 0 : 0;
  }

  /**
   * Open the audio device, or wake it. Call it in a click's or key's handler: browsers keep quiet before one.
   *
   * @returns {Promise<void>} when samples can be played
   */
  async open() {
    this.#opening ??= this.#open().finally(() => (this.#opening = null));
    await this.#opening;
    if (this.#context?.state !== "running") await this.#context?.resume();
  }

  /**
   * Play an utterance as it arrives, behind what is playing. Its number is its track.
   *
   * @param {import("./utterance.js").Utterance} utterance
   */
  play(utterance) {
    const track = utterance.number;
    if (utterance.ended) return this.finish(track);
    const offs = [
      utterance.on("audio", ({ samples }) => this.append(track, samples)),
      utterance.on("end", () => {
        this.#listening.get(track)?.();
        this.finish(track);
      }),
    ];
    this.#listening.set(track, () => {
      this.#listening.delete(track);
      for (const off of offs) off();
    });
  }

  /**
   * Play samples behind those of this track; a new track follows the one before it without a gap.
   *
   * @param {number} track
   * @param {Int16Array} samples mono; kept, not copied
   */
  append(track, samples) {
    this.lead.arrive(track, samples.length / this.rate, performance.now() / 1000);
    const at = this.#arrived.get(track) ?? 0;
    this.#arrived.set(track, at + samples.length);
    this.#queue.push({ type: "append", track, samples, at });
    this.#feed();
  }

  /**
   * No more samples will come for this track: play it to its end.
   *
   * @param {number} track
   */
  finish(track) {
    this.lead.finish(track);
    this.#arrived.delete(track);
    this.#queue.push({ type: "finish", track });
    this.#feed();
  }

  /**
   * Be silent: what sounds fades out within 4 ms, all that waits is dropped, and utterances that were being played are
   * no longer listened to (cancel them as well). New tracks may follow at once.
   */
  stop() {
    for (const leave of [...this.#listening.values()]) leave();
    this.#queue = [];
    this.#restart();
    this.#arrived.clear();
    this.lead.abandon();
    this.#post({ type: "stop", generation: this.#generation });
  }

  /**
   * What is heard now.
   *
   * @returns {{track: number, seconds: number} | null} null when nothing is
   */
  position() {
    if (!this.#context) return null;
    const heard = this.#context.currentTime - this.latency;
    const anchor = this.#anchors.findLast(({ time }) => time <= heard);
    if (!anchor || anchor.event === "finish") return null;
    const since = anchor.event === "underrun" ? 0 : heard - anchor.time;
    return { track: anchor.track, seconds: anchor.sample / this.rate + since };
  }

  /** Give the audio device back. */
  async close() {
    this.stop();
    const context = this.#context;
    this.#context = this.#node = null;
    await context?.close();
    this.emit("state", "closed");
  }

  async #open() {
    if (this.#context && this.#context.state !== "closed") return;
    const context = this.#makeContext();
    await context.audioWorklet.addModule(WORKLET);
    const node = new AudioWorkletNode(context, "rtvoice-playout", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { rate: this.rate, capacity: RING_CAPACITY },
    });
    node.port.onmessage = ({ data }) => this.#receive(data);
    node.onprocessorerror = () => this.#recover();
    node.connect(context.destination);
    context.onstatechange = () => this.#stateChanged(context);
    context.addEventListener("error", () => this.#recover()); // the device is gone
    this.#context = context;
    this.#node = node;
    this.#post({ type: "stop", generation: this.#generation });
    this.#feed();
  }

  /** @param {AudioContext} context */
  #stateChanged(context) {
    if (context !== this.#context) return;
    if (context.state === "closed") this.#recover();
    else this.emit("state", this.state);
  }

  /** Go on where it ended, on a new device; unless the last new device did not play either: then `open()` tries. */
  #recover() {
    const context = this.#context;
    this.#context = this.#node = null;
    this.#underrunsBefore = this.underruns;
    if (context && context.state !== "closed") context.close().catch(() => {});
    this.#queue = [...this.#unplayed(), ...this.#queue];
    this.#restart();
    if (!this.#sounded) return this.emit("state", this.state);
    this.#sounded = false;
    this.open().catch(() => this.emit("state", this.state));
  }

  /** Begin a generation: what the worklet was given and what it reports of it no longer counts. */
  #restart() {
    this.#generation++;
    this.#fed = [];
    this.#fedSamples = this.#consumed = this.#droppedSamples = 0;
    this.#anchors = [];
  }

  /** What the worklet was given and did not play. */
  *#unplayed() {
    let before = this.#droppedSamples;
    for (const item of this.#fed) {
      if (item.type === "finish") {
        yield item;
        continue;
      }
      const played = Math.min(item.samples.length, Math.max(0, this.#consumed - before));
      before += item.samples.length;
      if (played < item.samples.length) yield skip(item, played);
    }
  }

  /** @param {PlayoutCommand} command */
  #post(command) {
    this.#node?.port.postMessage(command);
  }

  #feed() {
    if (!this.#node) return;
    this.#post({ type: "lead", samples: Math.round(this.lead.seconds * this.rate) });
    for (let item = this.#queue[0]; item; item = this.#queue[0]) {
      if (item.type === "append") {
        const room = RING_CAPACITY / 2 - (this.#fedSamples - this.#consumed);
        if (room < item.samples.length) {
          if (room <= 0) return;
          this.#queue.splice(1, 0, skip(item, room));
          item = { ...item, samples: item.samples.subarray(0, room) };
        }
        this.#fedSamples += item.samples.length;
      }
      this.#queue.shift();
      this.#fed.push(item);
      // A copy: a view would take all of the buffer that it looks at with it.
      this.#post(item.type === "append" ? { ...item, samples: item.samples.slice() } : item);
    }
  }

  /** @param {PlayoutReport} report */
  #receive(report) {
    if (report.generation !== this.#generation || !this.#context) return;
    const { currentTime } = this.#context;
    this.#consumed = report.consumed;
    this.#dropPlayed();
    this.underruns = this.#underrunsBefore + report.underruns;
    for (const { event, track, sample, time } of report.events) {
      this.#anchors.push({ track, sample, time, event });
      this.emit(event, { track, seconds: sample / this.rate, inSeconds: time + this.latency - currentTime });
      if (report.generation !== this.#generation) return; // a listener stopped the player
    }
    if (report.position) {
      this.#anchors.push({ ...report.position, time: report.time, event: "position" });
      this.#sounded = true;
    }
    this.#anchors.splice(0, this.#anchors.length - 64);
    this.#feed();
  }

  /** Let go of what need not be played again if the device goes. */
  #dropPlayed() {
    for (let item = this.#fed[0]; item; item = this.#fed[0]) {
      const samples = item.type === "append" ? item.samples.length : 0;
      if (this.#droppedSamples + samples > this.#consumed) return;
      this.#droppedSamples += samples;
      this.#fed.shift();
    }
  }
}

/**
 * The rest of samples behind the first `count`.
 *
 * @template {{samples: Int16Array, at: number}} Item
 * @param {Item} item
 * @param {number} count
 * @returns {Item}
 */
function skip(item, count) {
  return { ...item, samples: item.samples.subarray(count), at: item.at + count };
}

/**
 * How long to wait before playing begins (adaptive start, as jitter buffers have it): as long as would have spared the
 * last tracks every underrun. The first one starts nearly at once.
 */
export class Lead {
  static LEAST = 0.04;
  static MOST = 1.5;
  static TRACKS = 8;

  /** @type {number[]} seconds that each of the last tracks would have needed */
  #needed = [];
  /** @type {Map<number, {since: number, seconds: number, needed: number}>} */
  #arriving = new Map();

  /** Seconds of speech that should be there before it begins. */
  get seconds() {
    const needed = [...this.#needed, ...[...this.#arriving.values()].map((track) => track.needed)];
    return Math.min(Lead.MOST, Math.max(Lead.LEAST, ...needed));
  }

  /**
   * @param {number} track
   * @param {number} seconds of speech that came
   * @param {number} now in seconds
   */
  arrive(track, seconds, now) {
    let arriving = this.#arriving.get(track);
    if (!arriving) this.#arriving.set(track, (arriving = { since: now, seconds: 0, needed: 0 }));
    arriving.needed = Math.max(arriving.needed, now - arriving.since - arriving.seconds);
    arriving.seconds += seconds;
  }

  /** @param {number} track all of which has come */
  finish(track) {
    const arriving = this.#arriving.get(track);
    if (!arriving) return;
    this.#arriving.delete(track);
    this.#needed.push(arriving.needed);
    this.#needed.splice(0, this.#needed.length - Lead.TRACKS);
  }

  /** Nothing more comes of any track that was arriving. */
  abandon() {
    for (const track of [...this.#arriving.keys()]) this.finish(track);
  }
}
