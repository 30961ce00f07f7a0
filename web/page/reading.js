/** Shows a text with what has been heard of it, and the word that is being said. */
export class Reading {
  #heard = document.createElement("span");
  #now = document.createElement("span");
  #rest = document.createElement("span");
  #text = "";
  #start = 0;
  #end = 0;

  /** @param {HTMLElement} element emptied */
  constructor(element) {
    this.element = element;
    this.#heard.className = "heard";
    this.#now.className = "now";
    element.replaceChildren(this.#heard, this.#now, this.#rest);
  }

  /** The word that is being said. */
  get word() {
    return this.#now;
  }

  /**
   * @param {string} text
   * @param {number} start index of the first character being said
   * @param {number} end index behind the last one
   */
  show(text, start = 0, end = start) {
    if (text === this.#text && start === this.#start && end === this.#end) return;
    [this.#text, this.#start, this.#end] = [text, start, end];
    this.#heard.textContent = text.slice(0, start);
    this.#now.textContent = text.slice(start, end);
    this.#rest.textContent = text.slice(end);
    this.#now.hidden = start === end;
  }

  /** Keep the word that is being said in sight. */
  follow() {
    const box = this.element.closest(".page-of-text, .talk");
    if (!box || this.#now.hidden) return;
    const word = this.#now.getBoundingClientRect();
    const view = box.getBoundingClientRect();
    if (word.bottom > view.bottom - 8 || word.top < view.top) box.scrollTop += word.top - view.top - view.height / 3;
  }
}
