import { explain } from "./errors.ts";
import { bytes, count, duration, grouped } from "./format.ts";
import type { ChatFileState, ChatStrings } from "./types.d.ts";

/** What the heading of the files counts, in the order in which it says it. */
const COUNTED: [words: string, states: ChatFileState[]][] = [
  ["uploading", ["preparing", "uploading", "offline", "reporting", "cancelling"]],
  ["waiting", ["waiting"]],
  ["paused", ["paused"]],
  ["being read", ["processing"]],
  ["ready", ["ready"]],
  ["failed", ["failed"]],
  ["cancelled", ["cancelled"]],
  ["to choose again", ["left"]],
];

const time = (before: string, took: string): string => (took ? `${before} ${took}` : "");

export const chatStrings: Readonly<ChatStrings> = {
  number: grouped,
  duration,
  bytes,
  events: (n) => count(n, "event"),
  blocks: (n) => count(n, "block"),

  conversation: "Conversation",
  latest: "Latest",
  you: "You",
  answer: (number) => `Answer ${number}`,
  waiting: "Waiting for the service…",
  answering: (took, events) => `Answering · ${took} · ${events}`,
  completed: (took, events, firstWord) => `Completed in ${took} · ${events}${time(" · first word after", firstWord)}`,
  stopped: (took) => `Stopped after ${took}`,
  stopAnswered: (refusal) => (refusal ? `, but the service did not confirm: ${refusal}` : ", here and at the service"),
  interrupted: (took, why) => `Interrupted after ${took}: ${why}`,
  failed: (why) => `Failed: ${why}`,
  details: "Details",
  pickUp: "Pick up again",
  sendAgain: "Send again",
  openSettings: "Open settings",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Could not copy",
  copyAnswer: "Copy answer",
  copyCode: "Copy code",
  thinking: "Thinking…",
  thought: (took) => `Thought${time(" for", took)}`,
  tool: "tool",
  toolBuilding: "writing its arguments",
  toolRunning: "running",
  toolFinished: (took) => `finished${time(" in", took)}`,
  toolWithoutResult: "no result came",
  toolArguments: "Arguments",
  toolResult: "Result",
  toolArgumentsOf: (tool) => `Arguments of ${tool}`,
  toolResultOf: (tool) => `Result of ${tool}`,
  code: (language) => `Code, ${language}`,
  table: "Table",
  image: (text) => `Image: ${text}`,

  message: "Message",
  messageField: "Message to the agent",
  placeholder: "Ask the agent…",
  send: "Send",
  stop: "Stop the answer",
  hint: "Enter sends, Shift+Enter starts a new line",
  hintRunning: "Esc stops the answer",
  hintBusy: "An answer is on its way. Esc stops it.",

  saidSent: "Message sent. The agent is answering.",
  saidCompleted: "Answer complete.",
  saidStopped: "Answer stopped.",
  saidFailed: "The turn failed.",
  saidInterrupted: "The answer was interrupted.",

  files: "Files",
  attach: "Add files",
  attachHint: "Add files: choose them, drop them here or paste them",
  drop: "Drop the files to upload them",
  folder: "A folder can't be uploaded: open it and add the files in it.",
  inList: (name) => `${name} is in the list already.`,
  filesCount(counts) {
    const sums = COUNTED.map(([words, states]) => [states.reduce((sum, state) => sum + (counts[state] ?? 0), 0), words] as const);
    return sums.filter(([n]) => n > 0).map(([n, words]) => `${n} ${words}`).join(", ");
  },
  uploadOf: (name) => `Upload of ${name}`,
  pauseFile: (name) => `Pause ${name}`,
  resumeFile: (name) => `Go on with ${name}`,
  againFile: (name) => `Upload ${name} again`,
  chooseFile: (name) => `Choose ${name} again`,
  cancelFile: (name) => `Cancel ${name}`,
  removeFile: (name) => `Remove ${name} from the list`,
  fileWaiting: "Waiting for its turn",
  filePreparing: "Preparing",
  fileUploading: "Uploading",
  fileChecking: "Checking",
  filePaused: "Paused",
  fileOffline: "Waiting for the network",
  fileReporting: "Telling the service",
  fileProcessing: (status) => (status === "" || status === "processing" ? "Stored. The service is reading it" : `Stored. The service says: ${status}`),
  fileReady: "Ready",
  fileFailed: (why) => `Failed: ${why}`,
  fileCancelling: "Cancelling",
  fileCancelled: "Cancelled",
  fileLeft: (percent) => (percent > 0 ? `${percent} % is stored. Choose the file again to go on` : "Choose the file again to upload it"),
  percent: (percent) => `${percent} %`,
  rate: (bytes) => `${bytes}/s`,
  timeLeft: (seconds) => (seconds < 60 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`),
  blocksDone: (done, total) => `${done}/${count(total, "block")}`,
  wentOnAt: (percent) => `went on at ${percent} %`,
  sumOf: (sum, name) => `${sum} of ${name}, copy`,
  questions: "Questions about the newest file",
  question: (name, topic) => `What does ${name} say about ${topic}?`,
  askAbout: (name) => `Ask about ${name}`,
  questionBegun: (name) => `What does ${name} say about `,

  misconfigured: "This chat is not set up",
  explain,
};

/** Puts words in place of the element's own; those that are not given are its own again. */
export function replaceStrings(strings: ChatStrings, given: Partial<ChatStrings>): void {
  if (typeof given !== "object" || given === null) throw new TypeError("strings must be an object of ChatStrings");
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(chatStrings, name)) {
      throw new TypeError(`strings.${name} must be left out, for there is no such string: there are ${Object.keys(chatStrings).join(", ")}`);
    }
    const kind = typeof chatStrings[name as keyof ChatStrings];
    if (value !== undefined && typeof value !== kind) throw new TypeError(`strings.${name} must be a ${kind}${kind === "function" ? " that gives a string" : ""}, not ${String(value)}`);
  }
  Object.assign(strings, chatStrings, Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));
}
