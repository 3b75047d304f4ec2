import type { AgentError, APIError, ConnectionError, FileError, UploadError } from "turnwire";
import type { Where } from "./attributes.ts";
import type { Explanation } from "./types.d.ts";

/** Origins that the page's policy kept it from: it sees a refused connection only as "failed", as of a service that is down. */
const blockedByPolicy = new Set<string>();

function note({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void {
  if (effectiveDirective === "connect-src" && URL.canParse(blockedURI)) blockedByPolicy.add(new URL(blockedURI).origin);
}

/** From the first element on; another adds nothing. */
export function watchPolicy(): void {
  document.addEventListener("securitypolicyviolation", note);
}

/** An error of the package, of whichever copy of it: told by its name, for a page may have the package as a script too. */
type Named<T> = { [Name in keyof T]?: T[Name] } & Pick<Error, "name" | "message">;

/** The English explanation. What says little to those who do not write programs gives way to a message of its own. */
export function explain(error: unknown, where: Where): Explanation {
  const { message, ...advice } = advise(error as Named<AgentError>, where);
  return { message: message ?? messageOf(error), ...advice };
}

/** What a report to the service's operator should quote. */
export function referenceOf(error: unknown, explained: string): string {
  const { code, status, requestId, fileId, file } = (error ?? {}) as Named<AgentError & APIError & UploadError & FileError>;
  const id = fileId ?? file?.id;
  const codes = [code, status && `HTTP ${status}`, requestId && `request ${requestId}`, id && `file ${id}`].filter(Boolean).join(" · ");
  return [codes, messageOf(error) !== explained && messageOf(error)].filter(Boolean).join("\n");
}

type Advice = Omit<Explanation, "message"> & { message?: string };

function advise(error: Named<AgentError>, where: Where): Advice {
  const baseURL = addressOf(where);
  switch (error?.name) {
    case "AuthenticationError":
      return { message: "the service did not accept the access key", advice: "Check the key.", settings: true };
    case "RateLimitError":
      return { message: "the service has too much to do", advice: `Wait ${wait(error as Named<APIError>)}, then send it again.` };
    case "ConflictError":
      return { advice: "Another turn may still be running in this chat. Wait for it to end, then send it again." };
    case "NotFoundError":
    case "APIError":
      return refused(error as Named<APIError>, where);
    case "TurnError":
      return { advice: "The agent could not finish. What it wrote so far is kept above." };
    case "UploadError":
      return uploadAdvice(error as Named<UploadError>);
    case "FileError":
      return fileAdvice(error as Named<FileError>);
    case "ConnectionError":
      return connectionAdvice(error as Named<ConnectionError>, where);
    case "TimeoutError":
      if (error.code === "wait_timeout") {
        return { message: "the service takes very long to read it", advice: "It is stored, and may become ready later. Upload it again if it does not." };
      }
      return { message: "the service went silent", advice: `Check that the service${baseURL} is still running, then pick the turn up again.` };
    case "ProtocolError":
      return {
        message: "this is not how the service's answers look",
        advice: `Check the service's address${baseURL}, and that no proxy changes what it sends.`,
        settings: true,
      };
    case "InvalidArgumentError":
      return { advice: "Correct it in the settings.", settings: true };
    case "RuntimeLoadError":
      return { advice: "Check that turnwire.wasm is served beside turnwire.mjs, then reload the page." };
    case "RuntimeCrashError":
      return { advice: "The next message starts a fresh instance. Send it again." };
    default:
      return { advice: "Send it again; if that fails too, reload the page." };
  }
}

/** The service's address within a sentence; a page with a client of its own need not have said it. */
const addressOf = ({ baseURL }: Where): string => (baseURL ? ` (${baseURL})` : "");

function refused({ name, retryable, requestId }: Named<APIError>, where: Where): Advice {
  if (name === "NotFoundError" && requestId) {
    const { workspaceId, agentId } = where;
    const names = workspaceId && agentId ? ` “${workspaceId}” and the agent “${agentId}”` : " and the agent";
    return { message: "the service knows no such workspace, agent or chat", advice: `Check the workspace${names}, or start a new chat if this one is gone.`, settings: true };
  }
  if (retryable) return { message: "the service has trouble of its own", advice: "Send it again in a moment." };
  return { message: "the request was refused", advice: `Sending the same again will not help. Check the service's address${addressOf(where)}.`, settings: true };
}

function connectionAdvice({ partial }: Named<ConnectionError>, where: Where): Advice {
  if (partial?.text || partial?.reasoning || partial?.toolCalls?.length) {
    return { message: "the connection ended before the answer did", advice: "Pick it up again: the same key is used, so nothing is done twice." };
  }
  const message = "the service can't be reached";
  const { baseURL } = where;
  if (URL.canParse(baseURL, location.href) && blockedByPolicy.has(new URL(baseURL, location.href).origin)) {
    return { message, advice: `This page's Content-Security-Policy forbids it to connect to ${baseURL}. Serve the page with that address in connect-src.`, settings: true };
  }
  if (!navigator.onLine) return { message, advice: "This device is offline. Send it again once it is back on the network." };
  return { message, advice: `Nothing answers at the service's address${addressOf(where)}. A service elsewhere must also allow this page by CORS.`, settings: true };
}

const UPLOADS: Record<string, Advice> = {
  data_unreadable: { message: "the file can't be read", advice: "It was changed, moved or removed since it was chosen, or it is a folder. Choose it again." },
  resume_key_in_use: { message: "another tab is uploading this file", advice: "Let that one finish, or cancel it there; then upload it again." },
  file_too_large: { message: "the file needs more blocks than the storage takes", advice: "Enter a larger block size in the settings, then upload it again.", settings: true },
  address_expired: { message: "the address for the upload expired", advice: "Upload it again: it gets a new one." },
};

function uploadAdvice({ code = "", retryable }: Named<UploadError>): Advice {
  if (UPLOADS[code]) return UPLOADS[code];
  if (code === "storage_unreachable" || code === "block_timeout") {
    const offline = navigator.onLine ? "Check the network, and that the storage allows this page by CORS" : "This device is offline. Wait until it is back on the network";
    return { message: "the storage can't be reached", advice: `${offline}; then upload it again.` };
  }
  if (retryable) return { message: "the storage has trouble of its own", advice: "Upload it again in a moment." };
  return { message: "the storage did not take it", advice: "Uploading the same again will not help if the storage's rules refuse it; the details say what it answered." };
}

function fileAdvice({ code, file }: Named<FileError>): Advice {
  const why = typeof file?.raw.error === "string" ? file.raw.error : undefined;
  if (code === "upload_failed") return { message: why ?? "the service could not confirm its bytes", advice: "Upload it again." };
  return {
    message: why ?? "the service could not read it",
    advice: "Its bytes are stored, but no question can be answered from it. Another form of the document, such as plain text, may do.",
  };
}

function wait({ retryAfter }: Named<APIError>): string {
  if (retryAfter === undefined) return "a moment";
  const seconds = Math.ceil(retryAfter / 1_000);
  return seconds === 1 ? "one second" : `${seconds} seconds`;
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : String(error);
}
