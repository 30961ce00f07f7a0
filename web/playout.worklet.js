/**
 * The audio thread's side of `player.js`: feeds a `Playout` and reports where it is.
 *
 * In: `append`, `finish`, `lead`, `stop`. Out: a report at every event, and every 1,024 frames while there is something
 * to play. `generation` counts the stops, so that a report that crossed a stop on its way is recognised.
 */
import { Playout } from "./playout.js";

const FRAMES_BETWEEN_REPORTS = 1024;

class PlayoutProcessor extends AudioWorkletProcessor {
  /** @param {{processorOptions: {rate: number, capacity: number}}} options */
  constructor({ processorOptions: { rate, capacity } }) {
    super();
    this.playout = new Playout(rate, sampleRate, capacity);
    this.generation = 0;
    this.reportedAt = 0;
    this.port.onmessage = ({ data }) => this.receive(data);
  }

  /** @param {import("./player.js").PlayoutCommand} command */
  receive(command) {
    switch (command.type) {
      case "append":
        this.playout.append(
          command.track,
          Float32Array.from(command.samples, (sample) => sample / 32768),
          command.at,
        );
        break;
      case "finish":
        this.playout.finish(command.track);
        break;
      case "lead":
        this.playout.lead = command.samples;
        break;
      case "stop":
        this.playout.stop();
        this.generation = command.generation;
    }
  }

  /**
   * @param {Float32Array[][]} _inputs none
   * @param {Float32Array[][]} outputs one, of one channel
   * @returns {true} the node lives as long as its context
   */
  process(_inputs, [[output]]) {
    const wasIdle = this.playout.state === "idle";
    this.playout.render(output);
    const due = currentFrame - this.reportedAt >= FRAMES_BETWEEN_REPORTS;
    if (this.playout.events.length || (due && !wasIdle)) this.report(output.length);
    return true;
  }

  /** @param {number} frames that were rendered since `currentFrame` */
  report(frames) {
    const { playout } = this;
    this.reportedAt = currentFrame;
    /** @type {import("./player.js").PlayoutReport} */
    const report = {
      generation: this.generation,
      state: playout.state,
      position: playout.position,
      time: (currentFrame + frames) / sampleRate,
      consumed: playout.consumed,
      buffered: playout.buffered,
      underruns: playout.underruns,
      events: playout.events.map(({ event, track, sample, offset }) => ({
        event,
        track,
        sample,
        time: (currentFrame + offset) / sampleRate,
      })),
    };
    playout.events = [];
    this.port.postMessage(report);
  }
}

registerProcessor("rtvoice-playout", PlayoutProcessor);
