import type { TurnResult } from "turnwire";
import type { Error as Told } from "./contract.ts";

type Details = { cause?: unknown; [field: string]: unknown };

export class AgentError extends Error {
  declare readonly code: string;
  declare readonly retryable: boolean;

  constructor(message: string, code: string, retryable = false, { cause, ...details }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { code, retryable }, details);
  }

  /** Error's own message is not enumerable, and a log without it says nothing. The stack and the cause stay out. */
  toJSON(): Record<string, unknown> {
    const fields: object = this;
    return { name: this.name, message: this.message, ...fields };
  }
}
export class InvalidArgumentError extends AgentError {}
export class APIError extends AgentError {}
export class AuthenticationError extends APIError {}
export class NotFoundError extends APIError {}
export class ConflictError extends APIError {}
export class RateLimitError extends APIError {}
export class ConnectionError extends AgentError {}
export class TimeoutError extends AgentError {}
export class ProtocolError extends AgentError {}
export class TurnError extends AgentError {}
export class ReplayMismatchError extends AgentError {}
export class UploadError extends AgentError {}
export class FileError extends AgentError {}
export class RuntimeLoadError extends AgentError {}
export class RuntimeCrashError extends AgentError {}

const classes = {
  AgentError, InvalidArgumentError, APIError, AuthenticationError, NotFoundError, ConflictError, RateLimitError,
  ConnectionError, TimeoutError, ProtocolError, TurnError, ReplayMismatchError, UploadError, FileError,
  RuntimeLoadError, RuntimeCrashError,
};
// A minifier renames classes; the name is part of what people read.
for (const [name, type] of Object.entries(classes)) {
  Object.defineProperty(type.prototype, "name", { value: name, configurable: true, writable: true });
}

/** Makes the error of what the module said; partial is what a turn had received. */
export function errorOf({ kind, code, message, retryable, ...details }: Told, partial?: Partial<TurnResult>): AgentError {
  const error = new classes[kind](message, code, retryable, details);
  // Of a refusal only what a replay was refused for has something to lose.
  const lost = !(error instanceof APIError) || partial?.text || partial?.reasoning || partial?.toolCalls?.length;
  return partial && lost ? Object.assign(error, { partial }) : error;
}

/** Any thrown value for people; itself never throws. */
export function textOf(reason: unknown): string {
  try {
    if (reason instanceof Error || (typeof reason === "object" && reason !== null && "message" in reason)) {
      const { name, message } = reason as Error;
      return message ? `${name}: ${message}` : String(name);
    }
    return String(reason);
  } catch {
    return "an unknown error";
  }
}
