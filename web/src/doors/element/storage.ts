type Kind = "localStorage" | "sessionStorage";

/** Storage throws where the browser forbids it (private windows, blocked site data); the chat works without. */
export function read(kind: Kind, name: string): string | undefined {
  try {
    return window[kind].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function write(kind: Kind, name: string, value: string): void {
  try {
    window[kind].setItem(name, value);
  } catch {
    // Not remembered, which the next visit shows.
  }
}

export function remove(kind: Kind, name: string): void {
  try {
    window[kind].removeItem(name);
  } catch {
    // Nothing was kept either.
  }
}
