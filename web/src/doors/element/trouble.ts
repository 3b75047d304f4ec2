import type { Where } from "./attributes.ts";
import { h } from "./dom.ts";
import { referenceOf } from "./errors.ts";
import type { ChatStrings, Explanation } from "./types.d.ts";

/** What went wrong and what to do about it. */
export interface Trouble extends Explanation {
  error: unknown;
  /** What a report to the service's operator should quote. */
  reference: string;
}

export function troubleOf(strings: ChatStrings, error: unknown, where: Where): Trouble {
  const explained = strings.explain(error, where);
  return { ...explained, error, reference: referenceOf(error, explained.message) };
}

export function troubleBox(strings: ChatStrings, { advice, reference }: Trouble): HTMLElement[] {
  return [h("p", {}, advice), h("details", { class: "reference" }, h("summary", {}, strings.details), h("p", {}, reference))];
}
