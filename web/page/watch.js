import { element } from "./elements.js";
import { Spectrogram } from "./spectrogram.js";
import { milliseconds, Timeline } from "./timeline.js";
import { wav } from "./wav.js";
import { Waveform } from "./waveform.js";

const TIMELINE_PAUSE = 66; // milliseconds; it moves slowly, and the server may be on the same machine

/** What is seen of the speech while it is heard. Draws while something moves, and rests otherwise. */
export class Watch {
  #waveform = new Waveform(element("waveform", HTMLCanvasElement));
  #timeline = new Timeline(element("timeline", HTMLCanvasElement));
  #spectrogram = new Spectrogram(element("spectrogram", HTMLCanvasElement));
  #download = element("download", HTMLButtonElement);
  #speaker;
  #follow;
  #frame = 0;
  #timelineDrawn = -Infinity;

  /**
   * @param {import("./speaker.js").Speaker} speaker
   * @param {(take: import("./take.js").Take) => void} follow called before each drawing, to show the text
   */
  constructor(speaker, follow) {
    this.#speaker = speaker;
    this.#follow = follow;
    speaker.on("take", () => this.#wake());
    speaker.on("over", (take) => this.#describe(take));
    for (const { canvas } of [this.#waveform, this.#timeline, this.#spectrogram])
      canvas.on("stale", () => this.#wake());
    this.#download.addEventListener("click", () => this.#save());
    this.#wake();
  }

  #wake() {
    this.#frame ||= requestAnimationFrame((now) => this.#draw(now));
  }

  /** @param {number} now in milliseconds */
  #draw(now) {
    this.#frame = 0;
    const { take, speaking, player } = this.#speaker;
    if (take) {
      take.noteAhead();
      this.#follow(take);
      this.#showFigures(take);
    }
    this.#spectrogram.listen(player.output);
    this.#waveform.draw(take);
    if (!speaking || now - this.#timelineDrawn > TIMELINE_PAUSE) {
      this.#timelineDrawn = now;
      this.#timeline.draw(take);
    }
    this.#spectrogram.draw(take);
    if (speaking) this.#wake();
  }

  /** @param {import("./take.js").Take} take */
  #showFigures(take) {
    const show = (/** @type {string} */ id, /** @type {string} */ value) => {
      const figure = element(id, HTMLElement);
      if (figure.textContent !== value) figure.textContent = value;
    };
    const ahead = take.ending ? 0 : Math.max(0, take.seconds - take.heard);
    show("first-sound", take.firstSound === null ? "–" : milliseconds(take.firstSound));
    show("rtf", take.rtf === null ? "–" : take.rtf.toFixed(2));
    show("ahead", `${ahead.toFixed(1)} s`);
    show("underruns", String(take.underruns));
    this.#download.disabled = !take.samples;
  }

  /** @param {import("./take.js").Take} take that is over */
  #describe(take) {
    this.#wake();
    element("timeline-text", HTMLElement).textContent = take.samples ? account(take) : "";
  }

  #save() {
    const { take, player } = this.#speaker;
    if (!take) return;
    const url = URL.createObjectURL(
      wav(
        take.frames.map(({ samples }) => samples),
        player.rate,
      ),
    );
    const anchor = Object.assign(document.createElement("a"), { href: url, download: "speech.wav" });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000); // the browser has begun to read it by then
  }
}

/**
 * What a take came to, in words.
 *
 * @param {import("./take.js").Take} take
 */
function account({ texts, segments, seconds, firstSound, underruns, outcome }) {
  const parts = [
    `${count(texts.length, "piece")} of text became ${count(segments.length, "segment")} and ` +
      `${seconds.toFixed(1)} s of speech, first heard after ${milliseconds(firstSound ?? 0)}.`,
  ];
  if (outcome?.firstAudioS) {
    const { firstAudioS, coldStartS, queueS, computeS } = outcome;
    const load = coldStartS ? `, ${milliseconds(coldStartS)} of them to load the model` : "";
    parts.push(
      `The server took ${milliseconds(firstAudioS)} from the first text to the first audio${load}; all in all it ` +
        `worked ${milliseconds(computeS)} and waited ${milliseconds(queueS)} for its turn.`,
    );
  }
  parts.push(underruns ? `Speech ran out ${count(underruns, "time")}.` : "Speech never ran out.");
  return parts.join(" ");
}

/**
 * @param {number} number
 * @param {string} noun
 */
function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
