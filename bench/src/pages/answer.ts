/** Shows what has come of the answer. */
export function answer(text: string | null | undefined): void {
  if (text) document.querySelector("output")!.textContent = text;
}
