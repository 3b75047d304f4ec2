// A browser ends the requests of a page that is left: Chromium behind pagehide, Firefox and WebKit ahead of it, as soon as
// another page is asked for. Such a failure says nothing of the service: it is told when the page is shown again, if it ever
// is, so that nothing is given up for it, and pagehide still finds what there is to stop.

let shown: Promise<void> | undefined;
let show = (): void => {};
let timer: ReturnType<typeof setTimeout>;

/** Where what was asked for is a download, or the reader stays, neither pagehide nor pageshow follows beforeunload. */
const patience = 5_000;

export function pageLeft(): void {
  shown ??= new Promise((resolve) => (show = resolve));
  clearTimeout(timer);
  timer = setTimeout(pageShown, patience);
}

export function pageShown(): void {
  show();
  shown = undefined;
}

/** Runs what a failure leads to, unless the page is being left: then when it is shown again, or after a while. */
export function unlessLeft(run: () => void): void {
  if (shown) void shown.then(run);
  else run();
}
