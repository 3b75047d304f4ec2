// A browser ends the requests of a page that is left, behind pagehide. Such a failure says nothing of the service: it is
// told when the page is shown again, if it ever is, so that nothing is given up for it.

let shown: Promise<void> | undefined;
let show = (): void => {};

export function pageLeft(): void {
  shown ??= new Promise((resolve) => (show = resolve));
}

export function pageShown(): void {
  show();
  shown = undefined;
}

/** Runs what a failure leads to, unless the page is being left: then when it is shown again, if ever. */
export function unlessLeft(run: () => void): void {
  if (shown) void shown.then(run);
  else run();
}
