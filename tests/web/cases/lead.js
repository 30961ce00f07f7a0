/** Each export is a test of `Lead`: it throws if something is not as it should be. */
import { Lead } from "../player.js";
import { assertEqual } from "./asserting.js";

export function starts_nearly_at_once_when_nothing_is_known() {
  assertEqual(new Lead().seconds, Lead.LEAST);
}

export function waits_as_long_as_would_have_been_enough() {
  const lead = new Lead();
  lead.arrive(1, 0.1, 10);
  lead.arrive(1, 0.1, 10.4); // 0.3 s after it was needed
  lead.arrive(1, 0.1, 10.45);
  assertEqual(lead.seconds.toFixed(3), "0.300");
  lead.finish(1);
  lead.arrive(2, 0.1, 20);
  assertEqual(lead.seconds.toFixed(3), "0.300");
}

export function forgets_what_is_long_past() {
  const lead = new Lead();
  for (let track = 0; track <= Lead.TRACKS; track++) {
    lead.arrive(track, 0.1, 10 * track);
    lead.arrive(track, 0.1, 10 * track + (track ? 0.05 : 1));
    lead.finish(track);
  }
  assertEqual(lead.seconds, Lead.LEAST);
}

export function has_a_limit() {
  const lead = new Lead();
  lead.arrive(1, 0.1, 0);
  lead.arrive(1, 0.1, 60);
  assertEqual(lead.seconds, Lead.MOST);
}

export function learns_from_tracks_that_were_stopped() {
  const lead = new Lead();
  lead.arrive(1, 0.1, 0);
  lead.arrive(1, 0.1, 0.9);
  lead.abandon();
  assertEqual(lead.seconds.toFixed(3), "0.800");
}
