type Child = Node | string | undefined;
type Attributes = Record<string, string | boolean | EventListener | undefined>;

/** Makes an element: functions become listeners, `true` a bare attribute, `false` and undefined none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** In a square of 20. */
const ICONS = {
  send: "M10 16.5v-13M4.5 9 10 3.5 15.5 9",
  stop: "M6.5 5h7A1.5 1.5 0 0 1 15 6.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 5 13.5v-7A1.5 1.5 0 0 1 6.5 5z",
  settings: "M3 6h7m4 0h3M3 14h3m4 0h7M14 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM10 14a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
  close: "M5 5l10 10M15 5L5 15",
  copy: "M8.5 7h6A1.5 1.5 0 0 1 16 8.5v6a1.5 1.5 0 0 1-1.5 1.5h-6A1.5 1.5 0 0 1 7 14.5v-6A1.5 1.5 0 0 1 8.5 7zM13 4.5V4H4v9h.5",
  again: "M15.5 10a5.5 5.5 0 1 1-1.7-4M14.5 2.8V6h-3.2",
  tool: "M7 5 3 10l4 5M13 5l4 5-4 5",
  thought: "M4 10a6 6 0 1 1 3.5 5.5L4 16.5l1-3A6 6 0 0 1 4 10z",
  chevron: "m6 8 4 4 4-4",
  attach: "m16 9.5-6 6a3.7 3.7 0 0 1-5.2-5.2l6.3-6.3a2.5 2.5 0 0 1 3.5 3.5L8.4 13.7a1.2 1.2 0 0 1-1.7-1.7L12 6.7",
  file: "M5 3.5h6L15.5 8v8.5h-10.5zM11 3.5V8h4.5",
  pause: "M7.5 5.5v9M12.5 5.5v9",
  play: "M7 5v10l8-5z",
  cancel: "M16.5 10a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0zM7.8 7.8l4.4 4.4M12.2 7.8l-4.4 4.4",
  down: "M10 3.5v13M4.5 11 10 16.5 15.5 11",
};
export type Icon = keyof typeof ICONS;

/** A drawing; the words beside it or the button's label carry the meaning. */
export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", name === "stop" ? "icon solid" : "icon");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Sets text only where it differs: an unchanged assignment still replaces the node and costs a layout. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** What holds the focus in the tree of a node, which may be a shadow tree. */
export function focused(node: Node): Element | null {
  const root = node.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}
