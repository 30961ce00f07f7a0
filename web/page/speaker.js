import { Emitter } from "../emitter.js";
import { connect, Player } from "../rtvoice.js";
import { Take } from "./take.js";

const HELD_BACK = {
  code: "suspended",
  message: "The browser holds the sound back. Press any key, or anywhere, to go on.",
};

/**
 * @typedef {object} SpeakerEvents
 * @property {import("../rtvoice.js").ConnectionState} connection
 * @property {Take} take something is to be spoken
 * @property {Take} over it was heard, stopped or failed
 * @property {{code: string, message: string, retryAfterS?: number}} fault with a sentence for people
 */

/**
 * The page's voice: one connection, one player, one thing said at a time.
 *
 * @extends {Emitter<SpeakerEvents>}
 */
export class Speaker extends Emitter {
  player = new Player();
  /** What was spoken last, or is being spoken. @type {Take | null} */
  take = null;

  /** @param {URL} server */
  constructor(server) {
    super();
    this.connection = connect(server);
    this.connection.on("state", (state) => this.emit("connection", state));
    this.connection.on("error", (error) => this.emit("fault", error));
    this.player.on("state", (state) => {
      if (state === "suspended" && this.speaking) this.emit("fault", HELD_BACK);
    });
    for (const event of ["pointerdown", "keydown"]) document.addEventListener(event, () => this.#wake());
    document.addEventListener("visibilitychange", () => this.#wake());
  }

  get speaking() {
    return this.take !== null && this.take.ending === null;
  }

  /**
   * Stop what is spoken and speak this. Call it from a click or key: the browser lets the page sound only then.
   *
   * @param {string | AsyncIterable<string>} text
   * @param {import("../utterance.js").SpeechOptions} options
   * @returns {Promise<Take>}
   */
  async speak(text, options) {
    const askedAt = performance.now();
    this.stop();
    await this.player.open();
    this.stop(); // somebody may have asked again meanwhile
    const utterance = this.connection.speak(text, options);
    const take = new Take(utterance, this.player, askedAt);
    this.take = take;
    this.player.play(utterance);
    utterance.finished.catch((error) => this.emit("fault", error));
    take.on("over", () => this.emit("over", take));
    this.emit("take", take);
    return take;
  }

  /** Be silent now. */
  stop() {
    if (this.speaking) this.take?.stop();
  }

  /** Somebody is there again: the browser may have put sound and socket to sleep meanwhile. */
  #wake() {
    if (document.visibilityState !== "visible") return;
    this.connection.retry();
    if (this.speaking && this.player.state !== "running") this.player.open().catch(() => {});
  }
}
