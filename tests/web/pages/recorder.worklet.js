/** Hands out every sample it is given, with the frame it was played at. */
class Recorder extends AudioWorkletProcessor {
  process([[channel]]) {
    if (channel) this.port.postMessage({ frame: currentFrame, samples: channel.slice() });
    return true;
  }
}

registerProcessor("test-recorder", Recorder);
