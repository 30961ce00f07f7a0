const ANSWERS = [
  "Speech is slow. We say two or three words a second, and a language model writes ten times as many. So I need not " +
    "wait for the end of an answer: when its first sentence is there I begin to speak it, and while you listen the " +
    "next ones are made ready. If you interrupt me, whatever has not been said is thrown away.",
  "Let me think of a house by the sea. Downstairs there is a kitchen with a blue door, and somebody has left the " +
    "kettle on. You hear gulls, a radio two rooms away, and 3 boats knocking against the pier. Would you go in, or " +
    "would you rather walk on to the lighthouse?",
  "There are three things to know. First, I am only a stand-in: I type answers that were written before you asked. " +
    "Second, the voice is real, and it is made on this server, word by word, as I type. Third, you can change how " +
    "fast I type, from 5 to 100 tokens a second, and hear whether it makes a difference.",
  "Of course. Flour, 250 grams. Two eggs. Half a litre of milk, a pinch of salt, and butter for the pan. Beat it " +
    "until it is smooth, let it rest for 20 minutes, and bake the first one knowing that the first one never works. " +
    "The second one will be perfect.",
];

/**
 * Types a prepared answer, a few characters at a time.
 *
 * @param {number} turn which answer: they follow one another
 * @param {() => number} rate tokens a second, asked before each
 * @param {AbortSignal} signal ends it
 * @returns {AsyncGenerator<string, void, void>}
 */
export async function* standIn(turn, rate, signal) {
  const tokens = ANSWERS[turn % ANSWERS.length].match(/\s*\S{1,5}/g) ?? [];
  let due = performance.now();
  for (const token of tokens) {
    due += 1000 / rate();
    const wait = due - performance.now(); // by the clock: timers are late, most of all in a tab nobody looks at
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    if (signal.aborted) return;
    yield token;
  }
}

/**
 * @typedef {{role: "system" | "user" | "assistant", content: string}} Message
 */

/**
 * Streams an answer from an endpoint that speaks OpenAI's chat completions.
 *
 * @param {Message[]} messages
 * @param {{endpoint: string, model: string, key: string}} access
 * @param {AbortSignal} signal ends it
 * @returns {AsyncGenerator<string, void, void>}
 * @throws {Error} with a sentence for people
 */
export async function* complete(messages, { endpoint, model, key }, signal) {
  let response;
  try {
    response = await fetch(`${endpoint.replace(/\/+$/, "")}/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages, stream: true }),
      signal,
    });
  } catch (cause) {
    if (signal.aborted) return;
    throw new Error("The model’s address does not answer, or does not allow this page to ask.", { cause });
  }
  if (!response.ok || !response.body) throw new Error(`The model’s address answered with status ${response.status}.`);
  for await (const line of lines(response.body, signal)) {
    if (!line.startsWith("data:")) continue;
    const data = line.slice(5).trim();
    if (data === "[DONE]") return;
    const delta = JSON.parse(data).choices?.[0]?.delta?.content;
    if (delta) yield delta;
  }
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {AbortSignal} signal
 */
async function* lines(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const parts = (rest + (value ?? "")).split(/\r?\n/);
      rest = parts.pop() ?? "";
      yield* parts;
      if (done) break;
    }
    if (rest) yield rest;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
