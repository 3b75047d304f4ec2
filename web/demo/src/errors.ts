import {
  AgentError,
  APIError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  FileError,
  InvalidArgumentError,
  NotFoundError,
  ProtocolError,
  RateLimitError,
  RuntimeCrashError,
  RuntimeLoadError,
  TimeoutError,
  TurnError,
  UploadError,
} from "turnwire";
import type { Settings } from "./settings.ts";

/** What went wrong and what to do about it, in words for the person who waits for an answer. */
export interface Trouble {
  message: string;
  advice: string;
  /** Whether the settings are the place to go. */
  settings: boolean;
  /** What a report to the service's operator should quote. */
  reference: string;
}

const blockedByPolicy = new Set<string>();
document.addEventListener("securitypolicyviolation", (violation) => {
  // The page sees a refused connection only as "failed", just as it sees a service that is down.
  if (violation.effectiveDirective !== "connect-src") return;
  if (URL.canParse(violation.blockedURI)) blockedByPolicy.add(new URL(violation.blockedURI).origin);
});

export function explain(error: unknown, settings: Settings): Trouble {
  const { summary, advice, settings: toSettings = false } = advise(error, settings);
  const reference = [referenceOf(error), summary && messageOf(error)].filter(Boolean).join("\n");
  return { message: summary ?? messageOf(error), advice, settings: toSettings, reference };
}

interface Advice {
  /** Stands in for a message that is written for those who write programs; that one then goes below. */
  summary?: string;
  advice: string;
  settings?: boolean;
}

function advise(error: unknown, { baseURL, workspaceId, agentId }: Settings): Advice {
  if (error instanceof AuthenticationError) {
    return {
      summary: "the service did not accept the access key",
      advice: "Check the key in the settings; the reference service takes “dev-key”.",
      settings: true,
    };
  }
  if (error instanceof NotFoundError && error.requestId) {
    return {
      summary: "the service knows no such workspace, agent or chat",
      advice: `Check the workspace “${workspaceId}” and the agent “${agentId}” in the settings, or start a new chat if this one is gone.`,
      settings: true,
    };
  }
  if (error instanceof RateLimitError) {
    return { summary: "the service has too much to do", advice: `Wait ${wait(error)}, then send it again.` };
  }
  if (error instanceof ConflictError) {
    return { advice: "Another turn may still be running in this chat. Wait for it to end, then send it again." };
  }
  if (error instanceof APIError) {
    if (error.retryable) {
      return { summary: "the service has trouble of its own", advice: "Send it again in a moment." };
    }
    return {
      summary: "the request was refused",
      advice: `Sending the same again will not help. Check that ${baseURL} is the service's address.`,
      settings: true,
    };
  }
  if (error instanceof TurnError) return { advice: "The agent could not finish. What it wrote so far is kept above." };
  if (error instanceof UploadError) return uploadAdvice(error);
  if (error instanceof FileError) return fileAdvice(error);
  if (error instanceof ConnectionError) return connectionAdvice(error, baseURL);
  if (error instanceof TimeoutError && error.code === "wait_timeout") {
    return { summary: "the service takes very long to read it", advice: "It is stored, and may become ready later. Upload it again if it does not." };
  }
  if (error instanceof TimeoutError) {
    return {
      summary: "the service went silent",
      advice: `Check that the service at ${baseURL} is still running, then pick the turn up again.`,
    };
  }
  if (error instanceof ProtocolError) {
    return {
      summary: "this is not how the service's answers look",
      advice: `Check that ${baseURL} is the service's address and that no proxy changes what it sends.`,
      settings: true,
    };
  }
  if (error instanceof InvalidArgumentError) return { advice: "Correct it in the settings.", settings: true };
  if (error instanceof RuntimeLoadError) {
    return { advice: "Check that turnwire.wasm is served beside turnwire.mjs, then reload the page." };
  }
  if (error instanceof RuntimeCrashError) return { advice: "The next message starts a fresh instance. Send it again." };
  return { advice: "Send it again; if that fails too, reload the page." };
}

function connectionAdvice(error: ConnectionError, baseURL: string): Advice {
  const { partial } = error;
  if (partial?.text || partial?.reasoning || partial?.toolCalls?.length) {
    return {
      summary: "the connection ended before the answer did",
      advice: "Pick it up again: the same key is used, so nothing is done twice.",
    };
  }
  const summary = "the service can't be reached";
  if (blockedByPolicy.has(new URL(baseURL).origin)) {
    return {
      summary,
      advice: `This page's Content-Security-Policy forbids it to connect to ${baseURL}. Serve the page with that address in connect-src.`,
      settings: true,
    };
  }
  if (!navigator.onLine) return { summary, advice: "This device is offline. Send it again once it is back on the network." };
  return {
    summary,
    advice: `Nothing answers at ${baseURL}. Start the reference service with “make demo”, or correct the address in the settings. A service elsewhere must also allow this page by CORS.`,
    settings: true,
  };
}

const UPLOADS: Record<string, Advice> = {
  data_unreadable: { summary: "the file can't be read", advice: "It was changed, moved or removed since it was chosen, or it is a folder. Choose it again." },
  resume_key_in_use: { summary: "another tab is uploading this file", advice: "Let that one finish, or cancel it there; then upload it again." },
  file_too_large: { summary: "the file needs more blocks than the storage takes", advice: "Enter a larger block size in the settings, then upload it again.", settings: true },
  address_expired: { summary: "the address for the upload expired", advice: "Upload it again: it gets a new one." },
};

function uploadAdvice(error: UploadError): Advice {
  const { code, retryable } = error;
  if (UPLOADS[code]) return UPLOADS[code];
  if (code === "storage_unreachable" || code === "block_timeout") {
    const offline = navigator.onLine ? "Check the network, and that the storage allows this page by CORS" : "This device is offline. Wait until it is back on the network";
    return { summary: "the storage can't be reached", advice: `${offline}; then upload it again.` };
  }
  if (retryable) return { summary: "the storage has trouble of its own", advice: "Upload it again in a moment." };
  return { summary: "the storage did not take it", advice: "Uploading the same again will not help if the storage's rules refuse it; the details say what it answered." };
}

function fileAdvice({ code, file }: FileError): Advice {
  const why = typeof file.raw.error === "string" ? file.raw.error : undefined;
  if (code === "upload_failed") return { summary: why ?? "the service could not confirm its bytes", advice: "Upload it again." };
  return {
    summary: why ?? "the service could not read it",
    advice: "Its bytes are stored, but no question can be answered from it. Another form of the document, such as plain text, may do.",
  };
}

function wait({ retryAfter }: APIError): string {
  if (retryAfter === undefined) return "a moment";
  const seconds = Math.ceil(retryAfter / 1_000);
  return seconds === 1 ? "one second" : `${seconds} seconds`;
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : String(error);
}

function referenceOf(error: unknown): string {
  const parts: string[] = [];
  if (error instanceof AgentError) parts.push(error.code);
  if (error instanceof APIError) parts.push(`HTTP ${error.status}`);
  if (error instanceof APIError && error.requestId) parts.push(`request ${error.requestId}`);
  if (error instanceof UploadError && error.status) parts.push(`HTTP ${error.status}`);
  if (error instanceof UploadError && error.fileId) parts.push(`file ${error.fileId}`);
  if (error instanceof FileError) parts.push(`file ${error.file.id}`);
  return parts.join(" · ");
}
