import { Emitter } from "../emitter.js";

/**
 * A canvas of the size it has on the page, sharp on dense displays, in the page's colours.
 *
 * @extends {Emitter<{stale: undefined}>} when it must be drawn anew though nothing it shows has changed
 */
export class Canvas extends Emitter {
  width = 0;
  height = 0;
  // The page's colours and its font, as CSS writes them.
  ink = "";
  soft = "";
  faint = "";
  line = "";
  accent = "";
  glow = "";
  warn = "";
  paper = "";
  sans = "";
  /** True until it is drawn anew. */
  stale = true;

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    super();
    this.element = element;
    this.context = /** @type {CanvasRenderingContext2D} */ (element.getContext("2d"));
    new ResizeObserver(() => this.#fit()).observe(element);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.#readColours());
    }
    this.#readColours();
    this.#fit();
  }

  /** Wipe it and begin to draw. */
  clear() {
    this.stale = false;
    this.context.clearRect(0, 0, this.width, this.height);
    return this.context;
  }

  #fit() {
    const density = window.devicePixelRatio || 1;
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
    this.element.width = Math.round(this.width * density);
    this.element.height = Math.round(this.height * density);
    this.context.setTransform(density, 0, 0, density, 0, 0);
    this.#spoil();
  }

  #readColours() {
    const style = getComputedStyle(this.element);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    this.ink = colour("ink");
    this.soft = colour("soft");
    this.faint = colour("faint");
    this.line = colour("line");
    this.accent = colour("accent");
    this.glow = colour("glow");
    this.warn = colour("warn");
    this.paper = colour("paper");
    this.sans = colour("sans");
    this.#spoil();
  }

  #spoil() {
    this.stale = true;
    this.emit("stale", undefined);
  }
}
