import type { ClientOptions, CreateChatParams, HeadersOption, Part, RequestOptions, SendOptions } from "turnwire";
import { tagOf } from "./byte-reader.ts";
import type { Header } from "./contract.ts";
import { invalid } from "./invalid.ts";
import { lossless } from "./lossless.ts";

// Options are checked here and nowhere else: a call may come before the module is loaded, and what is wrong is said
// before anything is sent.

export function object<T extends object>(value: T | undefined, field: string): Partial<T> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(field, "an object", value);
  return value;
}

export function optional<T>(value: T | undefined, field: string, expected: string, ok: (value: T) => boolean): T | undefined {
  if (value !== undefined && !ok(value)) throw invalid(field, expected, value);
  return value;
}

export const isString = (value: unknown): boolean => typeof value === "string" && value !== "";
export const isFunction = (value: unknown): boolean => typeof value === "function";

/** A path segment. "." and ".." would name another path, whatever their encoding (URL standard, path state). */
export function segment(value: string | undefined, field: string, missing: string): string {
  if (value === undefined) throw invalid(field, missing);
  if (!isString(value)) throw invalid(field, "a non-empty string", value);
  if (value === "." || value === "..") throw invalid(field, `an identifier, not "${value}"`);
  return value;
}

/** Whole milliseconds, as the module counts them: 0.9 is no "none", and nobody lives to see the longest. */
export const whole = (ms: number | undefined): number | undefined => ms && Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER);

export const milliseconds = (value: number | undefined, field: string): number | undefined =>
  whole(optional(value, field, "a number of milliseconds, 0 or more (0: no limit)", (n) => typeof n === "number" && n >= 0 && n < Infinity));

const tries = (value: number | undefined, field: string): number | undefined =>
  optional(value, field, "a whole number, 0 or more", (n) => Number.isInteger(n) && n >= 0);

/** Headers, each name once. */
export function headers(value: HeadersOption | undefined, field: string): Header[] {
  if (value === undefined) return [];
  const found = new Map<string, [string, string]>();
  try {
    for (const pair of pairs(value)) {
      if (!Array.isArray(pair) || pair.length !== 2 || !pair.every((part) => typeof part === "string")) throw new TypeError("no pair");
      const [name, text] = pair as [string, string];
      const before = found.get(name.toLowerCase());
      // Fetch standard, "combine": the module would send the last one alone.
      found.set(name.toLowerCase(), before ? [before[0], `${before[1]}, ${text}`] : [name, text]);
    }
    new Headers([...found.values()]);
  } catch {
    // Not in the platform's words, which do not name the option.
    throw invalid(field, "an object, Headers, a Map or an array of pairs, with header names and string values that HTTP allows");
  }
  return [...found.values()];
}

/** The names and values of headers, in whichever form they are. An object of another class may hide its own. */
function pairs(value: HeadersOption): Iterable<unknown> {
  if (Array.isArray(value) || /^(Headers|Map)$/.test(tagOf(value))) return value as Iterable<unknown>;
  if (isPlain(value)) return Object.entries(value);
  throw new TypeError("no headers");
}

/** Made by {}, Object.create(null) or JSON.parse, in this frame or another one. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (tagOf(value) !== "Object") return false;
  const parent = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}

/** A client's options as the module takes them. */
export interface ClientConfig {
  base: string;
  key: string;
  keyFunc: (() => string | Promise<string>) | undefined;
  headers: Header[];
  credentials: RequestCredentials;
  fetch: typeof fetch | undefined;
  onLog: ClientOptions["onLog"];
  pageHide: "abort" | "disconnect";
  workspaceId: string | undefined;
  agentId: string | undefined;
  defaults: { maxRetries: number; timeout: number; idleTimeout: number };
}

export function clientConfig(options: ClientOptions): ClientConfig {
  if (typeof options !== "object" || options === null) throw invalid("options", "an object with baseURL", options);
  const { apiKey } = options;
  optional(apiKey, "apiKey", "a non-empty string or a function that gives one", (key) => isFunction(key) || isString(key));
  if (typeof apiKey === "string" && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid("apiKey", "of visible ASCII characters, without spaces or line ends");
  }
  return {
    base: base(options.baseURL),
    key: typeof apiKey === "string" ? apiKey : "",
    keyFunc: typeof apiKey === "function" ? apiKey : undefined,
    headers: headers(options.headers, "headers"),
    credentials: optional(options.credentials, "credentials", '"omit", "same-origin" or "include"', (c) =>
      ["omit", "same-origin", "include"].includes(c)) ?? "same-origin",
    fetch: optional(options.fetch, "fetch", "a function", isFunction),
    onLog: optional(options.onLog, "onLog", "a function", isFunction),
    pageHide: optional(options.pageHide, "pageHide", '"abort" or "disconnect"', (p) => ["abort", "disconnect"].includes(p)) ?? "abort",
    workspaceId: optional(options.workspaceId, "workspaceId", "a non-empty string", isString),
    agentId: optional(options.agentId, "agentId", "a non-empty string", isString),
    defaults: {
      maxRetries: tries(options.maxRetries, "maxRetries") ?? 2,
      timeout: milliseconds(options.timeout, "timeout") ?? 60_000,
      idleTimeout: milliseconds(options.idleTimeout, "idleTimeout") ?? 120_000,
    },
  };
}

function base(value: string | URL): string {
  const expected = "an http(s) address, absolute or relative to the page, without query, fragment or password";
  if (!isString(value) && tagOf(value) !== "URL") throw invalid("baseURL", expected, value);
  // On a server there is no page to be relative to, and no request is sent either.
  const page = typeof document === "undefined" ? (typeof location === "undefined" ? "http://localhost/" : location.href) : document.baseURI;
  let url: URL;
  try {
    url = new URL(value, page);
  } catch {
    throw invalid("baseURL", expected, value);
  }
  if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) throw invalid("baseURL", expected);
  return url.href.replace(/\/+$/, "");
}

/** A request's options as the module takes them, and its signal. */
export interface RequestConfig {
  headers: Header[];
  maxRetries: number;
  timeout: number;
  signal: AbortSignal | undefined;
}

export function requestConfig(options: RequestOptions | undefined, { defaults }: ClientConfig): RequestConfig {
  const o = object(options, "options");
  return {
    headers: headers(o.headers, "headers"),
    maxRetries: tries(o.maxRetries, "maxRetries") ?? defaults.maxRetries,
    timeout: milliseconds(o.timeout, "timeout") ?? defaults.timeout,
    signal: optional(o.signal, "signal", "an AbortSignal", (s) => typeof s?.aborted === "boolean" && isFunction(s.addEventListener)),
  };
}

export interface SendConfig extends RequestConfig {
  parts: string;
  model: string;
  key: string;
  idleTimeout: number;
  replay: boolean;
  onEvent: SendOptions["onEvent"];
}

export function sendConfig(message: string | Part[], options: SendOptions | undefined, config: ClientConfig): SendConfig {
  const o = object(options, "options");
  const key = optional(o.idempotencyKey, "idempotencyKey", "a non-empty string of visible ASCII characters", (k) =>
    typeof k === "string" && /^[\x21-\x7e]+$/.test(k));
  return {
    ...requestConfig(o, config),
    parts: parts(message),
    model: optional(o.model, "model", "a non-empty string", isString) ?? "",
    key: key ?? uuid(),
    idleTimeout: milliseconds(o.idleTimeout, "idleTimeout") ?? config.defaults.idleTimeout,
    replay: optional(o.resume, "resume", '"never" or "replay"', (r) => ["never", "replay"].includes(r)) === "replay",
    onEvent: optional(o.onEvent, "onEvent", "a function", isFunction),
  };
}

/** Part types that this version does not know are passed through as they are. */
function parts(message: string | Part[]): string {
  if (typeof message === "string") {
    if (message === "") throw invalid("message", "a non-empty string or an array of parts", message);
    return JSON.stringify([{ type: "text", text: message }]);
  }
  if (!Array.isArray(message) || message.length === 0) throw invalid("message", "a non-empty string or a non-empty array of parts", message);
  const list = lossless(message, "message") as Part[];
  list.forEach((part: Part, i) => {
    if (typeof part !== "object" || part === null || !isString(part.type)) throw invalid(`message[${i}]`, "an object with a string type", part);
    if (part.type === "text" && !isString(part.text)) throw invalid(`message[${i}].text`, "a non-empty string", part.text);
  });
  return JSON.stringify(list);
}

export function createParams(params: CreateChatParams | undefined, config: ClientConfig): { workspaceId: string; agentId: string; isTemporary: boolean | undefined } {
  const p = object(params, "params");
  const { agentId = config.agentId, workspaceId = config.workspaceId } = p;
  if (!isString(agentId)) throw invalid("agentId", "given as a non-empty string, here or in the client's options", agentId);
  return {
    workspaceId: segment(workspaceId, "workspaceId", "given, here or in the client's options"),
    agentId: agentId!,
    isTemporary: optional(p.isTemporary, "isTemporary", "true or false", (t) => typeof t === "boolean"),
  };
}

/** A UUID v4 (RFC 9562, section 5.4). crypto.randomUUID is missing where a page is not served securely. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
