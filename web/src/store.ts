import { tellMoved } from "./connections.ts";
import { unlessLeft } from "./leaving.ts";
import type { Bytes } from "./source.ts";

/** A request to the store: without the key, without cookies, with these headers and no other. */
export interface StoreRequest {
  method: string;
  /** Absolute, or relative to base. */
  url: string;
  base: string;
  /** Names and values. */
  header: string[];
  body: Bytes | string;
  /** The headers of the answer that are needed, in lower case. */
  want: string[];
}

export interface StoreSink {
  progress(sent: number): void;
  /** Bytes of the answer came. */
  alive(): void;
  /** header: names and values, as far as CORS shows them; body: at most bodyMost characters. */
  answered(status: number, header: string[], body: string): void;
  failed(detail: string): void;
}

const bodyMost = 64 << 10;

/** Sends a request; the answer or the failure is told once, and nothing after cancel. */
export function send(request: StoreRequest, sink: StoreSink): { cancel(): void } {
  // A string would be sent with a Content-Type that nobody named, and bytes are sent by Chromium ten times slower.
  const body = request.body instanceof Blob ? request.body : new Blob([request.body]);
  try {
    // XMLHttpRequest tells how much was sent, but sends cookies to the page's own origin.
    const url = new URL(request.url, request.base);
    return (url.origin === location.origin ? byFetch : byXHR)(url, request, body, sink);
  } catch (error) {
    let cancelled = false;
    queueMicrotask(() => cancelled || sink.failed(String(error)));
    return { cancel: () => (cancelled = true) };
  }
}

function byXHR(url: URL, { method, header, want }: StoreRequest, body: Blob, sink: StoreSink): { cancel(): void } {
  const xhr = new XMLHttpRequest();
  xhr.open(method, url);
  for (let i = 0; i + 1 < header.length; i += 2) xhr.setRequestHeader(header[i]!, header[i + 1]!);
  xhr.upload.onprogress = ({ loaded }) => {
    tellMoved(url.origin);
    sink.progress(loaded);
  };
  xhr.onload = () => {
    // It follows redirects by itself; what came from another place than the signed one proves nothing.
    if (xhr.responseURL !== url.href.replace(/#.*/, "")) return sink.failed("redirected");
    const names = new Map(xhr.getAllResponseHeaders().trim().split(/[\r\n]+/).map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }));
    sink.answered(xhr.status, want.flatMap((name) => (names.has(name) ? [name, names.get(name)!] : [])), xhr.responseText.slice(0, bodyMost));
  };
  xhr.onerror = () => sink.failed("");
  xhr.send(method === "GET" || method === "HEAD" ? null : body);
  return {
    cancel() {
      xhr.upload.onprogress = xhr.onload = xhr.onerror = null;
      xhr.abort();
    },
  };
}

function byFetch(url: URL, { method, header, want }: StoreRequest, body: Blob, sink: StoreSink): { cancel(): void } {
  const controller = new AbortController();
  const headers = new Headers();
  for (let i = 0; i + 1 < header.length; i += 2) headers.append(header[i]!, header[i + 1]!);
  const { signal } = controller;
  fetch(url, {
    method, headers, signal, credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
    body: method === "GET" || method === "HEAD" ? null : body,
  }).then(async (response) => {
    const text = await response.text();
    if (signal.aborted) return;
    sink.answered(response.status, want.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [name, value];
    }), text.slice(0, bodyMost));
  }).catch((error: unknown) => {
    unlessLeft(() => signal.aborted || sink.failed(String(error)));
  });
  return { cancel: () => controller.abort() };
}
