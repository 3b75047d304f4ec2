// Pages with a <turnwire-chat>: what is in it is found by its parts, which are what a page's style sheet finds it by.

import { testbed } from "./bed.mjs";

/** What is in the element, for page.click and its like. */
export const part = (name) => `turnwire-chat >>> [part~="${name}"]`;

/** Ahead of the page: the parts of its first element, and what holds the focus, in whatever tree. */
function helpers() {
  globalThis.parts = (name, chat = document.querySelector("turnwire-chat")) => [...(chat?.shadowRoot?.querySelectorAll(`[part~="${name}"]`) ?? [])];
  globalThis.part = (name, chat) => parts(name, chat)[0];
  globalThis.holder = () => {
    let { activeElement: element } = document;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };
  /** The focused element's name: its part, or what a test of the page calls it. */
  globalThis.held = () => holder().dataset.action ?? holder().part[0] ?? holder().dataset.testid ?? holder().id;
}

/** As testbed; every page has the helpers. */
export function chatBed(every) {
  return testbed({ ...every, helpers });
}

/** Waits until the page shows something; predicate runs in the page. */
export const shown = (page, predicate, ...args) => page.waitForFunction(predicate, { polling: "raf" }, ...args);

/** Waits for the end of answer n, from 1, and gives its status. */
export async function ended(page, n = 1) {
  const handle = await shown(page, (n) => {
    const status = parts("message-agent")[n - 1]?.dataset.status;
    return !["queued", "streaming", undefined].includes(status) && status;
  }, n);
  return handle.jsonValue();
}
