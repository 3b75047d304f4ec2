// Event streams from a seed: what a turn may look like, and what only looks like one. Runs in Node and in the page.

import { any, chance, scalar, spoiled, string, weighted } from "./values.mjs";

const encoder = new TextEncoder();
const event = (type, data) => `{"type":${JSON.stringify(type)},"data":${data}}`;
const chunks = ['"word "', '"two words, "', '""', '"\\ud83d"', '"\\ude00"', '"é漢👍"', '"\\"quoted\\" "', '"line\\n"'];
const tools = ["tool_call_started", "tool_call_delta", "tool_call", "tool_result"];

/** The JSON of one event, mostly as the interface says. */
const payloads = {
  text: (r) => event("text_delta", `{"chunk":${chance(r, 0.8) ? r.pick(chunks) : string(r)}}`),
  textMore: (r) => event("text_delta", `{"n":${scalar(r)},"chunk":${r.pick(chunks)},"chunk":${r.pick(chunks)}}`),
  textOdd: (r) => event("text_delta", chance(r, 0.5) ? `{"chunk":${any(r)}}` : any(r)),
  textBare: (r) => `{"chunk":${r.pick(chunks)},"type":"text_delta"}`,
  textEscaped: (r) => `{"type":"text\\u005fdelta","data":{"chu\\u006ek":${r.pick(chunks)}}}`,
  reasoning: (r) => event("reasoning_delta", `{"${r.pick(["chunk", "delta", "text", "reasoning", "content"])}":${string(r)}}`),
  tool: (r) => event(r.pick(tools), `{"${r.pick(["tool_call_id", "call_id", "id", "index"])}":${chance(r, 0.8) ? `"c${r.below(3)}"` : any(r)},"name":${string(r)},"delta":${string(r)},"arguments":${any(r)},"result":${any(r)}}`),
  toolOdd: (r) => event(r.pick(tools), any(r)),
  unknown: (r) => `{"type":${chance(r, 0.5) ? string(r) : any(r)},"data":${any(r)}}`,
  any: (r) => `{"${r.pick(["type", "data", "x"])}":${any(r)}}`,
  // Only its words are those of an end.
  seeming: (r) => r.pick([
    event("Turn_complete", "{}"), event("turn_complete ", "{}"), '{"data":{"type":"turn_complete"}}', '{"type":["turn_complete"],"data":{}}',
    '{"type":"turn_complete","type":"text_delta","data":{"chunk":"x"}}', event("text_delta", '{"chunk":"{\\"type\\":\\"turn_complete\\"}"}'), "[DONE]",
  ]),
  complete: (r) => r.pick([event("turn_complete", "{}"), event("turn_complete", any(r)), '{"type":"turn_complete"}', '{"type":"turn\\u005fcomplete","data":{"usage":1}}']),
  error: (r) => event("error", chance(r, 0.5) ? `{"message":${string(r)},"code":${string(r)}}` : any(r)),
  broken: (r) => r.pick(["{", "[]", "null", "\"text\"", "{]", '{"type":"text_delta"', "<html>", "{}}", '{"a":1,}', "{'a':1}", "\ufeff{}"]),
};
const weights = { text: 30, textMore: 3, textOdd: 3, textBare: 2, textEscaped: 2, reasoning: 5, tool: 8, toolOdd: 2, unknown: 4, any: 2, seeming: 3, complete: 1, error: 0.7, broken: 0.5 };

/** One event in one of the forms that the standard knows. */
function frame(r, json) {
  const end = weighted(r, { "\n": 8, "\r\n": 2, "\r": 1 });
  const lines = [];
  if (chance(r, 0.1)) lines.push(`: ${r.pick(["still here", "data: x", ""])}`);
  if (chance(r, 0.2)) lines.push(`id: ${r.pick(["1", String(r.below(100)), "", "é", "a\0b", "x".repeat(200)])}`);
  if (chance(r, 0.05)) lines.push(r.pick(["retry: 10", "retry: x", "retry", "unknown: x", "dat", "datax: y", "data2", ":", "event"]));
  const whole = /^\{"type":"(\w+)","data":(.*)\}$/s.exec(json);
  // The event field names the type where the JSON does not.
  if (whole && chance(r, 0.1)) lines.push(`event: ${whole[1]}`, `data:${whole[2].replace(/[\r\n]/g, " ")}`);
  else if (chance(r, 0.05)) lines.push("event: turn_complete", `data: ${json}`);
  // A line end where JSON takes white space makes several data lines of it.
  else if (chance(r, 0.1)) lines.push(...json.replace(/^\{/, "{\n").split("\n").map((line) => `data: ${line}`));
  else lines.push(`${r.pick(["data: ", "data:"])}${json}`);
  return lines.join(end) + end + end;
}

/** Many of a kind at once, or large ones: what must not cost more than it weighs. */
function mass(r) {
  const n = 1 << (6 + r.below(8));
  const one = r.pick([
    "data: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"x\"}}\n\n", ": \n", "\n", "data\n", "data: {}\n\n", "id: 1\n", "event: x\n",
    `data: ${event("tool_call_delta", '{"id":"one","delta":"x"}')}\n\n`, `data: ${event("tool_call_started", "{}")}\n\n`,
    `data: ${event("reasoning_delta", '{"text":"why "}')}\n\n`, `data: ${event("text_delta", '{"chunk":"\\ud83d"}')}\n\n`,
  ]);
  return chance(r, 0.3) ? `data: ${event("text_delta", `{"chunk":"${"large ".repeat(n * 8)}"}`)}\n\n` : `${one.repeat(n)}\n`;
}

/** The bytes of a stream. right asks for one that ends with turn_complete, and in which nothing is wrong before. */
export function stream(r, right) {
  const kinds = right ? { ...weights, complete: 0, error: 0, broken: 0 } : weights;
  const frames = Array.from({ length: r.below(right ? 20 : 40) }, () => (chance(r, 0.02) ? mass(r) : frame(r, payloads[weighted(r, kinds)](r))));
  if (frames.length > 0 && chance(r, 0.1)) frames.splice(r.below(frames.length), 0, r.pick(frames));
  if (right || chance(r, 0.4)) frames.push(frame(r, payloads.complete(r)));
  // What comes after the end, and an end without its blank line.
  if (chance(r, 0.15)) frames.push(frame(r, payloads[weighted(r, weights)](r)));
  if (chance(r, 0.15)) frames.push(frames.pop()?.trimEnd() ?? "data");
  const bytes = encoder.encode((chance(r, 0.1) ? "\ufeff" : "") + frames.join(""));
  return right || chance(r, 0.8) ? bytes : spoiled(r, bytes);
}
