/**
 * An agent for AG-UI 1.0: what runs on AbstractAgent of @ag-ui/client talks to the service without a server of the page's own.
 *
 * @module turnwire/ag-ui
 */
import { AbstractAgent, type AgentConfig, type AGUIEvent, EventType, type RunAgentInput } from "@ag-ui/client";
import { Observable } from "rxjs";
import type { AgentClient, Chat, Part, SendOptions, ToolCall, Turn } from "turnwire";
import { chatsOf } from "./chats.ts";
import { follow, type Steps } from "./steps.ts";

/** What the agent is made with, beside what the kit knows. */
export interface TurnwireAgentConfig extends AgentConfig {
  /** Sends the messages. */
  client: AgentClient;
  /**
   * The service's chat for a thread, by the thread's id; asked once an id, at its first run. Default: a new one, of the client's
   * workspace and agent. `(id) => client.chats.open(id)` where the threads' ids are the service's.
   */
  openChat?: (threadId: string) => Chat | Promise<Chat>;
  /** For every message. */
  send?: Omit<SendOptions, "signal" | "idempotencyKey">;
}

/**
 * Each run sends the newest message alone, under its id as idempotency key: the service has those before it, and its own tools;
 * the run's tools, context and state stay where they are. A run of a message whose answer broke off asks for the same answer
 * again. RUN_FINISHED says "success" or "cancelled"; anything else is a RUN_ERROR with the `code` of the client's error, and so
 * is what the service has no way to do: a newest message that is not the user's, content other than text, and resume.
 */
export class TurnwireAgent extends AbstractAgent {
  // Not private in JavaScript's own way: clone() of the kit makes agents without their constructor.
  protected readonly config: TurnwireAgentConfig;
  protected readonly chats: (threadId: string) => Promise<Chat>;
  protected readonly running = new Set<AbortController>();

  constructor(config: TurnwireAgentConfig) {
    super(config);
    this.config = config;
    this.chats = chatsOf(config);
  }

  /** Events of one run. Who unsubscribes before its end, as detachActiveRun() does, ends the turn as the client's pageHide says. */
  override run(input: RunAgentInput): Observable<AGUIEvent> {
    return new Observable((subscriber) => {
      const { client, send } = this.config;
      const controller = new AbortController();
      let turn: Turn | undefined, left = false;
      const steps = stepsTo(input, (event) => subscriber.next(event), () => {
        this.running.delete(controller);
        subscriber.complete();
      });
      this.running.add(controller);
      void (async () => {
        subscriber.next({ type: EventType.RUN_STARTED, threadId: input.threadId, runId: input.runId });
        try {
          const { id, parts } = messageOf(input);
          const chat = await this.chats(input.threadId);
          if (left) return;
          turn = chat.send(parts, { ...send, idempotencyKey: id, signal: controller.signal });
          follow(turn, steps);
        } catch (error) {
          steps.ended("failed", error as Error);
        }
      })();
      return () => {
        left = true;
        this.running.delete(controller);
        if (client.pageHide === "abort") controller.abort();
        else turn?.disconnect();
      };
    });
  }

  /** Stops every run of this agent, here and at the service. */
  override abortRun(): void {
    for (const controller of [...this.running]) controller.abort();
  }

  /** An agent of the same chats, and of runs of its own. */
  override clone(): TurnwireAgent {
    return Object.assign(super.clone(), { config: this.config, chats: this.chats, running: new Set() });
  }
}

/** The message that a run is to send. */
function messageOf({ messages, resume }: RunAgentInput): { id: string; parts: Part[] } {
  const message = messages.at(-1);
  if (resume?.length) throw new Error("turnwire: the service interrupts no run that could be resumed");
  if (message?.role !== "user") throw new Error("turnwire: the newest message must be the user's: the service runs its tools itself");
  const { id, content } = message;
  if (typeof content === "string") return { id, parts: [{ type: "text", text: content }] };
  return { id, parts: content.map((part) => {
    if (part.type !== "text") throw new Error(`turnwire: the service takes text, not content of the type "${part.type}"`);
    return { type: "text", text: part.text };
  }) };
}

/** A turn as the events of a run. Ids begin with the run's: a later run, of the same message too, has others. */
function stepsTo({ threadId, runId }: RunAgentInput, put: (event: AGUIEvent) => void, over: () => void): Steps {
  let messages = 0;
  let open: { kind: "text" | "reasoning"; messageId: string } | undefined;
  /** Calls that have not ended, by their ids; whether anything of their arguments was told. */
  const calls = new Map<string, boolean>();
  const callId = ({ id }: ToolCall): string => `${runId}-${id}`;
  const newId = (): string => `${runId}-${++messages}`;

  const close = (): void => {
    if (!open) return;
    const { kind, messageId } = open;
    open = undefined;
    if (kind === "text") return put({ type: EventType.TEXT_MESSAGE_END, messageId });
    put({ type: EventType.REASONING_MESSAGE_END, messageId });
    put({ type: EventType.REASONING_END, messageId });
  };
  /** The id of the message that a text goes to: another one where the kind has changed. */
  const into = (kind: "text" | "reasoning"): string => {
    if (open?.kind === kind) return open.messageId;
    close();
    const messageId = newId();
    open = { kind, messageId };
    if (kind === "text") put({ type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" });
    else {
      put({ type: EventType.REASONING_START, messageId });
      put({ type: EventType.REASONING_MESSAGE_START, messageId, role: "reasoning" });
    }
    return messageId;
  };

  return {
    text: (delta) => put({ type: EventType.TEXT_MESSAGE_CONTENT, messageId: into("text"), delta }),
    reasoning: (delta) => put({ type: EventType.REASONING_MESSAGE_CONTENT, messageId: into("reasoning"), delta }),
    toolStarted: (call) => {
      close();
      calls.set(callId(call), false);
      put({ type: EventType.TOOL_CALL_START, toolCallId: callId(call), toolCallName: call.name || "tool" });
    },
    toolArguments: (call, delta) => {
      calls.set(callId(call), true);
      put({ type: EventType.TOOL_CALL_ARGS, toolCallId: callId(call), delta });
    },
    toolCalled: (call) => {
      const toolCallId = callId(call);
      // Of a service that tells them at once.
      if (!calls.get(toolCallId) && call.arguments !== undefined) put({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(call.arguments) });
      calls.delete(toolCallId);
      put({ type: EventType.TOOL_CALL_END, toolCallId });
    },
    toolResult: (call) => {
      const { result = null } = call;
      // A text that goes on afterwards is another message, as the result stands between.
      close();
      put({ type: EventType.TOOL_CALL_RESULT, messageId: newId(), toolCallId: callId(call), content: typeof result === "string" ? result : JSON.stringify(result) });
    },
    ended: (status, error) => {
      close();
      for (const toolCallId of calls.keys()) put({ type: EventType.TOOL_CALL_END, toolCallId });
      if (error) put({ type: EventType.RUN_ERROR, message: error.message, ...codeOf(error) });
      // A call without a result is not the page's to answer.
      else put({ type: EventType.RUN_FINISHED, threadId, runId, outcome: status === "completed" ? { type: "success", pendingToolCallIds: [] } : { type: "cancelled" } });
      over();
    },
  };
}

function codeOf(error: Error): { code?: string } {
  return "code" in error && typeof error.code === "string" ? { code: error.code } : {};
}
