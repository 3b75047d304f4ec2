import { tellMoved } from "./connections.ts";
import type * as contract from "./contract.ts";
import { unlessLeft } from "./leaving.ts";
import { type Bytes, isBlob } from "./source.ts";

/** A request to the store, with what is sent. */
export interface StoreRequest extends Pick<contract.StoreRequest, "method" | "url" | "headers" | "want"> {
  /** What the url is relative to, where it is. */
  base: string;
  body: Bytes | string;
}

export interface StoreSink {
  progress(sent: number): void;
  /** Bytes of the answer arrive: told with the first of them, then every 250 ms at most. */
  alive(): void;
  answered(answer: contract.StoreAnswer): void;
  failed(detail: string): void;
}

/** Characters of an answer's body that are told. */
const bodyMost = 64 << 10;
const aliveEvery = 250;

/** Sends a request; the answer or the failure is told once, and nothing after the signal's abort. */
export function send(request: StoreRequest, sink: StoreSink, signal: AbortSignal): void {
  // A string would be sent with a Content-Type that nobody named, and bytes are sent by Chromium ten times slower.
  const body = isBlob(request.body) ? request.body : new Blob([request.body]);
  let url: URL | undefined;
  try {
    url = new URL(request.url, request.base);
    // XMLHttpRequest tells how much was sent, but sends cookies to the page's own origin, and of an answer Chromium shows
    // it nothing before 300 bytes of XML came, or 512 of text: S3's white space while it completes an upload is less.
    (typeof request.body === "string" || isOwn(url, globalThis.origin) ? byFetch : byXHR)(url, request, body, sink, signal);
  } catch (error) {
    queueMicrotask(() => signal.aborted || sink.failed(url ? messageOf(error, url) : "the signed address is not a valid address"));
  }
}

/**
 * Where a page that upgrades its requests (by its Content-Security-Policy, or because the host wants https) sends what
 * goes to an address. No redirect shows that, and the answer names the upgraded address alone.
 */
function upgraded(url: URL): URL {
  const secure = new URL(url);
  if (secure.protocol === "http:") secure.protocol = "https:";
  return secure;
}

/** Whether a request to an address is one to this origin, upgraded or not. */
export const isOwn = (url: URL, origin: string): boolean => url.origin === origin || upgraded(url).origin === origin;

/** Whether an answer came from another place than was asked. */
export const isRedirected = (asked: URL, answered: string): boolean =>
  ![asked, upgraded(asked)].some(({ href }) => href.replace(/#.*/, "") === answered);

/** An error for people. A browser quotes addresses in some of its own, and this one is a secret. */
function messageOf(error: unknown, { host }: URL): string {
  const text = String(error);
  return text.includes(host) ? `${(error as Error).name}: the browser refused the signed address` : text;
}

/** Tells the sink that bytes of the answer arrive. */
function pulse(sink: StoreSink): () => void {
  let last = -Infinity;
  return () => {
    const now = performance.now();
    if (now - last < aliveEvery) return;
    last = now;
    sink.alive();
  };
}

function byXHR(url: URL, { method, headers, want }: StoreRequest, body: Blob, sink: StoreSink, signal: AbortSignal): void {
  const xhr = new XMLHttpRequest();
  const failed = (detail: string): void => unlessLeft(() => signal.aborted || sink.failed(detail));
  xhr.open(method, url);
  for (const [name, value] of headers) xhr.setRequestHeader(name, value);
  xhr.upload.onprogress = ({ loaded }) => {
    tellMoved(url.origin);
    sink.progress(loaded);
  };
  const alive = pulse(sink);
  xhr.onprogress = ({ loaded }) => loaded > 0 && alive();
  xhr.onload = () => {
    // It follows redirects by itself; what came from another place than the signed one proves nothing.
    if (isRedirected(url, xhr.responseURL)) return sink.failed("redirected");
    const names = new Map(xhr.getAllResponseHeaders().trim().split(/[\r\n]+/).map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }));
    sink.answered({
      status: xhr.status, body: xhr.responseText.slice(0, bodyMost),
      headers: want.flatMap((name): contract.Header[] => (names.has(name) ? [[name, names.get(name)!]] : [])),
    });
  };
  xhr.onerror = () => failed("");
  // Where it was not the signal: the page called window.stop(), or its user did.
  xhr.onabort = () => failed("stopped by the page");
  xhr.send(method === "GET" || method === "HEAD" ? null : body);
  signal.addEventListener("abort", () => xhr.abort());
}

function byFetch(url: URL, { method, headers, want }: StoreRequest, body: Blob, sink: StoreSink, signal: AbortSignal): void {
  const alive = pulse(sink);
  fetch(url, {
    method, signal, headers: headers.map(([name, value]): [string, string] => [name, value]), credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    body: method === "GET" || method === "HEAD" ? null : body,
  }).then(async (response) => {
    const text = await readStart(response, () => signal.aborted || alive());
    if (signal.aborted) return;
    sink.answered({
      status: response.status, body: text,
      headers: want.flatMap((name): contract.Header[] => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value]];
      }),
    });
  }).catch((error: unknown) => {
    unlessLeft(() => signal.aborted || sink.failed(messageOf(error, url)));
  });
}

/** The beginning of a body; what is more is not waited for. */
async function readStart(response: Response, arrived: () => void): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  for (let ended = false; !ended && text.length < bodyMost; ) {
    const { done, value } = await reader.read();
    if (!done) arrived();
    text += decoder.decode(value, { stream: !done });
    ended = done;
  }
  reader.cancel().catch(() => {});
  return text.slice(0, bodyMost);
}
