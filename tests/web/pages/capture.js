/**
 * Records what reaches the audio device: put into every page before its own scripts.
 *
 * `capture.context` is the last AudioContext, `capture.until(frame)` resolves once everything before that frame is
 * recorded, `capture.between(from, to)` are the samples of these frames.
 */
(() => {
  const blocks = [];
  const waiting = new Set();
  const capture = {
    context: null,
    /** First frame that is not recorded yet. */
    end: 0,
    clear: () => blocks.splice(0),
    until(frame) {
      return new Promise((resolve) => {
        waiting.add({ frame, resolve });
        settle();
      });
    },
    between(from, to) {
      const samples = new Float32Array(Math.max(0, to - from));
      for (const { frame, samples: recorded } of blocks) {
        const at = frame - from;
        if (at <= -recorded.length || at >= samples.length) continue;
        samples.set(recorded.subarray(Math.max(0, -at), samples.length - at), Math.max(0, at));
      }
      return samples;
    },
    /** What was recorded and not drained yet. */
    drain() {
      const samples = blocks.length ? capture.between(blocks[0].frame, capture.end) : new Float32Array(0);
      blocks.splice(0);
      return samples;
    },
    /** What was recorded, from its first sample that is not silent to its last. */
    sound() {
      const first = blocks.find(({ samples }) => samples.some(Boolean));
      if (!first) return new Float32Array(0);
      const samples = capture.between(first.frame, capture.end);
      return samples.slice(samples.findIndex(Boolean), samples.findLastIndex(Boolean) + 1);
    },
    /** A frame at which something is heard, once there is one behind `from`. */
    async soundAfter(from) {
      for (;;) {
        const block = blocks.find(({ frame, samples }) => frame >= from && samples.some(Boolean));
        if (block) return block.frame + block.samples.findIndex(Boolean);
        await capture.until(capture.end + 1);
      }
    },
    loudest: (from, to) => capture.between(from, to).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0),
  };
  const settle = () => {
    for (const item of waiting) {
      if (item.frame > capture.end) continue;
      waiting.delete(item);
      item.resolve();
    }
  };

  const { addModule } = AudioWorklet.prototype;
  AudioWorklet.prototype.addModule = async function (...rest) {
    await addModule.call(this, "/recorder.worklet.js");
    return addModule.apply(this, rest);
  };
  const { connect } = AudioNode.prototype;
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const recorder = new AudioWorkletNode(this.context, "test-recorder", { numberOfOutputs: 0 });
      recorder.port.onmessage = ({ data }) => {
        if (capture.context !== recorder.context) return;
        blocks.push(data);
        capture.end = data.frame + data.samples.length;
        settle();
      };
      blocks.splice(0);
      capture.end = 0;
      capture.context = this.context;
      connect.call(this, recorder);
    }
    return connect.call(this, target, ...rest);
  };
  window.capture = capture;
})();
