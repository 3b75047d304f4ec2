import {
  AgentError,
  APIError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidArgumentError,
  NotFoundError,
  ProtocolError,
  RateLimitError,
  RuntimeCrashError,
  RuntimeLoadError,
  TimeoutError,
  TurnError,
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
  const { advice, settings: toSettings = false } = advise(error, settings);
  return { message: messageOf(error), advice, settings: toSettings, reference: referenceOf(error) };
}

function advise(error: unknown, { baseURL, workspaceId, agentId }: Settings): { advice: string; settings?: boolean } {
  if (error instanceof AuthenticationError) {
    return { advice: "Check the access key in the settings; the reference service takes “dev-key”.", settings: true };
  }
  if (error instanceof NotFoundError) {
    return {
      advice: `Check the workspace “${workspaceId}” and the agent “${agentId}” in the settings, or start a new chat if this one is gone.`,
      settings: true,
    };
  }
  if (error instanceof RateLimitError) {
    return { advice: `Wait ${wait(error)}, then send it again.` };
  }
  if (error instanceof ConflictError) {
    return { advice: "Another turn may still be running in this chat. Wait for it to end, then send it again." };
  }
  if (error instanceof APIError) {
    return {
      advice: error.retryable
        ? "The service has trouble of its own. Send it again in a moment."
        : "The service refused this request; sending the same again will not help.",
    };
  }
  if (error instanceof TurnError) return { advice: "The agent could not finish. What it wrote so far is kept above." };
  if (error instanceof ConnectionError) return connectionAdvice(error, baseURL);
  if (error instanceof TimeoutError) {
    return { advice: `The service at ${baseURL} went silent. Check that it is running, then pick the turn up again.` };
  }
  if (error instanceof ProtocolError) {
    return { advice: `What answers at ${baseURL} does not speak the service's interface. Check the address in the settings.`, settings: true };
  }
  if (error instanceof InvalidArgumentError) return { advice: "Correct it in the settings.", settings: true };
  if (error instanceof RuntimeLoadError) {
    return { advice: "Check that turnwire.wasm is served beside turnwire.mjs, then reload the page." };
  }
  if (error instanceof RuntimeCrashError) return { advice: "The next message starts a fresh instance. Send it again." };
  return { advice: "Send it again; if that fails too, reload the page." };
}

function connectionAdvice(error: ConnectionError, baseURL: string): { advice: string; settings?: boolean } {
  if (error.partial?.text || error.partial?.reasoning || error.partial?.toolCalls?.length) {
    return { advice: "The connection broke before the answer was complete. Pick it up again: the same key is used, so nothing is done twice." };
  }
  if (blockedByPolicy.has(new URL(baseURL).origin)) {
    return {
      advice: `This page's Content-Security-Policy does not allow it to reach ${baseURL}. Serve the page with that address in connect-src.`,
      settings: true,
    };
  }
  if (!navigator.onLine) return { advice: "This device is offline. Send it again once it is back on the network." };
  return {
    advice: `Nothing answers at ${baseURL}. Start the reference service with “make demo”, or correct the address in the settings. A service elsewhere must also allow this page by CORS.`,
    settings: true,
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
  return parts.join(" · ");
}
