/**
 * `<turnwire-chat>`: a conversation, the field to write in and the files that are uploaded, as an element of any page. Importing
 * defines it; on a server it does nothing.
 *
 * Taken out of the page it ends its turns and uploads as the client's option pageHide says of a page that goes away, and goes on
 * in the same chat once it is put in again.
 */
import type { AgentClient, AgentFile, Turn, TurnStatus, UploadOptions } from "turnwire";

/** The element. */
export class TurnwireChat extends HTMLElement {
  /**
   * Used for everything. Without one, the element makes its own of base-url, workspace-id, agent-id and apiKey, and closes it
   * when it is taken out of the page; one that is given it leaves to its owner. Another client is another chat.
   * @throws TypeError where it is none.
   */
  client: AgentClient | undefined;
  /** For the element's own client. No attribute: what stands in a page's markup is read by whoever reads the page. */
  apiKey: string | (() => string | Promise<string>) | undefined;
  /** The attribute base-url: address that the service's /v1 paths are relative to, absolute or relative to the page. */
  baseURL: string;
  /** The attribute workspace-id. Another address or workspace has none of the files in the list. */
  workspaceId: string;
  /** The attribute agent-id. */
  agentId: string;
  /** The attribute model: overrides the agent's for the messages sent from then on. "" is the agent's own. */
  model: string;
  /** The attribute temporary: the next chat is not kept in the history. */
  temporary: boolean;
  /** The attribute no-files: takes none. */
  noFiles: boolean;
  /**
   * The attribute keep: a name under which the chat and the list of files are kept in this tab's sessionStorage, so that they
   * survive a reload, which then interrupts no turn; another for each such element. "" keeps nothing.
   */
  keep: string;
  /** Of uploads; what is undefined is as for Files.upload, the purpose "rag". */
  uploadOptions: ChatUploadOptions;
  /**
   * What differs from the element's own words, which are English. Takes effect on what is drawn from then on.
   * @throws TypeError naming a string that there is not, or what it should be.
   */
  strings: Partial<ChatStrings>;
  /**
   * Where files may be dropped and pasted. Default: the element; document takes them from the whole page.
   * @throws TypeError where nothing can be dropped on it.
   */
  dropTarget: EventTarget;
  /** Where it is given, a failure that other settings could cure offers a button that calls it. */
  openSettings: (() => void) | undefined;

  /** Of the chat that is shown; undefined before its first message. Set, it opens a chat that exists, with nothing shown of it. */
  get chatId(): string | undefined;
  /** Opens another chat. */
  set chatId(id: string | undefined);
  /** Whether a turn is under way. */
  readonly running: boolean;
  /** Sends a message as if it was written in the field; false, and nothing is sent, while a turn is under way or an attribute is wrong. */
  send(message: string): boolean;
  /** Stops the turn that is under way, here and at the service. Resolves when the service has answered; never rejects. */
  stop(): Promise<void>;
  /** Begins a new chat, which the service makes at its first message. A turn under way is stopped. */
  reset(): void;
  /** Puts a message into the field, unless something is written there. */
  draft(message: string): void;
  /** Uploads files as if they were chosen. */
  addFiles(files: Iterable<File>): void;
  /** Resolves when nothing that has begun by now is under way. */
  settled(): Promise<void>;

  /** Listens to what happens in the element: ChatEvents has its events. */
  addEventListener<T extends keyof ChatEvents>(type: T, listener: (this: TurnwireChat, event: CustomEvent<ChatEvents[T]>) => unknown, options?: boolean | AddEventListenerOptions): void;
  /** Any other event, as of every element. */
  addEventListener<T extends Exclude<keyof HTMLElementEventMap, keyof ChatEvents>>(type: T, listener: (this: TurnwireChat, event: HTMLElementEventMap[T]) => unknown, options?: boolean | AddEventListenerOptions): void;
  /** An event of a page's own. */
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

/** Of an upload's options those that the element leaves to the page. */
export type ChatUploadOptions = Pick<UploadOptions, "purpose" | "blockSize" | "concurrency" | "blockTries" | "blockTimeout" | "checksum" | "checksumEncoding" | "mapUploadTicket">;

/** What an event's `detail` holds. None bubbles. */
export interface ChatEvents {
  /** A turn begins: the place to listen to it, before its first event. */
  turn: {
    /** Not yet begun at the service. */
    readonly turn: Turn;
    /** As it was written. */
    readonly message: string;
  };
  /** It is over. */
  turnend: {
    /** undefined where there was none, since the chat could not be created. */
    readonly turn: Turn | undefined;
    /** As it was written. */
    readonly message: string;
    /** How it ended. */
    readonly status: TurnStatus;
    /** Why it failed or was interrupted. */
    readonly error?: unknown;
  };
  /** `running` or `chatId` has changed. */
  statechange: undefined;
  /** A file enters a state. */
  file: {
    /** The file's own. */
    readonly name: string;
    /** Bytes. */
    readonly size: number;
    /** The new one. */
    readonly state: ChatFileState;
    /** Once it is ready. */
    readonly file?: Pick<AgentFile, "id" | "checksum">;
    /** Where it failed. */
    readonly error?: unknown;
  };
  /** An attribute or apiKey is missing or wrong: nothing is sent until it is right. */
  error: {
    /** The attribute's. */
    readonly name: string;
    /** Its message is what the element shows. */
    readonly error: Error;
  };
}

/**
 * waiting → preparing → uploading (paused, offline) → reporting → processing → ready, failed or cancelled. One that a reload cut
 * off is left until its file is chosen again.
 */
export type ChatFileState =
  | "waiting" | "preparing" | "uploading" | "paused" | "offline" | "reporting" | "processing"
  | "ready" | "failed" | "cancelling" | "cancelled" | "left";

/** What went wrong, in words for the person who waits for an answer. */
export interface Explanation {
  /** Follows "Failed: " in one line. */
  message: string;
  /** What to do about it. */
  advice: string;
  /** Whether openSettings could help. */
  settings?: boolean;
}

/** Every word of the element. */
export interface ChatStrings {
  // ---------------------------------------------------------------------------------------------- numbers
  /** “1,234” */
  number: (value: number) => string;
  /** “1.5 s”. Of milliseconds. */
  duration: (ms: number) => string;
  /** “614 kB”. A size. */
  bytes: (size: number) => string;
  /** “67 events” */
  events: (count: number) => string;
  /** “3 blocks” */
  blocks: (count: number) => string;

  // ------------------------------------------------------------------------------------------ conversation
  /** “Conversation” */
  conversation: string;
  /** “Latest” */
  latest: string;
  /** “You”. The name of the reader's message, for screen readers. */
  you: string;
  /** “Answer 2”. The name of answer `number`, from 1. */
  answer: (number: number) => string;
  /** “Waiting for the service…” */
  waiting: string;
  /** “Answering · 1.5 s · 67 events” */
  answering: (took: string, events: string) => string;
  /** “Completed in 1.5 s · 67 events · first word after 368 ms”. `firstWord` is a duration, "" where there was none. */
  completed: (took: string, events: string, firstWord: string) => string;
  /** “Stopped after 1.5 s” */
  stopped: (took: string) => string;
  /** “, here and at the service”. Follows `stopped` once the service has answered; `refusal` is "" where it has stopped. */
  stopAnswered: (refusal: string) => string;
  /** “Interrupted after 1.5 s: the connection ended before the answer did” */
  interrupted: (took: string, why: string) => string;
  /** “Failed: the request was refused” */
  failed: (why: string) => string;
  /** “Details” */
  details: string;
  /** “Pick up again” */
  pickUp: string;
  /** “Send again” */
  sendAgain: string;
  /** “Open settings” */
  openSettings: string;
  /** “Copy” */
  copy: string;
  /** “Copied” */
  copied: string;
  /** “Could not copy” */
  notCopied: string;
  /** “Copy answer” */
  copyAnswer: string;
  /** “Copy code” */
  copyCode: string;
  /** “Thinking…” */
  thinking: string;
  /** “Thought for 1.5 s”. `took` is "" where it was not watched. */
  thought: (took: string) => string;
  /** “tool”. A call without a name. */
  tool: string;
  /** “writing its arguments” */
  toolBuilding: string;
  /** “running” */
  toolRunning: string;
  /** “finished in 184 ms”. `took` is "" where it was not watched. */
  toolFinished: (took: string) => string;
  /** “no result came” */
  toolWithoutResult: string;
  /** “Arguments” */
  toolArguments: string;
  /** “Result” */
  toolResult: string;
  /** “Arguments of calculator”. For screen readers. */
  toolArgumentsOf: (tool: string) => string;
  /** “Result of calculator” */
  toolResultOf: (tool: string) => string;
  /** “Code, js”. For screen readers. */
  code: (language: string) => string;
  /** “Table” */
  table: string;
  /** “Image: a whale” */
  image: (text: string) => string;

  // --------------------------------------------------------------------------------------------- composer
  /** “Message” */
  message: string;
  /** “Message to the agent” */
  messageField: string;
  /** “Ask the agent…” */
  placeholder: string;
  /** “Send” */
  send: string;
  /** “Stop the answer” */
  stop: string;
  /** “Enter sends, Shift+Enter starts a new line” */
  hint: string;
  /** “Esc stops the answer” */
  hintRunning: string;
  /** “An answer is on its way. Esc stops it.”. Where a message is sent while an answer is on its way. */
  hintBusy: string;

  // ------------------------------------------------------------------------------- said to screen readers
  /** “Message sent. The agent is answering.” */
  saidSent: string;
  /** “Answer complete.” */
  saidCompleted: string;
  /** “Answer stopped.” */
  saidStopped: string;
  /** “The turn failed.” */
  saidFailed: string;
  /** “The answer was interrupted.” */
  saidInterrupted: string;

  // ------------------------------------------------------------------------------------------------ files
  /** “Files” */
  files: string;
  /** “Add files” */
  attach: string;
  /** “Add files: choose them, drop them here or paste them” */
  attachHint: string;
  /** “Drop the files to upload them” */
  drop: string;
  /** “A folder can't be uploaded: open it and add the files in it.” */
  folder: string;
  /** “a.txt is in the list already.” */
  inList: (name: string) => string;
  /** “1 uploading, 2 ready”. How many files are in each state; none where there is no file. */
  filesCount: (counts: Readonly<Partial<Record<ChatFileState, number>>>) => string;
  /** “Upload of a.txt” */
  uploadOf: (name: string) => string;
  /** “Pause a.txt” */
  pauseFile: (name: string) => string;
  /** “Go on with a.txt” */
  resumeFile: (name: string) => string;
  /** “Upload a.txt again” */
  againFile: (name: string) => string;
  /** “Choose a.txt again” */
  chooseFile: (name: string) => string;
  /** “Cancel a.txt” */
  cancelFile: (name: string) => string;
  /** “Remove a.txt from the list” */
  removeFile: (name: string) => string;
  /** “Waiting for its turn” */
  fileWaiting: string;
  /** “Preparing” */
  filePreparing: string;
  /** “Uploading” */
  fileUploading: string;
  /** “Checking”. All bytes are stored, the checksum is still computed. */
  fileChecking: string;
  /** “Paused” */
  filePaused: string;
  /** “Waiting for the network” */
  fileOffline: string;
  /** “Telling the service” */
  fileReporting: string;
  /** “Stored. The service is reading it”. `status` is the service's own word, "" where it has said none. */
  fileProcessing: (status: string) => string;
  /** “Ready” */
  fileReady: string;
  /** “Failed: the storage did not take it” */
  fileFailed: (why: string) => string;
  /** “Cancelling” */
  fileCancelling: string;
  /** “Cancelled” */
  fileCancelled: string;
  /** “50 % is stored. Choose the file again to go on”. `percent` of it is stored. */
  fileLeft: (percent: number) => string;
  /** “48 %” */
  percent: (percent: number) => string;
  /** “11 MB/s” */
  rate: (bytes: string) => string;
  /** “3 s left” */
  timeLeft: (seconds: number) => string;
  /** “3/6 blocks” */
  blocksDone: (done: number, total: number) => string;
  /** “went on at 50 %” */
  wentOnAt: (percent: number) => string;
  /** “SHA-256 a6ea168b… of a.txt, copy” */
  sumOf: (sum: string, name: string) => string;
  /** “Questions about the newest file” */
  questions: string;
  /** “What does a.md say about whales?”. Offered as a message about a text file and something that it writes about. */
  question: (name: string, topic: string) => string;
  /** “Ask about a.md” */
  askAbout: (name: string) => string;
  /** “What does a.md say about ”. What askAbout writes into the field, for the reader to go on. */
  questionBegun: (name: string) => string;

  // ---------------------------------------------------------------------------------------------- trouble
  /** “This chat is not set up”. An attribute is missing or wrong. */
  misconfigured: string;
  /** Of what a turn or an upload ended with: an error of the package, most often. */
  explain: (error: unknown, where: { readonly baseURL: string; readonly workspaceId: string; readonly agentId: string }) => Explanation;
}

/** The element's own words, for strings that add to them. */
export const chatStrings: Readonly<ChatStrings>;

declare global {
  interface HTMLElementTagNameMap {
    "turnwire-chat": TurnwireChat;
  }
}
