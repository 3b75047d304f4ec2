// What a page has where README and docs show a piece of its script: names that the words around it speak of.

import type * as turnwire from "turnwire";

declare global {
  const client: turnwire.AgentClient;
  const chat: turnwire.Chat;
  const turn: turnwire.Turn;
  const upload: turnwire.Upload;
  const getKey: () => Promise<string>;
  const getToken: () => Promise<string>;

  const answer: HTMLElement;
  const bar: HTMLProgressElement;
  const input: HTMLInputElement & { files: FileList };
  const stopButton: HTMLButtonElement;
  const pauseButton: HTMLButtonElement;
}
