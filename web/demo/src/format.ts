export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

// toLocaleString would make a new one each time, which costs a millisecond.
const numbers = new Intl.NumberFormat("en");

/** Groups thousands. */
export function grouped(number: number): string {
  return numbers.format(number);
}

export function count(number: number, one: string): string {
  return `${grouped(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** JSON for people; a string stands as it is. */
export function pretty(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
