// Every error narrows by its class, and all are AgentErrors.

import {
  AgentError, APIError, AuthenticationError, ConflictError, ConnectionError, InvalidArgumentError, NotFoundError,
  ProtocolError, RateLimitError, RuntimeCrashError, RuntimeLoadError, TimeoutError, TurnError,
} from "turnwire";

export function explain(error: unknown): string {
  if (error instanceof RateLimitError) return `in ${error.retryAfter ?? 0} ms`;
  if (error instanceof AuthenticationError || error instanceof NotFoundError || error instanceof ConflictError) {
    const status: number = error.status;
    return `${status} ${error.requestId ?? ""}`;
  }
  if (error instanceof APIError) return JSON.stringify(error.body);
  if (error instanceof TurnError) return error.partial.text ?? String(error.data["code"]);
  if (error instanceof ConnectionError || error instanceof TimeoutError || error instanceof ProtocolError) {
    return error.partial?.toolCalls?.map((call) => call.id).join() ?? error.code;
  }
  if (error instanceof InvalidArgumentError || error instanceof RuntimeLoadError || error instanceof RuntimeCrashError) return error.message;
  if (error instanceof AgentError) return error.retryable ? "again" : error.code;
  return String(error);
}
