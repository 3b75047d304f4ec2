/** While files are held over the page it is told so several times a second, at rest too. In ms. */
const GONE_AFTER = 500;

export interface FileDrop {
  /** Shown while files are held over the page. */
  shown: HTMLElement;
  take: (files: File[]) => void;
  /** A folder was dropped. */
  refused: () => void;
}

/** Takes files that are dropped on the target or pasted there, until the returned function is called. */
export function takeFiles(target: EventTarget, { shown, take, refused }: FileDrop): () => void {
  /** Behind a dialog nobody sees where they would go; a drop that is not taken would leave the page for the file. */
  const covered = () => {
    const dialog = document.querySelector(":modal");
    const host = (shown.getRootNode() as ShadowRoot).host;
    return dialog !== null && !dialog.contains(host);
  };

  let leaving = 0;
  const gone = () => {
    clearTimeout(leaving);
    shown.hidden = true;
  };
  const over = (event: DragEvent) => {
    const { dataTransfer } = event;
    // Another element within this target has taken it.
    if (event.defaultPrevented || !dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    dataTransfer.dropEffect = covered() ? "none" : "copy";
    shown.hidden = covered();
    // Not by dragleave: some browsers don't tell in it whether the page or only an element was left.
    clearTimeout(leaving);
    leaving = window.setTimeout(gone, GONE_AFTER);
  };
  const drop = (event: DragEvent) => {
    gone();
    if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (covered()) return;
    const { files, folders } = read(event.dataTransfer);
    if (files.length > 0) take(files);
    if (folders > 0) refused();
  };
  const paste = (event: ClipboardEvent) => {
    const { clipboardData } = event;
    if (event.defaultPrevented || !clipboardData?.types.includes("Files") || covered()) return;
    // Office programs put a picture beside the text that was copied; the text is what is meant.
    if (clipboardData.types.includes("text/plain") && clipboardData.types.includes("text/html")) return;
    const { files } = read(clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    take(files);
  };

  const listeners = { dragenter: over, dragover: over, drop, paste };
  for (const [type, listener] of Object.entries(listeners)) target.addEventListener(type, listener as EventListener);
  return () => {
    gone();
    for (const [type, listener] of Object.entries(listeners)) target.removeEventListener(type, listener as EventListener);
  };
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
