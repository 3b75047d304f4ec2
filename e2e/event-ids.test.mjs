// Event ids beyond Latin-1: a turn with resume: "replay" names the last one in its UTF-8 bytes, as EventSource does.

import assert from "node:assert/strict";
import { testbed } from "./support/bed.mjs";
import { Scripted } from "./support/scripted.mjs";

const check = testbed();

const frame = (event, id) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;

for (const id of ["日本-3", "é-3", "🦊3", "\u0080\u009f\u00ff\u0100", "a,b;c=\"3\"", "İ ẞ ﬁ"]) {
  check(`the id ${JSON.stringify(id)}`, async ({ page, t }) => {
    const events = ["1", " 2", " 3", " 4"].map((chunk) => ({ type: "text_delta", data: { chunk } }));
    const complete = { type: "turn_complete", data: {} };
    const ids = ["first", "second", id, "last"];
    const service = await Scripted.start((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const from = request.headers["last-event-id"] === undefined ? 0 : 3;
      const frames = events.map((event, i) => frame(event, ids[i])).slice(from, from === 0 ? 3 : undefined);
      response.end(frames.join("") + (from === 0 ? "" : frame(complete, "complete")));
    });
    t.after(() => service.close());
    const seen = await page.evaluate((baseURL) => lab.follow(lab.client({ baseURL, maxRetries: 1 }).chats.open("c1").send("go", { resume: "replay" })), service.origin);
    assert.deepEqual([seen.error, seen.status, seen.text], [undefined, "completed", "1 2 3 4"]);
    assert.deepEqual(seen.taken.map((event) => event.id), [...ids, "complete"]);
    assert.equal(service.requests.length, 2);
    // Node gives a header's bytes as Latin-1.
    assert.equal(Buffer.from(service.requests[1].headers["last-event-id"], "latin1").toString("utf8"), id);
  });
}
