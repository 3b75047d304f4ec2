/** Uploads what the person chooses. */
export function upload(start: (file: File) => unknown): void {
  const input = document.querySelector("input")!;
  input.onchange = () => start(input.files![0]!);
}
