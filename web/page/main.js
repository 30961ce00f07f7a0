import { Conversation } from "./converse.js";
import { element } from "./elements.js";
import { EngineView } from "./engine.js";
import { Settings } from "./settings.js";
import { SpeakPanel } from "./speak.js";
import { Speaker } from "./speaker.js";
import { Watch } from "./watch.js";

/** Where there are keys the page is opened with one (`?api_key=KEY`), or with a token. */
const server = new URL(`./${location.search}`, location.href);

/** @type {Record<import("../rtvoice.js").Absence, [string, string]>} what is wrong, briefly and in a sentence */
const ABSENCES = {
  lost: ["No server", "The speech server went away. This page connects again as soon as it is back."],
  unreachable: ["No server", "The speech server does not answer. This page goes on trying."],
  full: ["Server full", "The speech server is full. This page gets in as soon as there is room."],
  refused: [
    "Refused",
    "The speech server is there, but takes no connection from this page. If it asks for a key, open the page with " +
      "?api_key= and the key behind its address.",
  ],
};

const speaker = new Speaker(server);
const settings = new Settings();
const panel = new SpeakPanel(speaker, settings);
const conversation = new Conversation(speaker, settings);
const engine = new EngineView(server);
new Watch(speaker, (take) => {
  panel.follow(take);
  conversation.follow(take);
});

const go = element("go", HTMLButtonElement);
const stop = element("stop", HTMLButtonElement);
const introduce = element("introduce", HTMLButtonElement);
const prompt = element("prompt", HTMLTextAreaElement);
const tabs = [element("tab-speak", HTMLButtonElement), element("tab-converse", HTMLButtonElement)];
let conversing = false;
/** Why there is no connection, as it was last told. @type {import("../rtvoice.js").Absence | null} */
let absence = null;

speaker.on("connection", showState);
speaker.on("connection", (state) => {
  if (state.name === "open") {
    absence = null;
    settings.offer(state.ready);
    panel.offer(state.ready);
    say("Connected.");
    notice("");
    engine.look();
  } else if (state.name === "waiting" && state.reason !== absence) {
    // Once lost it cannot be reached, of course; whoever was told need not be told again.
    if (absence !== "lost" || state.reason !== "unreachable") notice(ABSENCES[state.reason][1]);
    absence = state.reason;
  }
});
speaker.on("fault", ({ code, message, retryAfterS }) => {
  if (code === "disconnected") return; // the connection's state says that, and what comes next
  notice(retryAfterS ? `${message} Try again in ${Math.ceil(retryAfterS)} s.` : message);
});
speaker.player.on("state", (state) => state === "running" && speaker.speaking && notice(""));
speaker.on("take", (take) => {
  notice("");
  say(""); // a screen reader need not talk into the speech
  for (const event of /** @type {const} */ (["loading", "segment"])) {
    take.utterance.on(event, () => {
      showState();
      if (take.segments.length < 2) engine.look();
    });
  }
  showState();
});
speaker.on("over", (take) => {
  const endings = { finished: "Finished.", stopped: "Stopped.", failed: "It broke off." };
  say(endings[take.ending ?? "finished"]);
  showState();
  engine.look();
});
settings.on("introduce", (text) => attempt(() => speaker.speak(text, settings.options)));
go.addEventListener("click", () => attempt(start));
stop.addEventListener("click", () => speaker.stop());
element("retry", HTMLButtonElement).addEventListener("click", () => speaker.connection.retry());
setInterval(() => speaker.connection.state.name === "waiting" && showState(), 1000);

for (const [i, tab] of tabs.entries()) {
  tab.addEventListener("click", () => choose(i));
  tab.addEventListener("keydown", ({ key }) => {
    const chosen = { ArrowLeft: 1 - i, ArrowRight: 1 - i, Home: 0, End: 1 }[key];
    if (chosen !== undefined) tabs[choose(chosen)].focus();
  });
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && speaker.speaking) {
    event.preventDefault();
    speaker.stop();
  } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!go.disabled) attempt(start);
  } else if (conversing) {
    converseByKey(event);
  }
});

if (/Mac|iP(hone|ad)/.test(navigator.platform)) {
  for (const key of document.querySelectorAll("#go kbd")) key.textContent = "⌘ ↵";
}

/** @returns {Promise<unknown>} */
async function start() {
  return conversing ? conversation.ask() : panel.speak();
}

/**
 * Enter asks; a space or any other character interrupts, and what is typed goes into the prompt.
 *
 * @param {KeyboardEvent} event
 */
function converseByKey(event) {
  const typing = event.target === prompt;
  if (typing && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    if (!go.disabled) attempt(start);
    return;
  }
  const used = event.target instanceof Element && event.target.closest("button, input, select, textarea:not(#prompt)");
  if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey || used || !speaker.speaking) return;
  conversation.interrupt();
  if (event.key === " " && !prompt.value) event.preventDefault();
  if (!typing) prompt.focus();
}

/**
 * @param {number} chosen 0 to speak, 1 to converse
 * @returns {number} the same
 */
function choose(chosen) {
  speaker.stop();
  conversing = chosen === 1;
  tabs.forEach((tab, i) => {
    tab.setAttribute("aria-selected", String(i === chosen));
    tab.tabIndex = i === chosen ? 0 : -1;
  });
  element("speak", HTMLElement).hidden = conversing;
  element("converse", HTMLElement).hidden = !conversing;
  element("source", HTMLFieldSetElement).hidden = !conversing;
  element("go-text", HTMLElement).textContent = conversing ? "Ask" : "Speak";
  return chosen;
}

/** Show what the connection and the voice are doing, and what can be pressed. */
function showState() {
  const { state } = speaker.connection;
  const open = state.name === "open";
  element("connection", HTMLElement).dataset.state = open && speaker.speaking ? "speaking" : state.name;
  element("connection-text", HTMLElement).textContent = stateInWords(state);
  element("retry", HTMLButtonElement).hidden = state.name !== "waiting";
  go.disabled = introduce.disabled = !open;
  stop.disabled = !speaker.speaking;
}

/** @param {import("../rtvoice.js").ConnectionState} state */
function stateInWords(state) {
  const { take } = speaker;
  switch (state.name) {
    case "connecting":
      return "Connecting…";
    case "open":
      if (!take || take.ending) return "Connected";
      if (!take.load || take.segments.length) return "Speaking";
      return take.load.expectedS === null ? "Loading the model" : `Loading the model, ${loadsFor(take.load)} s to go`;
    case "waiting": {
      const pause = Math.max(1, Math.ceil((state.retryAt - Date.now()) / 1000));
      return `${ABSENCES[state.reason][0]}. Next try in ${pause} s`;
    }
    case "closed":
      return "Disconnected";
  }
}

/**
 * @param {{from: number, until: number, expectedS: number | null}} load
 * @returns {number} seconds that it will take still, if it takes as long as the last time
 */
function loadsFor({ from, until, expectedS }) {
  return Math.max(1, Math.ceil((expectedS ?? 0) - (until - from)));
}

/** @param {string} text for people, shown and read out; empty takes it away */
function notice(text) {
  element("notice", HTMLElement).textContent = text;
}

/** @param {string} text read out by screen readers */
function say(text) {
  element("status", HTMLElement).textContent = text;
}

/** @param {() => Promise<unknown>} action whose failure is to be seen */
async function attempt(action) {
  try {
    await action();
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}
