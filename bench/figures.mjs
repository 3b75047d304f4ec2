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

/** Says how a list is to another, round by round: the median and the quartiles, and where a least is given whether the median reaches it. */
export function ratio(list, other, least) {
  const ratios = list.map((figure, i) => figure / other[i]);
  const at = (q) => quantile(ratios, q).toFixed(2);
  return `${at(0.5)} (${at(0.25)}–${at(0.75)})${least === undefined ? "" : bound(median(ratios) >= least, `at least ${least}`)}`;
}
