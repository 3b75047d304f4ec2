// Judges what became of an act by what was really received and really sent. Gives the faults as sentences.

import { fragment, joined, read } from "./reader.mjs";
import { judgeUpload } from "./judge-uploads.mjs";

/** What an act can be judged by: { plan, exchanges, store }; result is the page's side. */
export function judge(act, result) {
  const { plan } = act;
  const faults = [];
  const fault = (text) => faults.push(text);
  if (result.hung) fault(`it hangs: nothing for ${Math.round(result.ms)} ms`);
  if (result.threw) fault(`the call threw ${JSON.stringify(result.threw)}`);
  const errors = [result.error, result.loopError, ...(result.aborts ?? []).map(({ error }) => error), result.aborted?.error].filter(Boolean);
  for (const error of errors) judgeError(error, plan, fault);
  // What a refusal says stands in the error as it came.
  for (const { body, ...error } of errors) {
    if (has([error, body], plan.key)) fault(`the key is in an error: ${short({ ...error, body })}`);
    if (has(error, plan.sign)) fault(`a signature is in an error: ${short(error)}`);
  }
  for (const log of result.logs) if (has(log, plan.key) || has(log, plan.sign)) fault(`a key or a signature is in a log record: ${short(log)}`);
  if (result.hung || result.threw) return faults;
  const exchanges = act.exchanges;
  const of = (kind) => exchanges.filter((exchange) => exchange.kind === kind);
  const cases = {
    send: () => judgeTurn(plan, result, of, fault),
    create: () => result.chat && judgeChat(result.chat, of("chats"), fault),
    get: () => result.file && judgeFile(result.file, of("file"), fault),
    wait: () => {
      if (!result.file) return;
      judgeFile(result.file, of("file"), fault);
      if (result.file.status !== "ready") fault(`wait() resolved with the status ${result.file.status}`);
    },
    abort: () => result.resolved && !of("abort").some(good) && fault("abort() resolved, and no abort was answered well"),
    upload: () => judgeUpload(act, result, of, fault),
  };
  cases[plan.call]();
  return faults;
}

/** A value for people: its beginning, without what they need not see. */
export function short(value, most = 500) {
  let text;
  try {
    text = JSON.stringify(value, (name, member) => (name === "stack" || name === "classes" ? undefined : member)) ?? "undefined";
  } catch {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${typeof member === "object" ? "what is nested too deep" : member}`);
    text = `{${members.join(", ")}}`;
  }
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Whether a secret stands in any string of a value. */
function has(value, secret) {
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string" && next.includes(secret)) return true;
    if (typeof next === "object" && next !== null) for (const [name, member] of Object.entries(next)) rest.push(name, member);
  }
  return false;
}

/** Every error is one of the package's, with a code; but for the reason of the caller's own signal. */
function judgeError(error, plan, fault) {
  const own = error.name === "AbortError" && (plan.signalAfter >= 0 || plan.end === "signal" || plan.end === "abort" || plan.closeAfter >= 0);
  if (own) return;
  if (!error.classes?.includes("AgentError")) fault(`an error of no class of the package: ${short(error)}`);
  else if (typeof error.code !== "string" || error.code === "" || typeof error.retryable !== "boolean" || !error.message) fault(`an error without code, retryable or message: ${short(error)}`);
  if (error.classes?.includes("RuntimeCrashError") || error.classes?.includes("RuntimeLoadError")) fault(`the module failed: ${short(error)}`);
}

const inside = (status) => Number(status) >= 200 && Number(status) < 300;
/** A good answer of which the page could see all. */
export const good = (exchange) => inside(exchange.status) && !exchange.hidden;

/** The JSON of an answer that came whole; undefined where it is none. */
export function sent(exchange) {
  if (!good(exchange) || !exchange.whole) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(exchange.bytes));
  } catch {
    return undefined;
  }
}

/** Equal as JSON; what is nested too deep to be told is taken for equal. */
export function same(a, b) {
  try {
    const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
    return one === other || (one !== undefined && one.includes('"tooDeep":true'));
  } catch {
    return true;
  }
}

const firstString = (...values) => values.find((value) => typeof value === "string" && value !== "");

function judgeChat({ id, raw }, exchanges, fault) {
  const from = exchanges.map(sent).find((record) => record !== undefined && same(raw, record));
  if (from === undefined) return fault(`a chat was made of what was never sent: ${short(raw)}`);
  const named = firstString(from.chat_id, from.id, from.chat?.chat_id, from.chat?.id, from.data?.chat_id, from.data?.id);
  if (named !== id) fault(`the chat is ${JSON.stringify(id)}, the service said ${JSON.stringify(named)}`);
}

/** A file's record says what the service sent, and nothing else; without a status its status is `silent`. */
export function judgeFile(file, exchanges, fault, silent) {
  const from = exchanges.map(sent).find((record) => record !== undefined && same(file.raw, record));
  if (from === undefined) return fault(`a file's record was never sent: ${short(file)}`);
  const record = typeof from.status === "string" ? from : [from.file, from.data].find((inner) => typeof inner === "object" && inner !== null && !Array.isArray(inner)) ?? from;
  if ((typeof record.status === "string" && record.status !== "" ? record.status : silent) !== file.status) fault(`the file is ${file.status}, the service said ${short(record)}`);
}

/** Which errors go with a status: one of these classes, or a key that could not be had. */
const classesOf = { interrupted: ["ConnectionError", "TimeoutError", "ProtocolError", "ReplayMismatchError"], failed: ["TurnError", "APIError"] };
const goes = (status, { classes, code }) => classesOf[status]?.some((name) => classes.includes(name)) || (status === "failed" && /^api_key_|^client_closed$/.test(code));

function judgeTurn(plan, result, of, fault) {
  const { status, error } = result;
  const told = `${status} ${error?.name ?? ""} ${error?.code ?? ""}`;
  if ((status === "completed" || status === "cancelled") !== (error == null)) fault(`status and done() differ: ${told}`);
  if (result.done && result.done.status !== status) fault(`done() says ${result.done.status}, the turn ${status}`);
  if (error && !goes(status, error)) fault(`an error that does not go with its status: ${told}`);
  const messages = of("messages");
  if (status === "cancelled" && plan.end !== "none" && messages.length > 0 && result.aborts?.some((abort) => !abort.error) && !of("abort").some(good)) {
    fault("abort() resolved, and no abort was answered well");
  }
  if (error?.classes.includes("APIError") && !messages.some((exchange) => exchange.status === error.status)) fault(`nobody answered ${error.status}`);
  const streams = messages.filter(good).map((exchange) => ({ exchange, ...read(exchange.bytes, exchange.whole) }));
  if (plan.replay) return judgeReplay(result, streams, fault);
  const told2 = streams.map((stream) => differs(plan, result, stream));
  if (streams.length === 0 && (status === "completed" || result.text || result.heard.length > 0)) fault(`${told}, and no stream was sent`);
  else if (streams.length > 0 && !told2.includes(undefined)) fault(`${told}: ${told2.at(-1)}`);
}

/** How a turn differs from what a stream said; undefined where it does not. */
function differs(plan, result, { exchange, events, end, data }) {
  const { status, error, heard, text, texts } = result;
  const all = joined(events, "text_delta");
  const to = (expected) => `the stream ends as "${end}" after ${events.length} events${exchange.whole ? "" : ", cut"}, not as "${expected}"`;
  const ends = { completed: "complete", TurnError: "error", event_not_json: "no event", event_too_long: "too long", stream_closed: "open" };
  const as = ends[status] ?? (error?.classes.includes("TurnError") ? ends.TurnError : error?.classes.includes("ProtocolError") || error?.code === "stream_closed" ? ends[error.code] : undefined);
  if (as && as !== end) return to(as);
  if (status === "completed" && !same(result.done.data, data)) return `its data is ${short(result.done.data)}, the stream's ${short(data)}`;
  if (error?.classes.includes("TurnError") && !error.data) return "a TurnError without data";
  for (const [i, event] of heard.entries()) {
    if (!events[i] || !same(event, events[i])) return `event ${i} was told as ${short(event)}, sent was ${short(events[i])}`;
  }
  const whole = as !== undefined;
  if (whole && (plan.follow === "listeners" || plan.follow === "onEvent") && heard.length !== events.length) return `${heard.length} events were told of ${events.length}`;
  if (whole ? text !== all : !all.startsWith(text)) return `the text is ${short(text)}, sent was ${short(all)}`;
  const why = joined(events, "reasoning_delta");
  if (whole ? result.reasoning !== why : !why.startsWith(result.reasoning)) return `the reasoning is ${short(result.reasoning)}, sent was ${short(why)}`;
  if (!events.map((event) => fragment(event, "text_delta")).join("").startsWith(texts.join(""))) return `the text stream gave ${short(texts)}`;
  return undefined;
}

/** Of a turn that was replayed: its beginning is from one stream, its end from the last. */
function judgeReplay({ status, text, error }, streams, fault) {
  if (status === "completed" && !streams.some(({ end }) => end === "complete")) fault("completed, and no stream said turn_complete");
  if (error?.classes.includes("TurnError") && !streams.some(({ end }) => end === "error")) fault("TurnError, and no stream said error");
  const texts = streams.map(({ events }) => joined(events, "text_delta"));
  const begins = (one, length) => one.startsWith(text.slice(0, length));
  const ends = (one, length) => one.includes(text.slice(text.length - length));
  const before = Math.max(0, ...texts.map((one) => longest(text.length, (length) => begins(one, length))));
  const after = Math.max(0, ...texts.map((one) => longest(text.length, (length) => ends(one, length))));
  if (before + after < text.length) fault(`the text of a replay is ${short(text)}, sent was ${short(texts)}`);
}

/** The greatest length, at most `most`, that fits, where all below one that fits do. */
function longest(most, fits) {
  let low = 0;
  for (let high = most; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
