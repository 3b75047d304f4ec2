// Figures, and what is asked of them.

/** The value that the share q of the list does not exceed. */
export function quantile(list, q) {
  const sorted = Float64Array.from(list).sort();
  return sorted[Math.floor(q * (sorted.length - 1))];
}

export const median = (list) => quantile(list, 0.5);
export const most = (list) => list.reduce((a, b) => Math.max(a, b));

let met = true;

/** Says whether a bound is met; the bench fails where one is not. */
export function bound(ok, text) {
  met &&= ok;
  return ` (${text}: ${ok ? "met" : "MISSED"})`;
}

export const everyBoundMet = () => met;
