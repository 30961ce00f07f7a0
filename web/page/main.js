import { Conversation } from "./converse.js";
import { element } from "./elements.js";
import { Settings } from "./settings.js";
import { SpeakPanel } from "./speak.js";
import { Speaker } from "./speaker.js";
import { Watch } from "./watch.js";

const speaker = new Speaker(new URL("./", location.href));
const settings = new Settings();
const panel = new SpeakPanel(speaker, settings);
const conversation = new Conversation(speaker, settings);
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

speaker.on("connection", showState);
speaker.on("connection", (state) => {
  if (state.name === "open") {
    settings.offer(state.ready);
    panel.offer(state.ready);
    say("Connected.");
    notice("");
  } else if (state.name === "waiting" && state.attempt === 1) {
    notice("The speech server went away. This page connects again as soon as it is back.");
  }
});
speaker.on("fault", ({ code, message }) => {
  if (code !== "disconnected") notice(message); // the connection's state says that, and what comes next
});
speaker.player.on("state", (state) => state === "running" && speaker.speaking && notice(""));
speaker.on("take", () => {
  notice("");
  say(""); // a screen reader need not talk into the speech
  showState();
});
speaker.on("over", (take) => {
  const endings = { finished: "Finished.", stopped: "Stopped.", failed: "It broke off." };
  say(endings[take.ending ?? "finished"]);
  showState();
});
settings.on("introduce", (text) => attempt(() => speaker.speak(text, settings.options)));
go.addEventListener("click", () => attempt(start));
stop.addEventListener("click", () => speaker.stop());
element("retry", HTMLButtonElement).addEventListener("click", () => speaker.connection.retry());
setInterval(() => speaker.connection.state.name === "waiting" && showState(), 1000);

for (const [i, tab] of tabs.entries()) {
  tab.addEventListener("click", () => choose(i));
  tab.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowLeft" || key === "ArrowRight") tabs[choose(1 - i)].focus();
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
  const shown = open && speaker.speaking ? "speaking" : state.name;
  element("connection", HTMLElement).dataset.state = shown;
  const pause = state.name === "waiting" ? Math.max(1, Math.ceil((state.retryAt - Date.now()) / 1000)) : 0;
  const words = {
    connecting: "Connecting…",
    open: "Ready",
    speaking: "Speaking",
    waiting: `No server. Next try in ${pause} s`,
    closed: "Disconnected",
  };
  element("connection-text", HTMLElement).textContent = words[shown];
  element("retry", HTMLButtonElement).hidden = state.name !== "waiting";
  go.disabled = introduce.disabled = !open;
  stop.disabled = !speaker.speaking;
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
