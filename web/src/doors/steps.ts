import type { ToolCall, Turn, TurnEvent } from "turnwire";
import { NextFrame } from "./frames.ts";

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
 *
 * A page is told once a frame, and at the end, of all that came meanwhile, a run of one kind as one step: kits render at each.
 */
export function follow(turn: Turn, steps: Steps): void {
  let text = 0, reasoning = 0;
  let known: readonly ToolCall[] = [];
  /** What is to be told, in order. */
  let untold: (() => void)[] = [];
  const ofText = (): void => {
    const delta = turn.text.slice(text);
    text += delta.length;
    if (delta) untold.push(() => steps.text(delta));
  };
  const ofReasoning = (): void => {
    const delta = turn.reasoning.slice(reasoning);
    reasoning += delta.length;
    if (delta) untold.push(() => steps.reasoning(delta));
  };
  const ofTools = (): void => {
    const { toolCalls } = turn, before = known;
    known = toolCalls;
    // What has not changed is the same object as before.
    if (toolCalls !== before) untold.push(() => toolCalls.forEach((call, i) => call === before[i] || step(steps, call, before[i])));
  };
  const tell = (): void => {
    for (const take of [ofReasoning, ofTools, ofText]) take();
    const now = untold;
    untold = [];
    for (const say of now) say();
  };
  const next = new NextFrame(tell);
  /** Takes what grew last. */
  let take = ofText;
  const look = ({ type }: TurnEvent): void => {
    const last = take;
    take = type === "text_delta" ? ofText : type === "reasoning_delta" ? ofReasoning : ofTools;
    // It came before what this event is of.
    if (take !== last) last();
    next.ask();
  };
  turn.on("event", look);
  turn.done().then(({ status }) => ended(status), (error: Error) => ended(turn.status, error));
  const ended = (status: Turn["status"], error?: Error): void => {
    turn.off("event", look);
    next.cancel();
    // Of one that was over before it was followed there were no events.
    tell();
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
