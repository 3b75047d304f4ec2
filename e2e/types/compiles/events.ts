// Events narrow by their type, in loops and in listeners, and kinds yet unknown have a place.

import type { ErrorEvent, TextDeltaEvent, ToolCall, Turn, TurnEvent, TurnEventOf, TurnEventType, UnknownTurnEvent } from "turnwire";

export function show(event: TurnEvent): string {
  switch (event.type) {
    case "text_delta": {
      const { chunk } = event.data;
      return chunk;
    }
    case "reasoning_delta":
    case "tool_call_started":
    case "tool_call_delta":
    case "tool_call":
    case "tool_result":
    case "turn_complete":
      return JSON.stringify(event.data["anything"] ?? event.id);
    case "error":
      return String(event.data["message"]);
    default: {
      // Every documented kind is above.
      const none: never = event;
      const unknown: UnknownTurnEvent = none;
      return unknown.type;
    }
  }
}

export function listen(turn: Turn): void {
  const onText = (event: TextDeltaEvent): void => console.log(event.data.chunk.length);
  turn
    .on("text_delta", onText)
    .on("error", (event: ErrorEvent) => console.log(event.data))
    .on("tool_call", (event) => console.log(event.data["name"]))
    .on("event", (event) => console.log(show(event)))
    .on("update", (updated) => console.log(updated.text, updated === turn))
    .on("end", ({ status }) => console.log(status))
    .off("text_delta", onText);
}

export const kinds: TurnEventType[] = ["text_delta", "error"];
export const complete: TurnEventOf<"turn_complete"> = { type: "turn_complete", data: {} };

export function describe(call: ToolCall): string {
  const { id, name, status, argumentsText, arguments: parsed, result, matchedBy } = call;
  if (status === "finished") return `${id} ${name} ${String(result)}`;
  return status === "running" ? `${String(parsed)} ${matchedBy === "order"}` : argumentsText;
}
