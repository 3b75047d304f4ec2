import { must } from "./invalid.ts";

type Listener = (argument: never) => void;

/** Calls a function of the page, where it gave one: what it throws is reported as an uncaught error and harms nothing else. */
export function guarded<T>(listener: ((argument: T) => void) | undefined, argument: T): void {
  try {
    listener?.(argument);
  } catch (error) {
    reportError(error);
  }
}

/** Listeners of a turn or an upload, by the type of what they listen to. */
export class Listeners {
  readonly #of = new Map<string, Set<Listener>>();

  get any(): boolean {
    return this.#of.size > 0;
  }

  add(type: string, listener: Listener): void {
    must(typeof listener === "function", "listener", "a function");
    if (!this.#of.has(type)) this.#of.set(type, new Set());
    this.#of.get(type)!.add(listener);
  }

  remove(type: string, listener: Listener): void {
    const listeners = this.#of.get(type);
    if (listeners?.delete(listener) && listeners.size === 0) this.#of.delete(type);
  }

  emit(type: string, argument: never): void {
    const listeners = this.#of.get(type);
    if (!listeners) return;
    for (const listener of [...listeners]) {
      // One of those before may have taken it away: then its page has gone on, and expects no call.
      if (listeners.has(listener)) guarded(listener, argument);
    }
  }
}
