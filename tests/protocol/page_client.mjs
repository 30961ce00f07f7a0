/**
 * The page's client over a socket that a test holds the other end of.
 *
 * Reads a JSON command a line on standard input and answers each with lines of its own, the last of them `{"ready"}`:
 *
 *   {"message": text} {"audio": base64}                                what the server sends
 *   {"do": "speak", "utterance", "text", "options"}                    opens it, or writes to it
 *   {"do": "flush" | "end" | "cancel", "utterance", "heardS"} {"do": "cancel"}   as the page would
 *
 * Answers: {"sent": text}, what leaves on the socket; {"event", ...}, what whoever uses the client is told.
 */
import { createInterface } from "node:readline";

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

let socket;
globalThis.WebSocket = class {
  constructor() {
    socket = this;
  }
  send(data) {
    tell({ sent: data });
  }
  close() {}
};

const { connect } = await import("../../web/rtvoice.js");
const connection = connect("ws://stand-in.example/");
connection.on("error", ({ code, field }) => tell({ event: "error", utterance: null, code, field }));

const utterances = new Map();

function open(number, options) {
  const utterance = connection.speak(null, options);
  if (utterance.number !== number) throw new Error(`utterance ${utterance.number} where ${number} was expected`);
  utterance.on("segment", (segment) => tell({ event: "segment", utterance: number, ...segment }));
  utterance.on("words", (words) => tell({ event: "words", utterance: number, words }));
  utterance.on("phonemes", (phonemes) => tell({ event: "phonemes", utterance: number, phonemes }));
  utterance.on("audio", ({ at, samples }) => tell({ event: "audio", utterance: number, at, bytes: samples.byteLength }));
  utterance.on("end", ({ type, code, field, spoken, audioS }) =>
    tell({ event: "end", utterance: number, type: type ?? "error", code, field, spoken, audioS }),
  );
  utterances.set(number, utterance);
  return utterance;
}

function act({ do: what, utterance: number, text, options, heardS }) {
  if (what === "speak") (utterances.get(number) ?? open(number, options)).write(text);
  else if (number === undefined) connection.cancel();
  else (utterances.get(number) ?? open(number, {}))[what](heardS);
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if ("message" in command) socket.onmessage({ data: command.message });
  else if ("audio" in command) socket.onmessage({ data: Uint8Array.from(Buffer.from(command.audio, "base64")).buffer });
  else act(command);
  await new Promise(setImmediate); // what was started by it has happened
  tell({ ready: true });
}
