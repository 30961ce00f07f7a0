import { Emitter } from "../emitter.js";
import { element, make } from "./elements.js";

const KEPT = "rtvoice.settings";
const languageNames = new Intl.DisplayNames("en", { type: "language" });

/**
 * Voice, speed and accent, kept from visit to visit.
 *
 * @extends {Emitter<{introduce: string}>}
 */
export class Settings extends Emitter {
  #voices = element("voices", HTMLDivElement);
  #speed = element("speed", HTMLInputElement);
  #language = element("language", HTMLSelectElement);
  #kept = restore();

  constructor() {
    super();
    if (this.#kept.speed) this.#speed.value = String(this.#kept.speed);
    element("settings", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
    element("settings", HTMLFormElement).addEventListener("input", () => this.#changed());
    element("introduce", HTMLButtonElement).addEventListener("click", () => {
      this.emit(
        "introduce",
        `Hello, I am ${spokenName(this.options.voice ?? "")}. Give me your words, and I will say them.`,
      );
    });
    this.#changed();
  }

  /** @returns {import("../utterance.js").SpeechOptions} */
  get options() {
    /** @type {HTMLInputElement | null} */
    const voice = this.#voices.querySelector("input:checked");
    return {
      speed: this.#speed.valueAsNumber,
      ...(voice && { voice: voice.value }),
      ...(this.#language.value && { language: this.#language.value }),
    };
  }

  /**
   * Offer what the server can do. The choice made before stands if it still can.
   *
   * @param {import("../rtvoice.js").Ready} ready
   */
  offer({ voices, languages, limits }) {
    const kept = this.#kept.voice;
    const chosen = voices.some(({ name }) => name === kept) ? kept : voices[0]?.name;
    const cards = voices.map(({ name, language, gender }) =>
      make(
        "label",
        { className: "voice" },
        make("input", { type: "radio", name: "voice", value: name, checked: name === chosen }),
        make("b", {}, spokenName(name)),
        make("small", {}, `${languageNames.of(language)?.replace(/ English$/, "")} · ${gender}`),
      ),
    );
    this.#voices.replaceChildren(...cards);
    this.#speed.min = String(limits.min_speed);
    this.#speed.max = String(limits.max_speed);
    const accents = languages.map((language) =>
      make("option", { value: language }, languageNames.of(language) ?? language),
    );
    const language = this.#kept.language;
    this.#language.replaceChildren(this.#language.options[0], ...accents);
    if (language && languages.includes(language)) this.#language.value = language;
    element("language-field", HTMLDivElement).hidden = languages.length < 2;
  }

  #changed() {
    element("speed-value", HTMLOutputElement).value = `${this.#speed.valueAsNumber.toFixed(2)}×`;
    if (!this.#voices.querySelector("input")) return;
    this.#kept = this.options;
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.#kept));
    } catch {
      // Storage may be forbidden; the choice then lasts as long as the page.
    }
  }
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

/** @returns {import("../utterance.js").SpeechOptions} */
function restore() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") ?? {};
  } catch {
    return {};
  }
}
