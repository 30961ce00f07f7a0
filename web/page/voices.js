import { Emitter } from "../emitter.js";
import { element, make } from "./elements.js";

const MOST_BLENDED = 4;
const MOST_WEIGHT = 10;
const languageNames = new Intl.DisplayNames("en", { type: "language" });

/**
 * One voice, or several blended by weight. Its name is what the server is asked for: `af_heart`, or
 * `af_heart(2)+bf_emma(1)`.
 *
 * @extends {Emitter<{change: undefined}>}
 */
export class VoiceChoice extends Emitter {
  #cards = element("voices", HTMLDivElement);
  #blending = element("blending", HTMLInputElement);
  #shares = element("shares", HTMLDivElement);
  #name = element("voice-name", HTMLElement);
  /** @type {Map<string, number>} weights by voice, in the order in which they were chosen */
  #weights;

  /** @param {string} name that was chosen before; it is forgotten if the server has none of its voices */
  constructor(name) {
    super();
    this.#weights = read(name);
    this.#blending.checked = this.#weights.size > 1;
    this.#blending.addEventListener("change", () => this.#switch());
    this.#cards.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement) this.#choose(target);
    });
    element("copy-name", HTMLButtonElement).addEventListener("click", () => this.#copy());
  }

  /** What to ask the server for; empty while there are no voices. */
  get name() {
    const several = this.#weights.size > 1;
    return [...this.#weights].map(([voice, weight]) => (several ? `${voice}(${weight})` : voice)).join("+");
  }

  /** How to speak of it: Heart, or Heart and Emma. */
  get spoken() {
    return new Intl.ListFormat("en").format([...this.#weights.keys()].map(spokenName));
  }

  /** @param {import("../rtvoice.js").Ready} ready one voice at least */
  offer({ voices, any_blend: anyBlend }) {
    const names = voices.map(({ name }) => name);
    const kept = [...this.#weights].filter(([voice]) => names.includes(voice));
    this.#weights = new Map(kept.length ? kept : [[names[0], 1]]);
    this.#blending.disabled = false;
    this.#blending.labels?.[0].toggleAttribute("hidden", !anyBlend);
    if (!anyBlend && this.#blending.checked) {
      this.#blending.checked = false;
      this.#keepHeaviest();
    }
    this.#cards.replaceChildren(
      ...voices.map(({ name, language, gender }) =>
        make(
          "label",
          { className: "voice" },
          make("input", { name: "voice", value: name }),
          make("b", {}, spokenName(name)),
          make("small", {}, `${languageNames.of(language)?.replace(/ English$/, "")} · ${gender}`),
        ),
      ),
    );
    this.#show();
  }

  #switch() {
    if (!this.#blending.checked) this.#keepHeaviest();
    this.#show();
  }

  #keepHeaviest() {
    const heaviest = [...this.#weights].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
    this.#weights = new Map([[heaviest[0], 1]]);
  }

  /** @param {HTMLInputElement} card */
  #choose({ value, checked }) {
    if (!this.#blending.checked) this.#weights.clear();
    if (checked) this.#weights.set(value, 1);
    else if (this.#weights.size > 1) this.#weights.delete(value);
    this.#show();
  }

  #show() {
    const blending = this.#blending.checked;
    const full = this.#weights.size >= MOST_BLENDED;
    /** @type {NodeListOf<HTMLInputElement>} */
    const cards = this.#cards.querySelectorAll("input");
    for (const card of cards) {
      card.checked = false; // of radio buttons, one that is checked unchecks the others
      card.type = blending ? "checkbox" : "radio";
    }
    for (const card of cards) {
      card.checked = this.#weights.has(card.value);
      card.disabled = blending && full && !card.checked;
    }
    this.#shares.hidden = !blending;
    this.#shares.replaceChildren(
      ...(this.#weights.size > 1
        ? [...this.#weights.keys()].map((voice) => this.#share(voice))
        : [make("p", { className: "hint" }, `Choose up to ${MOST_BLENDED} voices to mix.`)]),
    );
    this.#weigh();
  }

  /** @param {string} voice */
  #share(voice) {
    const slider = make("input", { type: "range", id: `share-${voice}`, min: "1", max: String(MOST_WEIGHT) });
    slider.value = String(this.#weights.get(voice));
    slider.addEventListener("input", () => {
      this.#weights.set(voice, slider.valueAsNumber);
      this.#weigh();
    });
    const label = make("label", { htmlFor: slider.id }, spokenName(voice));
    return make("div", { className: "field" }, label, make("output", {}), slider);
  }

  /** Show what the weights come to. */
  #weigh() {
    const whole = [...this.#weights.values()].reduce((sum, weight) => sum + weight, 0);
    const weights = [...this.#weights.values()];
    this.#shares.querySelectorAll("output").forEach((output, i) => {
      output.value = `${Math.round((100 * weights[i]) / whole)}%`;
      const slider = /** @type {HTMLInputElement} */ (output.nextElementSibling);
      slider.setAttribute("aria-valuetext", output.value);
    });
    this.#name.textContent = this.name;
    this.emit("change", undefined);
  }

  async #copy() {
    const button = element("copy-name", HTMLButtonElement);
    try {
      await navigator.clipboard.writeText(this.name);
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(this.#name); // the browser does not let us: one key is left to press
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  }
}

/**
 * @param {string} name of a voice or a blend
 * @returns {Map<string, number>}
 */
function read(name) {
  const parts = [...name.matchAll(/([a-z0-9_]+)(?:\((\d+)\))?(?:\+|$)/g)];
  return new Map(parts.map(([, voice, weight]) => [voice, Math.min(MOST_WEIGHT, Math.max(1, Number(weight ?? 1)))]));
}

/**
 * `af_heart` is called Heart.
 *
 * @param {string} voice
 */
function spokenName(voice) {
  const name = voice.replace(/^[a-z]{2}_/, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}
