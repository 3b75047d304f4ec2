// What is sent, beside options: messages, the data of uploads, the tickets that a page makes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clientConfig, segment, sendConfig } from "../src/validate.ts";
import { ticketJSON, uploadConfig } from "../src/validate-files.ts";

const client = clientConfig({ baseURL: "https://a.example/api", workspaceId: "w", headers: { a: "1" }, timeout: 7, maxRetries: 8 });
const parts = (message) => sendConfig(message, undefined, client).parts;
const invalid = (field) => ({ name: "InvalidArgumentError", message: new RegExp(`^${field.replace(/[[\].]/g, "\\$&")} must be `) });

for (const [what, message, expected] of [
  ["a text", "hello", '[{"type":"text","text":"hello"}]'],
  ["parts", [{ type: "text", text: "a" }, { type: "image", url: "x" }], '[{"type":"text","text":"a"},{"type":"image","url":"x"}]'],
  ["a part with members that nobody knows", [{ type: "text", text: "a", colour: "red" }], '[{"type":"text","text":"a","colour":"red"}]'],
]) {
  test(`a message: ${what}`, () => assert.equal(parts(message), expected));
}

for (const [what, message, field] of [
  ["nothing", undefined, "message"], ["an empty text", "", "message"], ["no parts", [], "message"], ["a number", 42, "message"], ["one part", { type: "text", text: "a" }, "message"],
  ["a text as a part", ["a"], "message[0]"], ["null as a part", [null], "message[0]"], ["a part without a type", [{ text: "a" }], "message[0]"],
  ["a part with a type that is no string", [{ type: 1 }], "message[0]"], ["a text part without text", [{ type: "text", text: "a" }, { type: "text" }], "message[1].text"],
  ["an empty text part", [{ type: "text", text: "" }], "message[0].text"], ["what JSON loses", [{ type: "image", data: new Blob() }], "message[0].data"],
]) {
  test(`no message: ${what}`, () => assert.throws(() => parts(message), invalid(field)));
}

test("each message has a key of its own", () => {
  assert.notEqual(sendConfig("a", undefined, client).key, sendConfig("a", undefined, client).key);
});

for (const [what, value, ok] of [
  ["a name", "chat_1", true], ["a slash, which is encoded later", "a/b", true], ["three dots", "...", true],
  ["one dot", ".", false], ["two dots", "..", false], ["nothing", undefined, false], ["an empty string", "", false], ["a number", 1, false], ["null", null, false],
]) {
  test(`a path segment: ${what}`, () => {
    if (ok) assert.equal(segment(value, "chatId", "given"), value);
    else assert.throws(() => segment(value, "chatId", "given"), invalid("chatId"));
  });
}

const stream = () => new ReadableStream();
const locked = stream();
locked.getReader();
const detached = new ArrayBuffer(4);
structuredClone(detached, { transfer: [detached] });

for (const [what, data, options, expected] of [
  ["a Blob", new Blob(["data"], { type: "text/x" }), {}, { size: 4, once: false, name: "upload", contentType: "text/x" }],
  ["a File", new File(["data"], "a.txt"), {}, { size: 4, once: false, name: "a.txt", contentType: "application/octet-stream" }],
  ["a File under another name and type", new File(["data"], "a.txt", { type: "a/b" }), { name: "b.txt", contentType: "c/d" }, { name: "b.txt", contentType: "c/d" }],
  ["a buffer", new ArrayBuffer(5), {}, { size: 5, once: false, name: "upload" }],
  ["a view", new Uint16Array(3), { size: 6 }, { size: 6 }],
  ["a stream", stream(), { size: 9 }, { size: 9, once: true }],
  ["a known sum", new Blob(), { checksum: "AB".repeat(32) }, { checksum: 3, knownSum: "ab".repeat(32) }],
  ["a sum that is asked for before", new Blob(), { checksum: "before" }, { checksum: 2, knownSum: "" }],
  ["a key to go on under", new Blob(), { resumeKey: "k" }, { resumeKey: "k", resumable: true, maps: false }],
  ["a ticket of the page's own", new Blob(), { mapUploadTicket() {} }, { resumable: false, maps: true }],
]) {
  test(`an upload of ${what}`, () => {
    const config = uploadConfig(data, options, client);
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, config[name]])), expected);
  });
}

for (const [what, data, options, field] of [
  ["nothing", undefined, {}, "data"], ["a string", "data", {}, "data"], ["an array", [1], {}, "data"], ["a response", new Response("x"), {}, "data"],
  ["a detached buffer", detached, {}, "data"], ["a locked stream", locked, { size: 1 }, "data"],
  ["a stream of no size", stream(), {}, "size"], ["a stream that would be read twice", stream(), { size: 1, checksum: "before" }, "checksum"],
  ["data of another size", new Blob(["data"]), { size: 5 }, "size"], ["an empty Blob of a size", new Blob(), { size: 1 }, "size"],
]) {
  test(`no upload: ${what}`, () => assert.throws(() => uploadConfig(data, options, client), invalid(field)));
}

test("a wait has what it does not say of its requests from its upload, and its own signal", () => {
  const [own, waits] = [new AbortController().signal, new AbortController().signal];
  const options = { signal: own, timeout: 1, maxRetries: 2, headers: { a: "1" } };
  const inherited = uploadConfig(new Blob(), { ...options, wait: true }, client);
  assert.deepEqual([inherited.wait.timeout, inherited.wait.maxRetries, inherited.wait.headers, inherited.waitSignal], [1, 2, [["a", "1"]], undefined]);
  const said = uploadConfig(new Blob(), { ...options, wait: { signal: waits, timeout: 3, maxRetries: 4, headers: { b: "2" } } }, client);
  assert.deepEqual([said.wait.timeout, said.wait.maxRetries, said.wait.headers], [3, 4, [["a", "1"], ["b", "2"]]]);
  assert.deepEqual([said.signal === own, said.waitSignal === waits, said.timeout, said.headers], [true, true, 1, [["a", "1"]]]);
});

const ticket = (more) => ({ fileId: "f", url: "https://store.example/x", ...more });
for (const [what, given, expected] of [
  ["an address", ticket(), { fileId: "f", url: "https://store.example/x", headers: {} }],
  ["an address relative to the service's", ticket({ url: "blocks/1" }), { fileId: "f", url: "blocks/1", headers: {} }],
  ["headers in any form", ticket({ headers: new Headers({ "X-A": "1" }) }), { fileId: "f", url: "https://store.example/x", headers: { "x-a": "1" } }],
  ["parts without an address", { fileId: "f", parts: [{ partNumber: 1, url: "/p" }], completeURL: "/c" }, { fileId: "f", parts: [{ partNumber: 1, url: "/p" }], completeURL: "/c", headers: {} }],
  ["what only the store knows", ticket({ extensions: ["concatenation"] }), { fileId: "f", url: "https://store.example/x", extensions: ["concatenation"], headers: {} }],
]) {
  test(`a ticket: ${what}`, () => assert.deepEqual(JSON.parse(ticketJSON(given, "https://a.example/api")), expected));
}

for (const [what, given, message] of [
  ["none", undefined, /^the ticket must be an object with fileId and url$/], ["null", null, /^the ticket must be .*, not null$/], ["a string", "https://store.example/", /^the ticket must be/],
  ["no file", { url: "/x" }, /^fileId must be/], ["no address", { fileId: "f" }, /^url must be/], ["another scheme", ticket({ url: "ftp://store.example/" }), /^url must be/],
  ["parts and no end", { fileId: "f", parts: [] }, /^url must be/], ["a bad end", ticket({ completeURL: "" }), /^completeURL must be/],
  ["parts that are none", ticket({ parts: {} }), /^parts must be/], ["a part without a number", ticket({ parts: [{ url: "/p" }] }), /^parts must be/],
  ["null as a part", ticket({ parts: [null] }), /^parts must be/], ["a part of another scheme", ticket({ parts: [{ partNumber: 1, url: "data:," }] }), /^parts must be/],
  ["bad headers", ticket({ headers: "a: b" }), /^headers must be/],
]) {
  test(`no ticket: ${what}`, () => assert.throws(() => ticketJSON(given, "https://a.example/api"), { message }));
}
