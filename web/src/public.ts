// What the package exports; index.d.ts says it to its users.
declare const __TURNWIRE_VERSION__: string;

export { AgentClient } from "./client.ts";
export {
  AgentError, APIError, AuthenticationError, ConflictError, ConnectionError, FileError, InvalidArgumentError, NotFoundError,
  ProtocolError, RateLimitError, ReplayMismatchError, RuntimeCrashError, RuntimeLoadError, TimeoutError, TurnError, UploadError,
} from "./errors.ts";
export { init } from "./loader.ts";
export const version: string = __TURNWIRE_VERSION__;
