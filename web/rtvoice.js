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
const PROBE_PATIENCE = 3000; // milliseconds that a server may take to say whether it has room

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
 * @property {boolean} any_blend whether any blend of the voices is spoken, not only those that were fitted
 *
 * @typedef {"lost" | "unreachable" | "full" | "refused"} Absence why there is no connection: it was there and is gone;
 *   nobody answers; the server has no room now; it is there and has room, but does not take us
 *
 * @typedef {{name: "connecting"} | {name: "open", ready: Ready}
 *   | {name: "waiting", reason: Absence, attempt: number, retryAt: number}
 *   | {name: "closed"}} ConnectionState `retryAt` in milliseconds, as `Date.now()` has it
 *
 * @typedef {string | URL} Address of a server; http and https are taken for ws and wss
 *
 * @typedef {object} ConnectionEvents
 * @property {ConnectionState} state
 * @property {SpeechError} error of no utterance: a message was not understood; no address could be had (`address`), and
 *   another attempt follows; or the server is of another version (`protocol`), and the connection is closed
 *
 * @typedef {object} ConnectOptions
 * @property {number} [leastPause=250] milliseconds before the first new attempt; doubled with each
 * @property {number} [mostPause=8000] milliseconds between attempts at most
 * @property {number} [patience=10000] milliseconds that a server may take to say it is ready
 */

/**
 * Connect, and stay connected.
 *
 * @param {Address | (() => Address | Promise<Address>)} address of the server, or what gives it: it is asked before each
 *   attempt, and so can bring a new token each time. If it fails there is an `error`, and the server counts as unreachable.
 * @param {ConnectOptions} [options]
 * @returns {Connection} at once; `await connection.ready()` waits for the server
 */
export function connect(address, options = {}) {
  return new Connection(address, options);
}

/** @extends {Emitter<ConnectionEvents>} */
export class Connection extends Emitter {
  /** @type {ConnectionState} */
  state = { name: "connecting" };

  #address;
  #options;
  /** @type {WebSocket | null} */
  #socket = null;
  #dials = 0; // attempts ever; one that is no longer the last has nothing to say
  #attempt = 0; // since the connection was last open
  #timer = 0;
  /** @type {Map<number, Utterance>} that have not ended, by number */
  #utterances = new Map();
  #lastNumber = 0;
  #online = () => this.retry();

  /**
   * @param {Address | (() => Address | Promise<Address>)} address
   * @param {ConnectOptions} options
   */
  constructor(address, options) {
    super();
    if (typeof address !== "function") socketAddress(address); // a wrong one is told at once
    this.#address = address;
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
    this.#dials++;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    this.#failAll(new SpeechError("closed", "The connection was closed."));
    this.#enter({ name: "closed" });
  }

  async #dial() {
    this.#enter({ name: "connecting" });
    const dial = ++this.#dials;
    this.#timer = setTimeout(() => this.#giveUp(), this.#options.patience);
    try {
      const address = typeof this.#address === "function" ? await this.#address() : this.#address;
      if (dial === this.#dials) this.#socket = this.#open(socketAddress(address));
    } catch (cause) {
      if (dial !== this.#dials) return;
      this.emit(
        "error",
        new SpeechError("address", "The speech server’s address could not be had or used.", { cause }),
      );
      this.#giveUp();
    }
  }

  /** @param {URL} url */
  #open(url) {
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      if (typeof data === "string") this.#receive(JSON.parse(data));
      else this.#receiveAudio(data);
    };
    socket.onclose = () => this.#lost(socket);
    return socket;
  }

  /** This attempt has taken too long, or could not begin. */
  #giveUp() {
    if (this.#socket) return this.#lost(this.#socket);
    clearTimeout(this.#timer);
    this.#dials++;
    this.#wait("unreachable");
  }

  /** @param {WebSocket} socket that is gone, or as good as */
  async #lost(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    clearTimeout(this.#timer);
    socket.close();
    this.#failAll(new SpeechError("disconnected", "The connection to the speech server was lost."));
    if (this.state.name === "open") return this.#wait("lost");
    // Browsers do not tell why a socket was refused; the server says over HTTP whether it has room.
    const dial = this.#dials;
    const { reason, retryAfterS } = await probe(socket.url);
    if (dial === this.#dials) this.#wait(reason, retryAfterS * 1000);
  }

  /**
   * Wait before the next attempt.
   *
   * @param {Absence} reason
   * @param {number} [least] milliseconds that the server wants to be left alone
   */
  #wait(reason, least = 0) {
    const { leastPause, mostPause } = this.#options;
    // A little by chance, so that a server that comes back is not met by everybody at once.
    const pause = Math.min(mostPause, leastPause * 2 ** this.#attempt++) * (0.75 + Math.random() / 2);
    const retryIn = Math.max(pause, least * (1 + Math.random() / 4));
    this.#timer = setTimeout(() => this.#dial(), retryIn);
    this.#enter({ name: "waiting", reason, attempt: this.#attempt, retryAt: Date.now() + retryIn });
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

/**
 * @param {Address} address
 * @throws {TypeError} it is none
 */
function socketAddress(address) {
  const url = new URL(address, globalThis.location?.href);
  url.protocol = url.protocol.replace(/^http/, "ws");
  url.hash = "";
  return url;
}

/**
 * Find out why a server did not take a connection.
 *
 * @param {string} socketUrl
 * @returns {Promise<{reason: Absence, retryAfterS: number}>}
 */
async function probe(socketUrl) {
  const url = new URL("readyz", socketUrl.replace(/^ws/, "http"));
  try {
    const { status, headers } = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(PROBE_PATIENCE) });
    if (status === 503) return { reason: "full", retryAfterS: Number(headers.get("Retry-After")) || 0 };
    return { reason: status === 200 ? "refused" : "unreachable", retryAfterS: 0 };
  } catch {
    return { reason: "unreachable", retryAfterS: 0 };
  }
}
