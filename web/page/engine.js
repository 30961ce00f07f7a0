import { element } from "./elements.js";

const PAUSE = 2000; // milliseconds between two looks
const PATIENCE = 5000; // milliseconds for an answer
const HISTORY = 180_000; // milliseconds that the curve of memory shows
const CURVE_WIDTH = 89; // as in index.html

/**
 * @typedef {"cold" | "loading" | "ready" | "releasing" | "released"} EngineState
 * @typedef {{state: EngineState, since_s: number, memory_bytes: number, sessions: number, streams: number,
 *   queue: number, utterances: number}} Status as `GET /status` has it
 */

/** @type {Record<EngineState, [string, string]>} how each is called, and what it means */
const STATES = {
  cold: ["Cold", "The model has not been loaded. The first words load it."],
  loading: ["Loading", "The model is being loaded. What is asked for now waits."],
  ready: ["Ready", "The model is in memory and speaks at once."],
  releasing: ["Releasing", "Nobody has spoken for a while. The model gives its memory back."],
  released: [
    "Released",
    "Nobody has spoken for a while, so memory was given back. The next words load the model again.",
  ],
};

/** Where the server's engine stands and what it holds. Asks only while somebody looks. */
export class EngineView {
  #url;
  #panel = element("engine", HTMLElement);
  #inView = false;
  #timer = 0;
  #asking = false;
  /** @type {{time: number, bytes: number}[]} of memory; times in milliseconds */
  #memory = [];

  /** @param {URL} server */
  constructor(server) {
    this.#url = new URL(`status${server.search}`, server);
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.#inView = isIntersecting;
      this.look();
    }).observe(this.#panel);
    document.addEventListener("visibilitychange", () => this.look());
  }

  /** Look now, and from then on now and then. */
  async look() {
    if (this.#asking) return;
    clearTimeout(this.#timer);
    if (!this.#inView || document.visibilityState !== "visible") return;
    this.#asking = true;
    const status = await ask(this.#url);
    this.#asking = false;
    if (status) this.#show(status);
    else this.#showNothing();
    this.#timer = setTimeout(() => this.look(), PAUSE);
  }

  /** @param {Status} status */
  #show(status) {
    const [name, meaning] = STATES[status.state] ?? [status.state, ""]; // a newer server may know others
    this.#panel.dataset.state = status.state;
    write("engine-state", name);
    write("engine-since", `for ${duration(status.since_s)}`);
    write("engine-meaning", meaning);
    write("memory", `${Math.round(status.memory_bytes / 1e6).toLocaleString("en")} MB`);
    write("sessions", String(status.sessions));
    write("utterances", String(status.utterances));
    write("waiting", String(status.queue));
    const time = performance.now();
    this.#memory.push({ time, bytes: status.memory_bytes });
    this.#memory = this.#memory.filter((look) => time - look.time < HISTORY);
    this.#drawMemory(time);
  }

  #showNothing() {
    delete this.#panel.dataset.state;
    write("engine-state", "Unknown");
    for (const id of ["engine-since", "engine-meaning"]) write(id, "");
    for (const id of ["memory", "sessions", "utterances", "waiting"]) write(id, "–");
  }

  /** @param {number} now in milliseconds */
  #drawMemory(now) {
    const most = Math.max(...this.#memory.map(({ bytes }) => bytes));
    const points = this.#memory.map(({ time, bytes }) => {
      const x = CURVE_WIDTH * (1 - (now - time) / HISTORY);
      return `${x.toFixed(1)},${(30 - (28 * bytes) / most).toFixed(1)}`;
    });
    const [area, line] = this.#panel.querySelectorAll("path");
    line.setAttribute("d", `M${points.join("L")}`);
    area.setAttribute("d", `M${points[0].split(",")[0]},31L${points.join("L")}L${CURVE_WIDTH},31Z`);
  }
}

/**
 * @param {URL} url
 * @returns {Promise<Status | null>} null if the server does not say, or is not there: the connection's state tells why
 */
async function ask(url) {
  try {
    const response = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} id
 * @param {string} text
 */
function write(id, text) {
  const place = element(id, HTMLElement);
  if (place.textContent !== text) place.textContent = text;
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
