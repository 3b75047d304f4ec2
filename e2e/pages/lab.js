// What the tests call inside the page, as `lab`.

import * as Turnwire from "/turnwire/turnwire.mjs";

const settings = { baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", maxRetries: 0 };

const client = (options) => new Turnwire.AgentClient({ ...settings, ...options });

/** A new chat of a new client. */
const chat = (options, params) => client(options).chats.create(params);

/** Options that ask the service for a fault. */
const fault = (spec, options) => ({ ...options, headers: { "X-Fault": spec } });

/** An error as data: its fields, and every class of the package that it is an instance of. */
function told(error) {
  if (!(error instanceof Error)) return { notAnError: String(error) };
  const classes = Object.keys(Turnwire).filter((name) => /Error$/.test(name) && error instanceof Turnwire[name]);
  return { ...error, name: error.name, message: error.message, classes };
}

const settled = (promise) => promise.then((value) => ({ value }), (error) => ({ error }));

/** What a call throws or rejects with, as data; undefined where it does neither. */
async function refusal(call) {
  try {
    await call();
  } catch (error) {
    return told(error);
  }
}

async function collect(stream, into, each) {
  for await (const value of stream) {
    into.push(value);
    each?.(value);
  }
}

/**
 * Follows a turn in every way at once and says what each way saw. A turn can be iterated once, so `by` chooses the
 * loop: "events" or "text". each is called with what the loop takes.
 */
async function follow(turn, by = "events", each) {
  const heard = [], taken = [];
  turn.on("event", (event) => heard.push(event));
  const end = new Promise((resolve) => turn.on("end", (ended) => resolve({ status: ended.status, same: ended === turn })));
  const [done, loop, ended] = await Promise.all([
    settled(turn.done()),
    settled(collect(by === "text" ? turn.textStream() : turn, taken, each)),
    end,
  ]);
  return {
    chat: turn.chatId, key: turn.idempotencyKey,
    status: turn.status, text: turn.text, reasoning: turn.reasoning, toolCalls: turn.toolCalls,
    result: done.value, error: done.error && told(done.error),
    end: ended, heard, taken,
    loopError: loop.error && told(loop.error), sameError: loop.error === done.error,
  };
}

globalThis.lab = { Turnwire, settings, client, chat, fault, told, settled, refusal, follow };
