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

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** A number of bytes to three digits at most, in the decimal units that file managers show. */
export function bytes(size: number): string {
  let unit = 0;
  // Not 1000: what rounds up to it belongs to the next unit already.
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return unit === 0 ? count(Math.round(size), "byte") : `${size.toFixed(size < 9.95 ? 1 : 0)} ${UNITS[unit]}`;
}

/** Whole percent, 100 only at the end. */
export function percent(part: number, whole: number): number {
  return whole > 0 ? Math.floor((part / whole) * 100) : 0;
}
