import { expect, test } from "vitest";
import { ask } from "./ask.js";

const answer = [
  { type: "text_delta", data: { chunk: "It is " } },
  { type: "text_delta", data: { chunk: "42." } },
  { type: "turn_complete", data: {} },
].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

/** A service that knows one answer. */
async function fetch(url) {
  if (String(url).endsWith("/chats")) return Response.json({ chat_id: "1" });
  return new Response(answer, { headers: { "content-type": "text/event-stream" } });
}

test("the answer is put together", async () => {
  expect(await ask("What is 6 times 7?", { fetch })).toBe("It is 42.");
});

test("the reference service knows it too", async () => {
  expect(await ask("What is 6 times 7?")).toMatch("42");
});
