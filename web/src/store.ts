import { startOf } from "./byte-reader.ts";
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
export function send({ method, url: address, base, headers, body: given, want }: StoreRequest, sink: StoreSink, signal: AbortSignal): void {
  // A string would be sent with a Content-Type that nobody named, and bytes are sent by Chromium ten times slower.
  const body = method === "GET" || method === "HEAD" ? null : isBlob(given) ? given : new Blob([given]);
  const failed = (detail: string): void => unlessLeft(() => signal.aborted || sink.failed(detail));
  let last = -Infinity;
  const alive = (): void => {
    const now = performance.now();
    if (now - last < aliveEvery || signal.aborted) return;
    last = now;
    sink.alive();
  };
  const answered = (status: number, body: string, header: (name: string) => string | null | undefined): void => sink.answered({
    status, body: body.slice(0, bodyMost),
    headers: want.flatMap((name): contract.Header[] => {
      const value = header(name);
      return typeof value === "string" ? [[name, value]] : [];
    }),
  });

  function byXHR(url: URL): void {
    const xhr = new XMLHttpRequest();
    xhr.open(method, url);
    for (const [name, value] of headers) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded }) => sink.progress(loaded);
    xhr.onprogress = ({ loaded }) => loaded > 0 && alive();
    xhr.onload = () => {
      // It follows redirects by itself; what came from another place than the signed one proves nothing.
      if (isRedirected(url, xhr.responseURL)) return sink.failed("redirected");
      // To ask for one that CORS hides is an error in Chromium's console.
      const all = xhr.getAllResponseHeaders();
      answered(xhr.status, xhr.responseText, (name) => new RegExp(`^${name}: *(.*)$`, "mi").exec(all)?.[1]);
    };
    xhr.onerror = () => failed("");
    // Where it was not the signal: the page called window.stop(), or its user did.
    xhr.onabort = () => failed("stopped by the page");
    xhr.send(body);
    signal.addEventListener("abort", () => xhr.abort());
  }

  async function byFetch(url: URL): Promise<void> {
    try {
      const response = await fetch(url, { method, headers: headers as [string, string][], body, signal, credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
      // A character takes three bytes at most for each of those that are counted.
      const text = await startOf(response.body, 3 * bodyMost, alive);
      if (!signal.aborted) answered(response.status, text, (name) => response.headers.get(name));
    } catch (error) {
      failed(messageOf(error, url));
    }
  }

  let url: URL | undefined;
  try {
    url = new URL(address, base);
    // XMLHttpRequest tells how much was sent, but sends cookies to the page's own origin, and of an answer Chromium shows
    // it nothing before 300 bytes of XML came, or 512 of text: S3's white space while it completes an upload is less.
    if (typeof given === "string" || typeof XMLHttpRequest === "undefined" || isOwn(url, globalThis.origin)) void byFetch(url);
    else byXHR(url);
  } catch (error) {
    const detail = url ? messageOf(error, url) : "the signed address is not a valid address";
    queueMicrotask(() => signal.aborted || sink.failed(detail));
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
