/** Adds to a set; the function that it gives takes it away again. */
export function join<T>(set: Set<T>, item: T): () => void {
  set.add(item);
  return () => set.delete(item);
}

/** Runs on the abort of a signal, where there is one, until the function that it gives is called. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  signal?.addEventListener("abort", run);
  return () => signal?.removeEventListener("abort", run);
}
