import { element, make } from "./elements.js";
import { Reading } from "./reading.js";

const EXAMPLES = [
  {
    name: "A greeting",
    text:
      "Hello! I turn text into speech while it is still being written. " +
      "Change these words, pick a voice, and press Speak.",
  },
  {
    name: "Figures",
    text:
      "The 7:45 train to Leeds costs £32.50 and leaves from platform 9. In 2025 it was on time on 98.6% of all days; " +
      "on March 3rd it was 1 h 20 min late.",
  },
  {
    name: "A story",
    text:
      "The lighthouse keeper wound the clock, as he did every night. Outside, the sea had gone quiet. He poured two " +
      "cups of tea, out of habit, and sat down with the one. Then, for the first time in forty years, somebody " +
      "knocked.\n\n" +
      "“It’s open,” he said. It had always been open.",
  },
  {
    name: "Tongue twisters",
    text:
      "Six thick thistle sticks stood still. Which wristwatch was Swiss? A proper copper coffee pot, properly " +
      "polished, pours perfectly.",
  },
];

/**
 * @typedef {import("./take.js").Take} Take
 */

/** The text to speak, and in it the word that is being said. */
export class SpeakPanel {
  #speaker;
  #settings;
  #text = element("text", HTMLTextAreaElement);
  #box = element("reading", HTMLDivElement);
  #reading = new Reading(element("mirror", HTMLDivElement));
  #count = element("text-count", HTMLElement);
  #limit = Infinity;
  /** What is said of this text. @type {Take | null} */
  #take = null;

  /**
   * @param {import("./speaker.js").Speaker} speaker
   * @param {import("./settings.js").Settings} settings
   */
  constructor(speaker, settings) {
    this.#speaker = speaker;
    this.#settings = settings;
    this.#text.addEventListener("input", () => this.#changed());
    speaker.on("over", (take) => this.#over(take));
    for (const { name, text } of EXAMPLES) {
      const button = make("button", { type: "button" }, name);
      button.addEventListener("click", () => {
        this.#text.value = text;
        this.#changed();
      });
      element("examples", HTMLDivElement).append(button);
    }
    this.#text.value ||= EXAMPLES[0].text;
    this.#changed();
  }

  /** @param {import("../rtvoice.js").Ready} ready */
  offer({ limits }) {
    this.#limit = limits.text_characters;
    this.#changed();
  }

  /** @throws {Error} there is nothing to say; with a sentence for people */
  async speak() {
    if (!this.#text.value.trim()) {
      this.#text.focus();
      throw new Error("There is nothing to say yet. Type something, or take one of the examples.");
    }
    this.#take = await this.#speaker.speak(this.#text.value, this.#settings.options);
  }

  /**
   * Mark the word that is being said.
   *
   * @param {Take} take what is spoken; perhaps something else
   */
  follow(take) {
    if (take !== this.#take || take.ending) return;
    const unchanged = this.#text.value === take.utterance.text; // it may have been typed in meanwhile
    const marking = unchanged && take.heard > 0;
    this.#box.classList.toggle("speaking", marking);
    const { start, end } = marking ? take.saying(take.heard) : { start: 0, end: 0 };
    this.#reading.show(this.#text.value, start, end);
    if (marking) this.#reading.follow();
  }

  /** @param {Take} take */
  #over(take) {
    if (take !== this.#take) return;
    this.#box.classList.remove("speaking");
    this.#reading.show(this.#text.value);
  }

  #changed() {
    this.#reading.show(this.#text.value); // it gives the text its height
    const characters = Array.from(this.#text.value).length;
    const over = characters > this.#limit;
    const most = over ? `, ${this.#limit.toLocaleString("en")} at most` : "";
    this.#count.textContent = `${characters.toLocaleString("en")} characters${most}`;
    this.#count.classList.toggle("over", over);
  }
}
