import { find } from "./dom.ts";

/** While files are held over the page it is told so several times a second, at rest too. In ms. */
const GONE_AFTER = 500;

/** Takes files that are dropped anywhere on the page, or pasted. */
export function takeFiles(take: (files: File[]) => void, refused: (why: string) => void): void {
  const target = find("drop", HTMLElement);
  /** Behind a dialog nobody sees where they would go; a drop that is not taken would leave the page for the file. */
  const covered = () => document.querySelector("dialog[open]") !== null;

  let leaving = 0;
  const over = (event: DragEvent) => {
    const { dataTransfer } = event;
    if (!dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    dataTransfer.dropEffect = covered() ? "none" : "copy";
    target.hidden = covered();
    // Not by dragleave: some browsers don't tell in it whether the page or only an element was left.
    clearTimeout(leaving);
    leaving = setTimeout(() => (target.hidden = true), GONE_AFTER);
  };
  document.addEventListener("dragenter", over);
  document.addEventListener("dragover", over);
  document.addEventListener("drop", (event) => {
    clearTimeout(leaving);
    target.hidden = true;
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (covered()) return;
    const { files, folders } = read(event.dataTransfer);
    if (files.length > 0) take(files);
    if (folders > 0) refused("A folder can't be uploaded: open it and add the files in it.");
  });

  document.addEventListener("paste", (event) => {
    const { clipboardData } = event;
    if (!clipboardData?.types.includes("Files") || covered()) return;
    // Office programs put a picture beside the text that was copied; the text is what is meant.
    if (clipboardData.types.includes("text/plain") && clipboardData.types.includes("text/html")) return;
    const { files } = read(clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    take(files);
  });
}

function read(data: DataTransfer): { files: File[]; folders: number } {
  const files: File[] = [];
  let folders = 0;
  for (const item of data.items) {
    if (item.kind !== "file") continue;
    const file = item.getAsFile();
    if (item.webkitGetAsEntry()?.isDirectory) folders += 1;
    else if (file) files.push(file);
  }
  return { files, folders };
}
