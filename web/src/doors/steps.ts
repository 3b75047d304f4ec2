import type { ToolCall, Turn } from "turnwire";

/** What a kit is told of a turn, in order. */
export interface Steps {
  text(delta: string): void;
  reasoning(delta: string): void;
  toolStarted(call: ToolCall): void;
  toolArguments(call: ToolCall, delta: string): void;
  /** The call is complete: its arguments are known, and the service runs it. */
  toolCalled(call: ToolCall): void;
  toolResult(call: ToolCall): void;
  /** The turn is over. With an error unless it is "completed" or "cancelled". */
  ended(status: Turn["status"], error?: Error): void;
}

/**
 * Tells of a turn from its state as of each event, not from what the event says: the client has read that already, by
 * whatever names the service calls it, and one who comes late is told of all that was before.
 */
export function follow(turn: Turn, steps: Steps): void {
  let text = 0, reasoning = 0;
  let known: readonly ToolCall[] = [];
  const look = (): void => {
    const { toolCalls } = turn;
    if (turn.reasoning.length > reasoning) steps.reasoning(turn.reasoning.slice(reasoning));
    reasoning = turn.reasoning.length;
    // What has not changed is the same object as before.
    if (toolCalls !== known) toolCalls.forEach((call, i) => call === known[i] || step(steps, call, known[i]));
    known = toolCalls;
    if (turn.text.length > text) steps.text(turn.text.slice(text));
    text = turn.text.length;
  };
  turn.on("event", look);
  turn.done().then(({ status }) => ended(status), (error: Error) => ended(turn.status, error));
  const ended = (status: Turn["status"], error?: Error): void => {
    turn.off("event", look);
    // Of one that was over before it was followed there were no events.
    look();
    steps.ended(status, error);
  };
}

/** Tells what became of a call since it was as before; undefined where it is new. A service may leave out any of the events. */
function step(steps: Steps, call: ToolCall, before: ToolCall | undefined): void {
  const was = before?.argumentsText ?? "";
  if (!before) steps.toolStarted(call);
  // The complete call may say otherwise than its fragments, and is right.
  if (call.argumentsText !== was && call.argumentsText.startsWith(was) && (!before || before.status === "building")) steps.toolArguments(call, call.argumentsText.slice(was.length));
  if (call.status !== "building" && (!before || before.status === "building")) steps.toolCalled(call);
  if (call.status === "finished" && before?.status !== "finished") steps.toolResult(call);
}

/** Why a tool failed, where its result says so: an object with the text `error`. */
export function toolError({ result }: ToolCall): string | undefined {
  const error: unknown = typeof result === "object" && result !== null && "error" in result ? result.error : undefined;
  return typeof error === "string" ? error : undefined;
}
