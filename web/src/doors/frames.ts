/** Milliseconds between the renders of a page that is hidden, and has no frames. */
const hiddenPace = 250;

/**
 * Has `show` called in the next frame, once, however often that is asked for until then. On a page that is hidden by a timer,
 * so that it is right when it is shown, and by what follows from it meanwhile; where there is no page at once.
 */
export class NextFrame {
  readonly #show: () => void;
  #waiting = false;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(show: () => void) {
    this.#show = show;
  }

  ask(): void {
    if (this.#waiting) return;
    if (typeof document === "undefined") return this.#show();
    this.#waiting = true;
    document.addEventListener("visibilitychange", this.#come);
    if (document.hidden) this.#timer = setTimeout(this.#come, hiddenPace);
    else this.#frame = requestAnimationFrame(this.#come);
  }

  cancel(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    document.removeEventListener("visibilitychange", this.#come);
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
  }

  readonly #come = (event?: Event | number): void => {
    // One that is shown again waits for its timer: a frame of its own would be a second render in that frame.
    if (typeof event === "object" && !document.hidden) return;
    this.cancel();
    this.#show();
  };
}

/** What a component subscribes to: a state made anew at most once a frame, however often it changes. */
export abstract class Frames<State> {
  #state: State;
  readonly #next = new NextFrame(() => this.#show());
  #subscribed = false;
  readonly #listeners = new Set<() => void>();

  constructor(state: State) {
    this.#state = state;
  }

  /** The state as of now: a new object, for React compares by identity. */
  protected abstract read(): State;
  /** Nobody looks any more: what is under way ends as the client's options say. */
  protected abstract release(): void;

  readonly snapshot = (): State => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#subscribed = true;
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.settle();
    };
  };

  /**
   * Releases what nobody looks at any more, a moment later: StrictMode, and a component that is moved, subscribe again at once.
   * What nobody has looked at yet is about to be: effects of children, and those of the layout, come before.
   */
  protected settle(): void {
    queueMicrotask(() => {
      if (this.#subscribed && this.#listeners.size === 0) this.release();
    });
  }

  protected changed(): void {
    this.#next.ask();
  }

  #show(): void {
    this.#state = this.read();
    for (const listener of [...this.#listeners]) listener();
  }
}
