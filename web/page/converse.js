import { element, make } from "./elements.js";
import { Reading } from "./reading.js";
import { complete, standIn } from "./tokens.js";

const INSTRUCTION = "You are heard, not read: answer in short spoken sentences, without lists, headings or symbols.";

/**
 * @typedef {import("./take.js").Take} Take
 */

/** Question and answer: the answer is spoken while it is written, and ends where it is interrupted. */
export class Conversation {
  #speaker;
  #settings;
  #talk = element("talk", HTMLDivElement);
  #prompt = element("prompt", HTMLTextAreaElement);
  #rate = element("rate", HTMLInputElement);
  /** @type {import("./tokens.js").Message[]} */
  #messages = [{ role: "system", content: INSTRUCTION }];
  #turn = 0;
  /** @type {{take: Take, reading: Reading, paragraph: HTMLElement} | null} */
  #answer = null;

  /**
   * @param {import("./speaker.js").Speaker} speaker
   * @param {import("./settings.js").Settings} settings
   */
  constructor(speaker, settings) {
    this.#speaker = speaker;
    this.#settings = settings;
    speaker.on("over", (take) => this.#over(take));
    this.#rate.addEventListener("input", () => {
      element("rate-value", HTMLOutputElement).value = this.#rate.value;
    });
    element("source", HTMLFieldSetElement).addEventListener("change", () => {
      element("endpoint-fields", HTMLDivElement).hidden = !this.#asksModel;
      element("stand-in-fields", HTMLDivElement).hidden = this.#asksModel;
    });
  }

  get #asksModel() {
    return document.querySelector("input[name=source]:checked")?.getAttribute("value") === "endpoint";
  }

  /**
   * Send what stands in the prompt.
   *
   * @throws {Error} nothing stands there; with a sentence for people
   */
  async ask() {
    const question = this.#prompt.value.trim();
    if (!question) {
      this.#prompt.focus();
      throw new Error("There is no question yet. Type one, anything will do.");
    }
    this.interrupt();
    this.#prompt.value = "";
    element("talk-hint", HTMLElement).hidden = true;
    this.#messages.push({ role: "user", content: question });
    const paragraph = make("p", { className: "answer" });
    this.#talk.append(make("p", { className: "asked" }, question), paragraph);
    const reading = new Reading(paragraph.appendChild(make("span")));
    const source = new AbortController();
    const take = await this.#speaker.speak(this.#pieces(source.signal), this.#settings.options);
    take.on("over", () => source.abort());
    this.#answer = { take, reading, paragraph };
  }

  /** Stop the answer. */
  interrupt() {
    if (this.#answer && !this.#answer.take.ending) this.#answer.take.stop();
  }

  /**
   * Show how much of the answer has been heard.
   *
   * @param {Take} take what is spoken; perhaps not an answer
   */
  follow(take) {
    if (take !== this.#answer?.take || take.ending) return;
    const { reading } = this.#answer;
    const atEnd = this.#talk.scrollTop + this.#talk.clientHeight > this.#talk.scrollHeight - 40;
    const { start, end } = take.saying(take.heard);
    reading.show(take.utterance.text, start, end);
    if (atEnd) this.#talk.scrollTop = this.#talk.scrollHeight;
    reading.follow();
  }

  /** @param {AbortSignal} signal */
  #pieces(signal) {
    if (!this.#asksModel) return standIn(this.#turn++, () => this.#rate.valueAsNumber, signal);
    const value = (/** @type {string} */ id) => element(id, HTMLInputElement).value.trim();
    return complete(this.#messages, { endpoint: value("endpoint"), model: value("model"), key: value("key") }, signal);
  }

  /** @param {Take} take */
  #over(take) {
    if (take !== this.#answer?.take) return;
    const { reading, paragraph } = this.#answer;
    const { text } = take.utterance;
    const said = take.ending === "finished" ? text.length : take.saying(take.heard).end;
    reading.show(text, said);
    // The model should know what was not heard.
    if (said) this.#messages.push({ role: "assistant", content: text.slice(0, said) });
    if (take.ending === "finished") return;
    paragraph.classList.add("interrupted");
    const verdict = take.ending === "stopped" ? "Interrupted" : "It broke off";
    const count = said ? `after ${said} characters; the rest was not said.` : "before a word was said.";
    paragraph.append(make("span", { className: "verdict" }, `${verdict} ${count}`));
    this.#talk.scrollTop = this.#talk.scrollHeight;
  }
}
