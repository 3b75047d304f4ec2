/**
 * `<turnwire-chat>`: a conversation, the field to write in and the files that are uploaded, as an element of any page. Importing
 * defines it; on a server it does nothing.
 *
 * Taken out of the page it ends its turns and uploads as the client's option pageHide says of a page that goes away, and goes on
 * in the same chat once it is put in again.
 */
import type { AgentClient, AgentFile, Turn, TurnStatus, UploadOptions } from "turnwire";

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

  addEventListener<T extends keyof ChatEvents>(type: T, listener: (this: TurnwireChat, event: CustomEvent<ChatEvents[T]>) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener<T extends Exclude<keyof HTMLElementEventMap, keyof ChatEvents>>(type: T, listener: (this: TurnwireChat, event: HTMLElementEventMap[T]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

export type ChatUploadOptions = Pick<UploadOptions, "purpose" | "blockSize" | "concurrency" | "blockTries" | "blockTimeout" | "checksum" | "checksumEncoding" | "mapUploadTicket">;

/** What an event's `detail` holds. None bubbles. */
export interface ChatEvents {
  /** A turn begins: the place to listen to it, before its first event. */
  turn: { readonly turn: Turn; readonly message: string };
  /** It is over. `turn` is undefined where there was none, since the chat could not be created. */
  turnend: { readonly turn: Turn | undefined; readonly message: string; readonly status: TurnStatus; readonly error?: unknown };
  /** `running` or `chatId` has changed. */
  statechange: undefined;
  /** A file enters a state. `file` once it is ready, `error` where it failed. */
  file: { readonly name: string; readonly size: number; readonly state: ChatFileState; readonly file?: Pick<AgentFile, "id" | "checksum">; readonly error?: unknown };
  /** An attribute or apiKey is missing or wrong: nothing is sent until it is right. `name` is the attribute's. */
  error: { readonly name: string; readonly error: Error };
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
  number: (value: number) => string;
  /** Of milliseconds. */
  duration: (ms: number) => string;
  /** A size. */
  bytes: (size: number) => string;
  events: (count: number) => string;
  blocks: (count: number) => string;

  // ------------------------------------------------------------------------------------------ conversation
  conversation: string;
  latest: string;
  /** The name of the reader's message, for screen readers. */
  you: string;
  /** The name of answer `number`, from 1. */
  answer: (number: number) => string;
  waiting: string;
  answering: (took: string, events: string) => string;
  /** `firstWord` is a duration, "" where there was none. */
  completed: (took: string, events: string, firstWord: string) => string;
  stopped: (took: string) => string;
  /** Follows `stopped` once the service has answered; `refusal` is "" where it has stopped. */
  stopAnswered: (refusal: string) => string;
  interrupted: (took: string, why: string) => string;
  failed: (why: string) => string;
  details: string;
  pickUp: string;
  sendAgain: string;
  openSettings: string;
  copy: string;
  copied: string;
  notCopied: string;
  copyAnswer: string;
  copyCode: string;
  thinking: string;
  /** `took` is "" where it was not watched. */
  thought: (took: string) => string;
  /** A call without a name. */
  tool: string;
  toolBuilding: string;
  toolRunning: string;
  /** `took` is "" where it was not watched. */
  toolFinished: (took: string) => string;
  toolWithoutResult: string;
  toolArguments: string;
  toolResult: string;
  /** For screen readers. */
  toolArgumentsOf: (tool: string) => string;
  toolResultOf: (tool: string) => string;
  /** For screen readers. */
  code: (language: string) => string;
  table: string;
  image: (text: string) => string;

  // --------------------------------------------------------------------------------------------- composer
  message: string;
  messageField: string;
  placeholder: string;
  send: string;
  stop: string;
  hint: string;
  hintRunning: string;
  /** Where a message is sent while an answer is on its way. */
  hintBusy: string;

  // ------------------------------------------------------------------------------- said to screen readers
  saidSent: string;
  saidCompleted: string;
  saidStopped: string;
  saidFailed: string;
  saidInterrupted: string;

  // ------------------------------------------------------------------------------------------------ files
  files: string;
  attach: string;
  attachHint: string;
  drop: string;
  folder: string;
  inList: (name: string) => string;
  /** How many files are in each state; none where there is no file. */
  filesCount: (counts: Readonly<Partial<Record<ChatFileState, number>>>) => string;
  uploadOf: (name: string) => string;
  pauseFile: (name: string) => string;
  resumeFile: (name: string) => string;
  againFile: (name: string) => string;
  chooseFile: (name: string) => string;
  cancelFile: (name: string) => string;
  removeFile: (name: string) => string;
  fileWaiting: string;
  filePreparing: string;
  fileUploading: string;
  /** All bytes are stored, the checksum is still computed. */
  fileChecking: string;
  filePaused: string;
  fileOffline: string;
  fileReporting: string;
  /** `status` is the service's own word, "" where it has said none. */
  fileProcessing: (status: string) => string;
  fileReady: string;
  fileFailed: (why: string) => string;
  fileCancelling: string;
  fileCancelled: string;
  /** `percent` of it is stored. */
  fileLeft: (percent: number) => string;
  percent: (percent: number) => string;
  rate: (bytes: string) => string;
  timeLeft: (seconds: number) => string;
  blocksDone: (done: number, total: number) => string;
  wentOnAt: (percent: number) => string;
  sumOf: (sum: string, name: string) => string;
  questions: string;
  /** Offered as a message about a text file and something that it writes about. */
  question: (name: string, topic: string) => string;
  askAbout: (name: string) => string;
  /** What askAbout writes into the field, for the reader to go on. */
  questionBegun: (name: string) => string;

  // ---------------------------------------------------------------------------------------------- trouble
  /** An attribute is missing or wrong. */
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
