/**
 * rtvoice in a browser: text in as it is written, speech out as it is made.
 *
 *     import { connect, Player } from "./rtvoice.js";
 *
 *     const voice = connect("wss://speech.example/");
 *     const player = new Player();
 *     button.onclick = async () => {
 *       await player.open();                                  // from a click: browsers keep quiet before one
 *       player.play(voice.speak(answer(), { voice: "af_heart" })); // a string, or an async iterable of pieces
 *     };
 *
 * A connection that is lost is made again, with growing pauses; what was being spoken then ends in an error.
 * The protocol is described in docs/protocol.md, the library in docs/browser.md.
 */
import { Emitter } from "./emitter.js";
import { SpeechError, Utterance } from "./utterance.js";

export { Player } from "./player.js";
export { SpeechError, Utterance } from "./utterance.js";

const PROTOCOL = 1;

/**
 * @typedef {object} Ready what a server can do
 * @property {number} protocol
 * @property {string} server its version
 * @property {number} sample_rate in Hz
 * @property {string[]} formats
 * @property {{name: string, language: string, gender: string}[]} voices the default first
 * @property {string[]} languages
 * @property {{text_characters: number, message_bytes: number, utterances: number, min_speed: number,
 *   max_speed: number}} limits
 *
 * @typedef {{name: "connecting"} | {name: "open", ready: Ready} | {name: "waiting", attempt: number, retryAt: number}
 *   | {name: "closed"}} ConnectionState `retryAt` in milliseconds, as `Date.now()` has it
 *
 * @typedef {object} ConnectionEvents
 * @property {ConnectionState} state
 * @property {SpeechError} error of no utterance: a message was not understood, or (`protocol`) the server is of another
 *   version, and the connection is closed
 *
 * @typedef {object} ConnectOptions
 * @property {number} [leastPause=250] milliseconds before the first new attempt; doubled with each
 * @property {number} [mostPause=8000] milliseconds between attempts at most
 * @property {number} [patience=10000] milliseconds that a server may take to say it is ready
 */

/**
 * Connect, and stay connected.
 *
 * @param {string | URL} url of the server; http and https are taken for ws and wss
 * @param {ConnectOptions} [options]
 * @returns {Connection} at once; `await connection.ready()` waits for the server
 */
export function connect(url, options = {}) {
  return new Connection(url, options);
}

/** @extends {Emitter<ConnectionEvents>} */
export class Connection extends Emitter {
  /** @type {ConnectionState} */
  state = { name: "connecting" };

  #url;
  #options;
  /** @type {WebSocket | null} */
  #socket = null;
  #attempt = 0;
  #timer = 0;
  /** @type {Map<number, Utterance>} that have not ended, by number */
  #utterances = new Map();
  #lastNumber = 0;
  #online = () => this.retry();

  /**
   * @param {string | URL} url
   * @param {ConnectOptions} options
   */
  constructor(url, options) {
    super();
    this.#url = new URL(url, globalThis.location?.href);
    this.#url.protocol = this.#url.protocol.replace(/^http/, "ws");
    this.#url.hash = "";
    this.#options = { leastPause: 250, mostPause: 8000, patience: 10_000, ...options };
    globalThis.addEventListener?.("online", this.#online);
    this.#dial();
  }

  /**
   * Wait for the server.
   *
   * @returns {Promise<Ready>} what it can do
   * @throws {SpeechError} `closed`, when the connection is closed before
   */
  async ready() {
    while (this.state.name !== "open") {
      if (this.state.name === "closed") throw new SpeechError("closed", "The connection was closed.");
      await new Promise((resolve) => {
        const off = this.on("state", () => resolve(off()));
      });
    }
    return this.state.ready;
  }

  /**
   * Speak, behind what is being spoken.
   *
   * @param {string | AsyncIterable<string> | null} text all of it; or pieces as they come (the utterance ends with
   *   them, and is cancelled if they fail); or null, to `write` it yourself and `end`
   * @param {import("./utterance.js").SpeechOptions} [options]
   * @returns {Utterance} at once. When there is no connection it has ended in an error of code `disconnected`.
   */
  speak(text, options = {}) {
    const number = ++this.#lastNumber;
    const utterance = new Utterance(number, options, (message) => this.#send(message));
    if (this.state.name !== "open") {
      utterance.fail(new SpeechError("disconnected", "There is no connection to the speech server."));
      return utterance;
    }
    this.#utterances.set(number, utterance);
    if (typeof text === "string") {
      utterance.write(text);
      utterance.end();
    } else if (text) {
      utterance.writeAll(text);
    }
    return utterance;
  }

  /** Cancel all that has not ended. */
  cancel() {
    for (const utterance of this.#utterances.values()) utterance.cancel();
  }

  /** Try again now instead of at the end of the pause. */
  retry() {
    if (this.state.name !== "waiting") return;
    clearTimeout(this.#timer);
    this.#dial();
  }

  /** Leave, for good. What is being spoken ends in an error. */
  close() {
    globalThis.removeEventListener?.("online", this.#online);
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    this.#failAll(new SpeechError("closed", "The connection was closed."));
    this.#enter({ name: "closed" });
  }

  #dial() {
    this.#enter({ name: "connecting" });
    const socket = new WebSocket(this.#url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#lost(socket), this.#options.patience);
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      if (typeof data === "string") this.#receive(JSON.parse(data));
      else this.#receiveAudio(data);
    };
    socket.onclose = () => this.#lost(socket);
  }

  /** @param {WebSocket} socket that is gone, or as good as */
  #lost(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    clearTimeout(this.#timer);
    socket.close();
    this.#failAll(new SpeechError("disconnected", "The connection to the speech server was lost."));
    const { leastPause, mostPause } = this.#options;
    // A little by chance, so that a server that comes back is not met by everybody at once.
    const pause = Math.min(mostPause, leastPause * 2 ** this.#attempt++) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#dial(), pause);
    this.#enter({ name: "waiting", attempt: this.#attempt, retryAt: Date.now() + pause });
  }

  /** @param {any} message */
  #receive(message) {
    if (message.type === "ready") {
      if (message.protocol !== PROTOCOL) return this.#refuse(message.protocol);
      clearTimeout(this.#timer);
      this.#attempt = 0;
      this.#enter({ name: "open", ready: message });
    } else if (message.type === "error" && message.utterance === null) {
      this.emit("error", SpeechError.fromMessage(message));
    } else {
      const utterance = this.#utterances.get(message.utterance);
      utterance?.receive(message);
      if (utterance?.ended) this.#utterances.delete(message.utterance);
    }
  }

  /** @param {unknown} protocol that the server speaks and we do not */
  #refuse(protocol) {
    this.emit(
      "error",
      new SpeechError("protocol", `The server speaks version ${protocol} of the protocol, not ${PROTOCOL}.`),
    );
    this.close();
  }

  /** @param {ArrayBuffer} data */
  #receiveAudio(data) {
    const header = new DataView(data, 0, 8);
    this.#utterances.get(header.getUint32(0, true))?.receiveAudio(header.getUint32(4, true), new Int16Array(data, 8));
  }

  /** @param {object} message */
  #send(message) {
    if (this.state.name === "open") this.#socket?.send(JSON.stringify(message));
  }

  /** @param {SpeechError} error */
  #failAll(error) {
    const utterances = [...this.#utterances.values()];
    this.#utterances.clear();
    for (const utterance of utterances) utterance.fail(error);
  }

  /** @param {ConnectionState} state */
  #enter(state) {
    this.state = state;
    this.emit("state", state);
  }
}
