/** Lets go of a stream or its reader. Those of a fetch of the page's own may throw, or never settle. */
export function letGo(stream: { cancel(): unknown } | null | undefined): void {
  try {
    Promise.resolve(stream?.cancel()).catch(() => {});
  } catch {
    // It is let go all the same.
  }
}
