import { InvalidArgumentError } from "./errors.ts";

/** The error of an argument that is not as it should be: its name, and what it should be. */
export function invalid(field: string, expected: string, got?: unknown): InvalidArgumentError {
  const shown = got === undefined ? "" : `, not ${kindOf(got)}`;
  return new InvalidArgumentError(`${field} must be ${expected}${shown}`, "invalid_argument");
}

/** Throws that error where the argument is not as it should be. */
export function must(ok: unknown, field: string, expected: string, got?: unknown): asserts ok {
  if (!ok) throw invalid(field, expected, got);
}

/** A value for a message: its kind, and short strings and numbers themselves. Never more, it may be a secret. */
function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
