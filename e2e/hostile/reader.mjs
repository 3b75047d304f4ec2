// What the bytes of an event stream say, read anew from the standard (WHATWG HTML, "Server-sent events") and from
// docs/profile.md, "The event stream". It is written for one whole text: nothing of the client's is in it.

/** Bytes that an event's data may have. */
const limit = 16 << 20;

/** The text in blocks: each a list of lines, and whether a blank line ended it. */
function* blocks(text) {
  let lines = [];
  // What stands after the last line end is a line that did not end.
  const all = text.split(/\r\n|\r|\n/);
  for (let i = 0; i < all.length - 1; i++) {
    if (all[i] !== "") lines.push(all[i]);
    else {
      yield { lines, whole: true };
      lines = [];
    }
  }
  if (all.at(-1) !== "") lines.push(all.at(-1));
  yield { lines, whole: false };
}

function fields(lines) {
  const event = { name: "", data: [], id: undefined };
  for (const line of lines) {
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
    if (field === "data") event.data.push(value ?? "");
    else if (field === "event") event.name = value ?? "";
    else if (field === "id" && !value?.includes("\0")) event.id = value ?? "";
  }
  return event;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** {type, data} of a JSON object and the event field's name. */
function message(object, name) {
  if (typeof object.type !== "string") return { type: name || "message", data: object };
  const { type, data } = object;
  if (isObject(data)) return { type, data };
  const rest = { ...object };
  delete rest.type;
  return { type, data: rest };
}

/**
 * What a stream of these bytes says: its events up to the one that decides, and how it ends: "complete", "error",
 * "no event" (of these three the last event, or the one that is none, is the reason), "too long" or "open".
 */
export function read(bytes, clean) {
  const events = [];
  const text = new TextDecoder().decode(bytes);
  for (const { lines, whole } of blocks(text)) {
    const { name, data, id } = fields(lines);
    if (data.length === 0) continue;
    const joined = data.join("\n");
    if (joined.length > limit / 4 && Buffer.byteLength(joined) > limit) return { events, end: "too long" };
    const object = parsed(joined);
    // An event that the stream left unfinished counts where it is plainly whole.
    if (!whole && (!clean || !object)) break;
    if (joined === "[DONE]") continue;
    if (!object) return { events, end: "no event" };
    const event = message(object, name);
    if (id) event.id = id;
    events.push(event);
    if (event.type === "turn_complete") return { events, end: "complete", data: event.data };
    if (event.type === "error") return { events, end: "error", data: event.data };
  }
  return { events, end: "open" };
}

const halfAtEnd = /[\ud800-\udbff]$/;
const wellFormed = (text) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

/** The fragment that an event adds to the text, or to the reasoning. */
export function fragment({ type, data }, channel) {
  const names = { text_delta: ["chunk"], reasoning_delta: ["chunk", "delta", "text", "reasoning", "content"] };
  if (type !== channel) return "";
  return names[channel].map((name) => (Object.hasOwn(data, name) ? data[name] : undefined)).find((value) => typeof value === "string") ?? "";
}

/** What the fragments of these events make: half a character waits for its other half. */
export function joined(events, channel) {
  const text = events.map((event) => fragment(event, channel)).join("");
  return wellFormed(text.replace(halfAtEnd, ""));
}
