/** Draws something; true asks for another frame, for work that was left over. */
export type Draw = (deadline: number) => boolean | void;

/**
 * What all drawing of one frame may take together. A frame lasts 16 ms, and layout and paint need the rest.
 */
const BUDGET = 7;
/** A hidden page gets no frames, but its title, status line and event list should not stand still. */
const HIDDEN_DELAY = 250;

const draws = new Set<Draw>();
const scrolls = new Set<() => void>();
let cancel: (() => void) | undefined;

/** Draws once in the next frame, however often it is asked for until then. */
export function nextFrame(draw: Draw): void {
  draws.add(draw);
  arm();
}

/** Runs after all drawing of a frame: setting a scroll position forces layout, which should happen once. */
export function afterFrame(scroll: () => void): void {
  scrolls.add(scroll);
  arm();
}

function arm(): void {
  if (cancel) return;
  document.addEventListener("visibilitychange", shown, { once: true });
  if (document.hidden) {
    const timer = setTimeout(run, HIDDEN_DELAY);
    cancel = () => clearTimeout(timer);
  } else {
    const frame = requestAnimationFrame(run);
    cancel = () => cancelAnimationFrame(frame);
  }
}

function run(): void {
  cancel = undefined;
  const deadline = performance.now() + BUDGET;
  const due = [...draws];
  draws.clear();
  for (const draw of due) if (draw(deadline)) draws.add(draw);
  const moves = [...scrolls];
  scrolls.clear();
  for (const move of moves) move();
  if (draws.size > 0) arm();
}

function shown(): void {
  if (!cancel) return;
  cancel();
  cancel = undefined;
  arm();
}
