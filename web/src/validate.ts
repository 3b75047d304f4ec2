import type { ClientOptions, CreateChatParams, InitOptions, Part, RequestOptions, SendOptions } from "turnwire";
import { tagOf } from "./byte-reader.ts";
import { defaultIdleTimeout, defaultMaxRetries, defaultTimeout } from "./contract.ts";
import { toHex } from "./hash.ts";
import { headers } from "./headers.ts";
import { must } from "./invalid.ts";
import { lossless } from "./lossless.ts";
import { callback, count, is, isObject, isString, limit, oneOf, or, read, type Table, text, type Values } from "./options.ts";

// Visible ASCII: what a header can say, and neither space nor line end.
const isToken = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
const isURL = (value: unknown): boolean => typeof value === "string" || tagOf(value) === "URL";

const initTable = {
  wasmURL: is("a string or a URL", isURL),
  runtimeURL: is("a string or a URL", isURL),
  wasmModule: is("a WebAssembly.Module", (module) => tagOf(module) === "WebAssembly.Module"),
  workerURL: is("a string, a URL or false", (url) => url === false || isURL(url)),
} satisfies Table<InitOptions>;

/** What init was given, as it is used. */
export type InitConfig = ReturnType<typeof initConfig>;

export function initConfig(options: InitOptions | undefined) {
  const { wasmURL, runtimeURL, wasmModule, workerURL } = read(options, initTable);
  // An address that the page goes on to change is another one.
  return { wasmURL: wasmURL && String(wasmURL), runtimeURL: runtimeURL && String(runtimeURL), wasmModule, workerURL: workerURL && String(workerURL) };
}

const clientTable = {
  baseURL: base,
  apiKey: key,
  workspaceId: text,
  agentId: text,
  headers,
  credentials: or(oneOf("omit", "same-origin", "include"), "same-origin"),
  maxRetries: or(count(0), defaultMaxRetries),
  timeout: or(limit, defaultTimeout),
  idleTimeout: or(limit, defaultIdleTimeout),
  pageHide: or(oneOf("abort", "disconnect"), "abort"),
  fetch: callback(),
  onLog: callback(),
} satisfies Table<ClientOptions>;

/** A client's options as they are used. */
export type ClientConfig = ReturnType<typeof clientConfig>;

export function clientConfig(options: ClientOptions) {
  must(isObject(options), "options", "an object with baseURL", options);
  const { baseURL, apiKey, ...rest } = read(options, clientTable);
  return { ...rest, base: baseURL, key: typeof apiKey === "string" ? apiKey : "", keyFunc: typeof apiKey === "function" ? apiKey : undefined };
}

function key(value: ClientOptions["apiKey"], field: string): ClientOptions["apiKey"] {
  is("a non-empty string or a function that gives one", (key) => typeof key === "function" || isString(key))(value, field);
  must(typeof value !== "string" || isToken(value), field, "of visible ASCII characters, without spaces or line ends");
  return value;
}

/** A value as an address that HTTP can go to, relative to base; undefined where it is none. */
export function httpURL(value: unknown, base: string): URL | undefined {
  try {
    const url = new URL(value as string, base);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** An address without the slash that the paths begin with. */
function base(value: string | URL | undefined, field: string): string {
  // On a server there is no page to be relative to, and no request is sent either.
  const page = typeof document === "undefined" ? (typeof location === "undefined" ? "http://localhost/" : location.href) : document.baseURI;
  const some = isString(value) || tagOf(value) === "URL";
  const url = some ? httpURL(value, page) : undefined;
  must(url && !(url.search || url.hash || url.username || url.password), field,
    "an http(s) address, absolute or relative to the page, without query, fragment or password", some ? undefined : value);
  return url.href.replace(/\/+$/, "");
}

export const requestTable = {
  signal: is("an AbortSignal", (signal) => typeof signal?.aborted === "boolean" && typeof signal.addEventListener === "function"),
  timeout: limit,
  maxRetries: count(0),
  headers,
} satisfies Table<RequestOptions>;

/** What stands for the options that a request is not given: the client's, or those of the upload that it is a part of. */
export type Defaults = Pick<ClientConfig, "timeout" | "maxRetries">;

/** A request's options as they are used. */
export type RequestConfig = Values<typeof requestTable> & Defaults;

export const withDefaults = <Given extends Values<typeof requestTable>>(given: Given, { timeout, maxRetries }: Defaults): Given & Defaults =>
  ({ ...given, timeout: given.timeout ?? timeout, maxRetries: given.maxRetries ?? maxRetries });

export const requestConfig = (options: RequestOptions | undefined, defaults: Defaults): RequestConfig =>
  withDefaults(read(options, requestTable), defaults);

const sendTable = {
  ...requestTable,
  model: or(text, ""),
  idempotencyKey: is<string>("a non-empty string of visible ASCII characters", isToken),
  idleTimeout: limit,
  resume: oneOf("never", "replay"),
  onEvent: callback(),
} satisfies Table<SendOptions>;

/** A message and its options as they are used. */
export type SendConfig = ReturnType<typeof sendConfig>;

export function sendConfig(message: string | Part[], options: SendOptions | undefined, client: ClientConfig) {
  const { idempotencyKey, idleTimeout, resume, ...rest } = read(options, sendTable);
  return {
    ...withDefaults(rest, client), parts: parts(message), key: idempotencyKey ?? uuid(),
    idleTimeout: idleTimeout ?? client.idleTimeout, replay: resume === "replay",
  };
}

/** Part types that this version does not know are passed through as they are. */
function parts(message: string | Part[]): string {
  must(isString(message) || (Array.isArray(message) && message.length > 0), "message", "a non-empty string or a non-empty array of parts", message);
  const json = lossless(typeof message === "string" ? [{ type: "text", text: message }] : message, "message");
  (JSON.parse(json) as Part[]).forEach((part, i) => {
    must(isObject(part) && isString(part.type), `message[${i}]`, "an object with a string type", part);
    must(part.type !== "text" || isString(part.text), `message[${i}].text`, "a non-empty string", part.text);
  });
  return json;
}

const createTable = {
  workspaceId: text,
  agentId: text,
  isTemporary: is("true or false", (value) => typeof value === "boolean"),
} satisfies Table<CreateChatParams>;

export function createParams(params: CreateChatParams | undefined, client: ClientConfig) {
  const { workspaceId, agentId = client.agentId, isTemporary } = read(params, createTable, "params");
  must(agentId !== undefined, "agentId", "given as a non-empty string, here or in the client's options");
  return { workspaceId: workspace(workspaceId, client), agentId, isTemporary };
}

/** A call's workspace, or its client's. */
export const workspace = (own: string | undefined, client: ClientConfig): string =>
  segment(own ?? client.workspaceId, "workspaceId", "given, here or in the client's options");

/** A path segment. "." and ".." would name another path, whatever their encoding (URL standard, path state). */
export function segment(value: string | undefined, field: string, missing: string): string {
  must(value !== undefined, field, missing);
  must(isString(value), field, "a non-empty string", value);
  must(value !== "." && value !== "..", field, `an identifier, not "${value}"`);
  return value;
}

/** A UUID v4 (RFC 9562, section 5.4). crypto.randomUUID is missing where a page is not served securely. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
