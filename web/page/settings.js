import { Emitter } from "../emitter.js";
import { element, make } from "./elements.js";
import { VoiceChoice } from "./voices.js";

const KEPT = "rtvoice.settings";
const languageNames = new Intl.DisplayNames("en", { type: "language" });

/**
 * Voice, speed and accent, kept from visit to visit.
 *
 * @extends {Emitter<{introduce: string}>}
 */
export class Settings extends Emitter {
  #speed = element("speed", HTMLInputElement);
  #language = element("language", HTMLSelectElement);
  #kept = restore();
  #voice = new VoiceChoice(this.#kept.voice ?? "");

  constructor() {
    super();
    if (this.#kept.speed) this.#speed.value = String(this.#kept.speed);
    this.#showSpeed();
    element("settings", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
    for (const control of [this.#speed, this.#language]) control.addEventListener("input", () => this.#keep());
    this.#voice.on("change", () => this.#keep());
    element("introduce", HTMLButtonElement).addEventListener("click", () => {
      this.emit("introduce", `Hello, I am ${this.#voice.spoken}. Give me your words, and I will say them.`);
    });
  }

  /** @returns {import("../utterance.js").SpeechOptions} */
  get options() {
    return {
      speed: this.#speed.valueAsNumber,
      ...(this.#voice.name && { voice: this.#voice.name }),
      ...(this.#language.value && { language: this.#language.value }),
    };
  }

  /**
   * Offer what the server can do. The choice made before stands if it still can.
   *
   * @param {import("../rtvoice.js").Ready} ready
   */
  offer(ready) {
    const { languages, limits } = ready;
    this.#speed.min = String(limits.min_speed);
    this.#speed.max = String(limits.max_speed);
    const accents = languages.map((language) =>
      make("option", { value: language }, languageNames.of(language) ?? language),
    );
    const language = this.#kept.language;
    this.#language.replaceChildren(this.#language.options[0], ...accents);
    if (language && languages.includes(language)) this.#language.value = language;
    element("language-field", HTMLDivElement).hidden = languages.length < 2;
    this.#voice.offer(ready);
  }

  #keep() {
    this.#showSpeed();
    element("introduce", HTMLButtonElement).textContent = `Hear ${this.#voice.spoken}`;
    this.#kept = this.options;
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.#kept));
    } catch {
      // Storage may be forbidden; the choice then lasts as long as the page.
    }
  }

  #showSpeed() {
    element("speed-value", HTMLOutputElement).value = `${this.#speed.valueAsNumber.toFixed(2)}×`;
  }
}

/** @returns {import("../utterance.js").SpeechOptions} */
function restore() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") ?? {};
  } catch {
    return {};
  }
}
