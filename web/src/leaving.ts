// A browser ends the requests of a page that is left, behind pagehide. Such a failure says nothing of the service: it is
// told when the page is shown again, if it ever is, so that nothing is given up for it.

let shown: Promise<void> | undefined;
let show = (): void => {};

export function left(): void {
  shown ??= new Promise((resolve) => (show = resolve));
}

export function cameBack(): void {
  show();
  shown = undefined;
}

/** Tells a failure, unless the page is being left: then later, or never. */
export function unlessLeft(tell: () => void): void {
  if (shown) void shown.then(tell);
  else tell();
}
