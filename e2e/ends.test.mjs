// Every row of the profile's table "The end of a turn", and what cancelling does at the service. Each row is told by
// the status, done(), the end event, the listeners and the loop, and they have to agree.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { engine } from "./support/engines.mjs";

const check = testbed({ flags: ["-pace", "2ms"] });

/**
 * A row: `message` sent under `fault`, and `act`, what the page does at the first event of a type: [type, method].
 * `error` is the class that done() rejects with, or none; `at` is where the text has to stand (after a reset connection
 * the browser may drop what had arrived), `service` and `aborts` are what the service recorded.
 */
const rows = [
  { name: "turn_complete", message: "count to 5", status: "completed", at: /^1 2 3 4 5$/, service: "completed" },
  { name: "turn_complete under the event encoding", message: "count to 5", fault: "encoding=event", status: "completed", at: /^1 2 3 4 5$/ },
  { name: "turn_complete without its last blank line", message: "count to 5", fault: "no_last_blank=1", status: "completed", at: /^1 2 3 4 5$/ },
  { name: "turn_complete, then [DONE]", message: "count to 5", fault: "done_marker=1", status: "completed", at: /^1 2 3 4 5$/ },
  { name: "abort()", message: "count to 100000", act: ["text_delta", "abort"], status: "cancelled", at: /^1( |$)/, service: "cancelled", aborts: 1 },
  { name: "an AbortSignal", message: "count to 100000", act: ["text_delta", "signal"], status: "cancelled", at: /^1( |$)/, service: "cancelled", aborts: 1 },
  { name: "abort() in a chunk that held turn_complete too", message: "count to 5", fault: "one_chunk=1", act: ["text_delta", "abort"], status: "cancelled", at: /^1$/ },
  { name: "abort() once turn_complete was delivered", message: "count to 5", act: ["turn_complete", "abort"], status: "completed", at: /^1 2 3 4 5$/, service: "completed", aborts: 0 },
  { name: "an AbortSignal once turn_complete was delivered", message: "count to 5", act: ["turn_complete", "signal"], status: "completed", at: /^1 2 3 4 5$/, service: "completed", aborts: 0 },
  {
    name: "an error event", message: "count to 100000", fault: "error_events=5", status: "failed", at: /^1 2$/, service: "failed",
    error: "TurnError", code: "model_overloaded", data: { code: "model_overloaded", message: "the model is overloaded, try again later" },
  },
  { name: "abort() once an error event was delivered", message: "count to 100000", fault: "error_events=5", act: ["error", "abort"], status: "failed", at: /^1 2$/, error: "TurnError", code: "model_overloaded", aborts: 0 },
  { name: "a clean close", message: "count to 5", fault: "close_events=5", status: "interrupted", at: /^1 2$/, error: "ConnectionError", code: "stream_closed", retryable: true, service: "completed" },
  { name: "a clean close before any event", message: "count to 5", fault: "close_events=0", status: "interrupted", at: /^$/, error: "ConnectionError", code: "stream_closed", retryable: true },
  { name: "a cut between events", message: "count to 100000", fault: "cut_events=5", status: "interrupted", at: /^(1( 2)?)?$/, error: "ConnectionError", code: "stream_broken", retryable: true },
  { name: "a cut inside an event", message: "count to 100000", fault: "cut_bytes=450", status: "interrupted", at: /^(1( \d+)*)?$/, error: "ConnectionError", code: "stream_broken", retryable: true },
  { name: "a cut inside a character", message: "write 300 words", fault: "cut_bytes=1801", status: "interrupted", at: /^(The stream [^\uFFFD]*)?$/, error: "ConnectionError", code: "stream_broken", retryable: true },
  { name: "a stall", message: "count to 5", fault: "stall_events=5", options: { idleTimeout: 250 }, status: "interrupted", at: /^1 2$/, error: "TimeoutError", code: "idle_timeout", retryable: true, service: "completed" },
  // Firefox gives a page an answer only with its first byte.
  ...(engine === "firefox"
    ? [{ name: "a stall before any event", message: "count to 5", fault: "stall_events=0", options: { timeout: 250 }, status: "interrupted", at: /^$/, error: "TimeoutError", code: "response_timeout", retryable: true }]
    : [{ name: "a stall before any event", message: "count to 5", fault: "stall_events=0", options: { idleTimeout: 250 }, status: "interrupted", at: /^$/, error: "TimeoutError", code: "idle_timeout", retryable: true }]),
  { name: "an event that is no JSON", message: "count to 5", fault: "broken_json=6", status: "interrupted", at: /^1 2$/, error: "ProtocolError", code: "event_not_json", retryable: false },
  { name: "an answer that is no event stream", message: "count to 5", fault: "content_type=text/html", status: "interrupted", at: /^$/, error: "ProtocolError", code: "not_an_event_stream", retryable: false },
  { name: "no answer in time", message: "count to 5", fault: "delay_ms=600000", options: { timeout: 250 }, status: "interrupted", at: /^$/, error: "TimeoutError", code: "response_timeout", retryable: true },
  { name: "no connection", message: "count to 5", fault: "refuse=1", status: "interrupted", at: /^$/, error: "ConnectionError", code: "connection_failed", retryable: true },
  { name: "401", message: "count to 5", client: { apiKey: "wrong-key" }, status: "failed", at: /^$/, error: "AuthenticationError", http: 401, code: "invalid_api_key", retryable: false },
  { name: "403", message: "count to 5", fault: "status=403", status: "failed", at: /^$/, error: "AuthenticationError", http: 403, code: "fault", retryable: false },
  { name: "404", message: "count to 5", chat: "chat_unknown", status: "failed", at: /^$/, error: "NotFoundError", http: 404, code: "chat_not_found", retryable: false },
  { name: "409", message: "count to 5", during: "count to 100000", status: "failed", at: /^$/, error: "ConflictError", http: 409, code: "turn_in_progress", retryable: false },
  { name: "429", message: "count to 5", fault: "status=429&retry_after=7", status: "failed", at: /^$/, error: "RateLimitError", http: 429, code: "fault", retryable: true, retryAfter: 7_000 },
  { name: "500", message: "count to 5", fault: "status=500", status: "failed", at: /^$/, error: "APIError", http: 500, code: "fault", retryable: true },
  { name: "503 with a page for a body", message: "count to 5", fault: "status=503&error_body=html", status: "failed", at: /^$/, error: "APIError", http: 503, code: "server_error", retryable: true },
  { name: "502 without a body", message: "count to 5", fault: "status=502&error_body=empty", status: "failed", at: /^$/, error: "APIError", http: 502, code: "server_error", retryable: true },
];

const apiErrors = ["AuthenticationError", "NotFoundError", "ConflictError", "RateLimitError"];

/** The classes that an error of this one is an instance of. */
function classesOf(name) {
  return name === "APIError" ? ["APIError", "AgentError"] : apiErrors.includes(name) ? ["APIError", "AgentError", name].sort() : ["AgentError", name].sort();
}

async function play(page, row, by) {
  return page.evaluate(async (row, by) => {
    const first = await lab.chat();
    const client = row.client ? lab.client(row.client) : undefined;
    const chat = client || row.chat ? (client ?? lab.client()).chats.open(row.chat ?? first.id) : first;
    const running = row.during && first.send(row.during);
    if (running) await new Promise((resolve) => running.on("reasoning_delta", resolve));

    const cancel = new AbortController();
    const turn = chat.send(row.message, { ...row.options, signal: cancel.signal, ...(row.fault && { headers: { "X-Fault": row.fault } }) });
    const [type, how] = row.act ?? [];
    let acted;
    const abort = how && ((event) => {
      turn.off(type, abort);
      if (how === "abort") acted = turn.abort();
      else cancel.abort();
    });
    if (abort) turn.on(type, abort);
    const seen = await lab.follow(turn, by);
    await acted;
    if (running) await running.abort();
    return seen;
  }, row, by);
}

for (const row of rows) {
  check(`${row.name}: ${row.status}`, async ({ page, service }) => {
    for (const by of ["events", "text"]) {
      const seen = await play(page, row, by);
      assert.equal(seen.status, row.status);
      assert.deepEqual(seen.end, { status: row.status, same: true });
      assert.match(seen.text, row.at);
      const heard = seen.heard.filter((event) => event.type === "text_delta").map((event) => event.data.chunk).join("");
      assert.equal(heard, seen.text, "the listeners saw the text that the turn shows");

      if (row.error) {
        assert.equal(seen.error?.name, row.error, JSON.stringify(seen.error));
        assert.deepEqual(seen.error.classes.sort(), classesOf(row.error));
        assert.equal(seen.error.code, row.code);
        assert.ok(seen.sameError, "the loop rejects with the very error of done()");
        if (row.retryable !== undefined) assert.equal(seen.error.retryable, row.retryable);
        if (row.data) assert.deepEqual(seen.error.data, row.data);
        if (row.http) {
          assert.equal(seen.error.status, row.http);
          assert.match(seen.error.requestId, /^req_/);
          assert.equal(seen.error.retryAfter, row.retryAfter);
        } else {
          const { text, reasoning, toolCalls } = seen;
          assert.deepEqual(seen.error.partial, { text, reasoning, toolCalls }, "the error carries what came");
        }
      } else {
        assert.equal(seen.error, undefined, JSON.stringify(seen.error));
        assert.equal(seen.loopError, undefined);
        assert.equal(seen.result.status, row.status);
        assert.equal(seen.result.text, seen.text);
        assert.equal(seen.result.reasoning, seen.reasoning);
        if (row.status === "completed") assert.match(seen.result.data.turn_id, /^turn_/);
      }
      // A cancelled loop ends at once, whatever was still to be taken.
      if (row.status !== "cancelled") {
        assert.deepEqual(seen.taken, by === "text" ? heardText(seen) : seen.heard, "the loop took what the listeners heard");
      }
      if (row.service || row.aborts !== undefined) {
        const record = await service.over(seen.chat);
        if (row.service) assert.equal(record.status, row.service);
        if (row.aborts !== undefined) assert.equal(record.aborts, row.aborts);
      }
    }
  });
}

const heardText = (seen) => seen.heard.filter((event) => event.type === "text_delta").map((event) => event.data.chunk);
