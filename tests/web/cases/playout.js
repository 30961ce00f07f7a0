/** Each export is a test of `Playout`: it throws if something is not as it should be. */
import { Playout } from "../playout.js";
import { assert, assertEqual, noise, sine } from "./asserting.js";

const BLOCK = 128;

/**
 * @param {Playout} playout
 * @param {number} blocks
 */
function render(playout, blocks) {
  const output = new Float32Array(blocks * BLOCK);
  for (let i = 0; i < blocks; i++) playout.render(output.subarray(i * BLOCK, (i + 1) * BLOCK));
  return output;
}

/** @param {Playout} playout */
const names = (playout) => playout.events.map(({ event, track }) => `${event} ${track}`);

export function passes_samples_through_at_an_equal_rate() {
  const playout = new Playout(24000, 24000, 4096);
  const samples = noise(1000);
  playout.append(1, samples);
  playout.finish(1);
  const output = render(playout, 10);
  assertEqual(output.subarray(0, 1000), samples);
  assert(
    output.subarray(1000).every((sample) => sample === 0),
    "silence follows",
  );
}

export function joins_tracks_without_a_gap() {
  const playout = new Playout(24000, 24000, 4096);
  const [first, second] = [noise(300), noise(200)];
  playout.append(1, first);
  playout.finish(1);
  playout.append(2, second);
  playout.finish(2);
  const output = render(playout, 4);
  assertEqual(output.subarray(0, 500), Float32Array.of(...first, ...second));
  assertEqual(names(playout), ["start 1", "finish 1", "start 2", "finish 2"]);
  assertEqual(
    playout.events.map(({ sample }) => sample),
    [0, 300, 0, 200],
  );
}

export function tells_in_which_frame_of_a_block_a_track_ends() {
  const playout = new Playout(24000, 48000, 4096);
  playout.append(1, noise(100));
  playout.finish(1);
  render(playout, 1);
  playout.events = [];
  render(playout, 1);
  assertEqual(
    playout.events.map(({ offset }) => offset),
    [200 - BLOCK],
  );
}

export function goes_round_the_ring() {
  const playout = new Playout(24000, 24000, 512);
  const samples = noise(5000);
  const output = new Float32Array(5120);
  let appended = 0;
  for (let block = 0; block < 40; block++) {
    const take = Math.min(samples.length - appended, 440 - playout.buffered);
    if (take) playout.append(1, samples.subarray(appended, appended + take));
    appended += take;
    if (appended === samples.length) playout.finish(1);
    playout.render(output.subarray(block * BLOCK, (block + 1) * BLOCK));
  }
  assertEqual(output.subarray(0, 5000), samples);
  assertEqual(playout.underruns, 0);
}

export function refuses_more_than_it_has_room_for() {
  const playout = new Playout(24000, 24000, 512);
  let refused = false;
  try {
    playout.append(1, noise(500));
  } catch (error) {
    refused = error instanceof RangeError;
  }
  assert(refused, "RangeError");
}

export function waits_for_its_lead() {
  const playout = new Playout(24000, 24000, 4096);
  playout.lead = 600;
  playout.append(1, noise(599));
  assert(
    render(playout, 2).every((sample) => sample === 0),
    "silent before the lead is there",
  );
  const rest = noise(400);
  playout.append(1, rest);
  assertEqual(playout.state, "waiting");
  assert(
    render(playout, 1).some((sample) => sample !== 0),
    "sounds once it is",
  );
}

export function does_not_wait_when_nothing_more_will_come() {
  const playout = new Playout(24000, 24000, 4096);
  playout.lead = 600;
  const samples = noise(128);
  playout.append(1, samples);
  playout.finish(1);
  assertEqual(render(playout, 1), samples);
}

export function ends_a_track_of_no_samples() {
  const playout = new Playout(24000, 24000, 4096);
  playout.finish(7);
  render(playout, 1);
  assertEqual(names(playout), ["start 7", "finish 7"]);
  assertEqual(playout.state, "idle");
}

export function fades_out_and_in_around_an_underrun() {
  const playout = new Playout(24000, 24000, 4096);
  const samples = sine(440, 24000, 1200);
  playout.append(1, samples.subarray(0, 600));
  const before = render(playout, 8);
  assertEqual(playout.underruns, 1);
  assertEqual(names(playout), ["start 1", "underrun 1"]);
  assertEqual(playout.events[1].sample, 600);
  assertEqual(before.subarray(0, 504), samples.subarray(0, 504)); // then 96 samples, 4 ms, of fading
  assert(Math.abs(before[599]) < 0.011, "has faded to nothing");
  playout.append(1, samples.subarray(600));
  playout.finish(1);
  const after = render(playout, 8);
  assertEqual(names(playout).slice(2), ["resume 1", "finish 1"]);
  assert(Math.abs(after[0]) < 0.011, "begins from nothing");
  assertEqual(after.subarray(96, 600), samples.subarray(696, 1200));
}

export function is_silent_4_ms_after_a_stop() {
  const playout = new Playout(24000, 48000, 4096);
  playout.append(1, sine(440, 24000, 2000));
  render(playout, 4);
  playout.stop();
  const output = render(playout, 4);
  assert(
    output.subarray(0, 100).some((sample) => sample !== 0),
    "it does not click",
  );
  assert(
    output.subarray(192).every((sample) => sample === 0),
    "nothing after 192 frames of 48 kHz",
  );
  for (let i = 1; i < output.length; i++) assert(Math.abs(output[i] - output[i - 1]) < 0.06, "no step");
}

export function takes_new_tracks_at_once_after_a_stop() {
  const playout = new Playout(24000, 24000, 4096);
  playout.append(1, noise(2000));
  playout.stop();
  const samples = noise(128);
  playout.append(2, samples);
  playout.finish(2);
  assertEqual(render(playout, 1), samples);
  assertEqual(names(playout), ["start 2", "finish 2"]);
}

export function counts_a_track_from_where_it_is_taken_up() {
  const playout = new Playout(24000, 24000, 4096);
  playout.append(3, noise(2000), 4800);
  render(playout, 2);
  assertEqual(playout.events[0], { event: "resume", track: 3, sample: 4800, offset: 0 });
  assertEqual(playout.position, { track: 3, sample: 4800 + 2 * BLOCK });
}

export function resamples_the_same_however_samples_come() {
  const samples = noise(3000);
  const whole = new Playout(24000, 44100, 4096);
  whole.append(1, samples);
  whole.finish(1);
  const expected = render(whole, 50);
  const pieces = new Playout(24000, 44100, 4096);
  let at = 0;
  const output = new Float32Array(expected.length);
  for (let block = 0; block < 50; block++) {
    while (at < samples.length && pieces.buffered < 300) {
      pieces.append(1, samples.subarray(at, at + 37));
      at += 37;
    }
    if (at >= samples.length) pieces.finish(1);
    pieces.render(output.subarray(block * BLOCK, (block + 1) * BLOCK));
  }
  assertEqual(pieces.underruns, 0);
  assertEqual(output, expected);
}
