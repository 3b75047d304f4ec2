// Every option of every call: what it takes, what it makes of it, what it refuses, and what is used without it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { clientConfig, createParams, initConfig, requestConfig, sendConfig } from "../src/validate.ts";
import { uploadConfig, waitConfig } from "../src/validate-files.ts";

const values = {
  undefined, null: null, true: true, false: false, 0: 0, 1: 1, "-1": -1, 0.9: 0.9, 1.5: 1.5, NaN, Infinity, "the largest number": Number.MAX_VALUE,
  "an empty string": "", "a string": "text", ".": ".", "a string with a space": "a b", "an umlaut": "ü", "a line end": "a\n",
  "an array": [], "an object": {}, "a function": () => {}, "a symbol": Symbol("s"), "a promise": Promise.resolve(), "a Blob": new Blob(),
};
const named = (...names) => names.map((name) => {
  assert.ok(name in values, name);
  return [name, values[name]];
});
const notStrings = named("null", "true", "1", "an array", "an object", "a function", "a symbol");
const notFunctions = named("null", "true", "1", "a string", "an object", "an array");
const notNumbers = named("null", "true", "NaN", "-1", "an empty string", "a string", "an array", "an object", "a function", "a symbol");

const one = (value) => [[value, value]];
const texts = { good: one("text"), bad: [...notStrings, ...named("an empty string")] };
const functions = { good: one(values["a function"]), bad: notFunctions };
const limits = {
  good: [[0, 0], [0.9, 1], [1.5, 2], [1000, 1000], [Number.MAX_VALUE, Number.MAX_SAFE_INTEGER]],
  bad: [...notNumbers, ...named("Infinity")],
};
const times = { good: limits.good.slice(1), bad: [...limits.bad, ...named("0")] };
const tries = { good: [[0, 0], [3, 3]], bad: [...notNumbers, ...named("Infinity", "0.9", "1.5")] };
const counts = (least) => ({
  good: [[least, least], [100, 100]],
  bad: [...notNumbers, ...named("Infinity", "1.5", "the largest number"), ...(least > 0 ? named("0") : [])],
});
const choice = (...good) => ({ good: good.map((value) => [value, value]), bad: [...notStrings, ...named("an empty string", "a string")] });
const headers = { good: [[{ a: "b" }, [["a", "b"]]], [new Map([["a", "b"]]), [["a", "b"]]]], bad: named("null", "1", "a string", "true", "a function", "a promise") };

const signal = new AbortController().signal;
const likeSignal = { aborted: true, addEventListener() {} };
const signals = { good: [...one(signal), ...one(likeSignal)], bad: [...named("null", "true", "1", "a string", "an object", "an array"), ["half a signal", { aborted: true }]] };

const request = {
  signal: signals,
  timeout: { ...limits, otherwise: 7 },
  maxRetries: { ...tries, otherwise: 8 },
  headers: { ...headers, otherwise: [] },
};

const client = clientConfig({ baseURL: "https://a.example/api", workspaceId: "w", agentId: "a", timeout: 7, maxRetries: 8, idleTimeout: 9 });
const module = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
const sum = "0123456789abcdefABCDEF".padEnd(64, "0");
const data = new Blob(["data"]);

/** Of each call: how an option is read, and of each option what it takes, refuses, and is without a value; at: under which name it is used. */
const calls = {
  "new AgentClient": {
    read: (options = {}) => {
      if (!("baseURL" in options)) options.baseURL = "/";
      return clientConfig(options);
    },
    options: {
      baseURL: {
        good: [
          ["/", "http://localhost"], ["/api/", "http://localhost/api"], ["https://a.example", "https://a.example"], ["https://a.example/v2//", "https://a.example/v2"],
          [new URL("http://a.example:8080/x"), "http://a.example:8080/x"], [runInNewContext("new URL('https://a.example/')", { URL }), "https://a.example"],
        ],
        bad: [
          ...notStrings, ...named("undefined", "an empty string"),
          ["another scheme", "ftp://a.example/"], ["no address", "http://"], ["a query", "https://a.example/?a"], ["a fragment", "https://a.example/#a"],
          ["a user", "https://me@a.example/"], ["a password", "https://:p@a.example/"],
        ],
        at: "base", required: true,
      },
      apiKey: {
        good: one("key/+="), at: "key", otherwise: "",
        bad: [...named("null", "true", "1", "an empty string", "an object", "a string with a space", "an umlaut", "a line end")],
      },
      workspaceId: texts,
      agentId: texts,
      headers: { ...headers, otherwise: [] },
      credentials: { ...choice("omit", "same-origin", "include"), otherwise: "same-origin" },
      maxRetries: { ...tries, otherwise: 2 },
      timeout: { ...limits, otherwise: 60_000 },
      idleTimeout: { ...limits, otherwise: 120_000 },
      pageHide: { ...choice("abort", "disconnect"), otherwise: "abort" },
      fetch: functions,
      onLog: functions,
    },
  },
  init: {
    read: initConfig,
    options: {
      wasmURL: { good: [["/x.wasm", "/x.wasm"], [new URL("https://a.example/x"), "https://a.example/x"], ["", ""]], bad: named("null", "true", "false", "1", "an object", "a function") },
      runtimeURL: { good: [["/x.wasm", "/x.wasm"], [new URL("https://a.example/x"), "https://a.example/x"], ["", ""]], bad: named("null", "true", "false", "1", "an object", "a function") },
      wasmModule: { good: one(module), bad: [...named("null", "true", "a string", "an object", "a promise"), ["bytes", new Uint8Array(8)]] },
      workerURL: { good: [["/x.mjs", "/x.mjs"], [new URL("https://a.example/x"), "https://a.example/x"], [false, false]], bad: named("null", "true", "1", "an object", "a function") },
    },
  },
  "a request": { read: (options) => requestConfig(options, client), options: request },
  "chats.create": {
    read: (params) => createParams(params, client),
    options: {
      workspaceId: { ...texts, bad: [...texts.bad, ...named(".")], otherwise: "w" },
      agentId: { ...texts, otherwise: "a" },
      isTemporary: { good: [...one(true), ...one(false)], bad: named("null", "1", "0", "a string", "an empty string", "an object") },
    },
  },
  "chat.send": {
    read: (options) => sendConfig("hello", options, client),
    options: {
      ...request,
      model: { ...texts, otherwise: "" },
      idempotencyKey: { good: one("key!~"), bad: [...texts.bad, ...named("a string with a space", "an umlaut", "a line end")], at: "key", otherwise: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/ },
      idleTimeout: { ...limits, otherwise: 9 },
      resume: { ...choice(), good: [["never", false], ["replay", true]], at: "replay", otherwise: false },
      onEvent: functions,
    },
  },
  "files.wait": {
    read: (options) => waitConfig(options, client),
    options: {
      ...request,
      interval: { ...times, otherwise: 1_000 },
      maxInterval: { ...times, otherwise: 5_000 },
      waitTimeout: { ...limits, otherwise: 600_000 },
      onStatus: functions,
    },
  },
  "files.upload": {
    read: (options) => uploadConfig(data, options, client),
    options: {
      ...request,
      workspaceId: { ...texts, bad: [...texts.bad, ...named(".")], otherwise: "w" },
      name: { ...texts, otherwise: "upload" },
      contentType: { good: one("text/plain; a=b"), bad: [...texts.bad, ...named("an umlaut", "a line end")], otherwise: "application/octet-stream" },
      purpose: { ...texts, otherwise: "" },
      size: { ...counts(0), good: one(4), bad: [...counts(0).bad, ["another than the data's", 5]], otherwise: 4 },
      blockSize: { ...counts(1), otherwise: 0 },
      concurrency: { ...counts(1), otherwise: 4 },
      blockTries: { ...counts(1), otherwise: 4 },
      blockTimeout: { ...limits, otherwise: 60_000 },
      dataTimeout: { ...limits, otherwise: 120_000 },
      reportTimeout: { ...limits, otherwise: 300_000 },
      checksum: {
        good: [[false, 0], [true, 1], ["before", 2], [sum, 3]], otherwise: 1,
        bad: [...named("null", "1", "an empty string", "a string", "an array", "an object"), ["63 digits", sum.slice(1)], ["65 digits", `${sum}0`], ["other digits", `g${sum.slice(1)}`]],
      },
      checksumEncoding: { ...choice(), good: [["hex", false], ["base64", true]], at: "base64", otherwise: false },
      wait: {
        good: [[false, undefined], [true, { timeout: 7, maxRetries: 8, headers: [], interval: 1_000, maxInterval: 5_000, waitTimeout: 600_000 }]],
        bad: named("null", "1", "0", "a string", "an empty string", "an array", "a function"),
      },
      onProgress: functions,
      mapUploadTicket: functions,
      resumeKey: texts,
    },
  },
  "files.upload({ wait })": {
    read: (wait = {}) => {
      const { wait: used, waitSignal, onStatus } = uploadConfig(data, { wait }, client);
      return { ...used, signal: waitSignal, onStatus };
    },
    options: {
      ...request,
      interval: { ...times, otherwise: 1_000 },
      maxInterval: { ...times, otherwise: 5_000 },
      waitTimeout: { ...limits, otherwise: 600_000 },
      onStatus: functions,
    },
  },
};

const refused = (field) => ({ name: "InvalidArgumentError", code: "invalid_argument", retryable: false, message: new RegExp(`^${field} must be `) });

for (const [call, { read, options }] of Object.entries(calls)) {
  describe(call, () => {
    for (const [name, { good, bad, otherwise, at = name, required }] of Object.entries(options)) {
      for (const [given, used] of good) {
        test(`${name}: ${String(typeof given === "object" ? given.constructor?.name ?? "an object" : given).slice(0, 40)}`, () => {
          assert.deepEqual(read({ [name]: given })[at], used);
          assert.deepEqual(read(Object.create({ [name]: given }))[at], used, "inherited");
        });
      }
      for (const [what, value] of bad) test(`${name}: ${what} is refused`, () => assert.throws(() => read({ [name]: value }), refused(name)));
      if (required) continue;
      test(`${name}: without a value`, () => {
        for (const without of [{}, undefined, { [name]: undefined }]) {
          const used = read(without)[at];
          if (otherwise instanceof RegExp) assert.match(used, otherwise);
          else assert.deepEqual(used, otherwise);
        }
      });
    }

    for (const name of Object.keys(options)) {
      const near = [name.toUpperCase(), `${name}s`, name.slice(1), `x${name.slice(1)}`, `${name[1]}${name[0]}${name.slice(2)}`, name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)];
      for (const misspelt of new Set(near.filter((misspelt) => !(misspelt in options)))) {
        test(`${misspelt} is refused, as ${name}`, () => assert.throws(() => read({ [misspelt]: 1 }), { ...refused(misspelt), message: new RegExp(`^${misspelt} must be left out, .* did you mean ${name}\\?$`) }));
      }
    }
    test("a name that is near to none is refused, with all that there are", () => {
      const all = Object.keys(options).join(", ");
      for (const name of ["colour scheme", "constructor", "__proto__x", "0"]) {
        assert.throws(() => read({ [name]: 1 }), { message: `${name} must be left out, for there is no such option: there are ${all}` });
      }
    });
    test("a name without a value, an inherited one and a symbol are let through", () => {
      read({ colour: undefined });
      read(Object.create({ colour: "red" }));
      read({ [Symbol("colour")]: "red" });
      read(Object.defineProperty({}, "colour", { value: "red", enumerable: false }));
    });
  });
}

for (const [what, read, field] of [
  ["the client's", clientConfig, "options"], ["init's", initConfig, "options"], ["a message's", (options) => sendConfig("hello", options, client), "options"],
  ["a chat's", (params) => createParams(params, client), "params"], ["a wait's", (options) => waitConfig(options, client), "options"],
  ["an upload's", (options) => uploadConfig(data, options, client), "options"],
]) {
  test(`${what} options have to be an object`, () => {
    for (const [name, value] of named("null", "true", "1", "a string", "an array", "a function")) assert.throws(() => read(value), refused(field), name);
  });
}

test("the client's options have to be given", () => assert.throws(() => clientConfig(), { message: "options must be an object with baseURL" }));

test("each option is read once", () => {
  const reads = {};
  const options = new Proxy({ resume: "never", timeout: 5 }, { get: (target, name) => (reads[name] = (reads[name] ?? 0) + 1, target[name]) });
  sendConfig("hello", options, client);
  assert.deepEqual(Object.entries(reads).filter(([, count]) => count !== 1), []);
});

test("a class may have its options as accessors, and what it likes beside them", () => {
  class Settings {
    #limit = 5;
    get timeout() { return this.#limit; }
    describe() {}
  }
  assert.equal(requestConfig(new Settings(), client).timeout, 5);
});

test("a message is never quoted, nor is a key", () => {
  for (const call of [() => clientConfig({ baseURL: "/", apiKey: "secret key" }), () => clientConfig("secret key"), () => sendConfig([{ type: "text", text: ["secret key"] }], {}, client)]) {
    assert.throws(call, ({ message }) => !message.includes("secret"));
  }
});

test("a function that gives the key is kept apart from a key", () => {
  const apiKey = () => "key";
  const { key, keyFunc } = clientConfig({ baseURL: "/", apiKey });
  assert.deepEqual([key, keyFunc], ["", apiKey]);
});

test("an address is relative to the document", (t) => {
  globalThis.document = { baseURI: "https://page.example/app/index.html" };
  t.after(() => delete globalThis.document);
  assert.equal(clientConfig({ baseURL: "../api/" }).base, "https://page.example/api");
});

test("a workspace and an agent have to be named, by the call or by the client", () => {
  const bare = clientConfig({ baseURL: "/" });
  assert.throws(() => createParams({ agentId: "a" }, bare), { message: "workspaceId must be given, here or in the client's options" });
  assert.throws(() => createParams({ workspaceId: "w" }, bare), { message: "agentId must be given as a non-empty string, here or in the client's options" });
  assert.throws(() => uploadConfig(data, {}, bare), { message: "workspaceId must be given, here or in the client's options" });
  assert.deepEqual(createParams({ workspaceId: "w", agentId: "a" }, bare), { workspaceId: "w", agentId: "a", isTemporary: undefined });
});
