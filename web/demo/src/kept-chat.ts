import type { Turn } from "turnwire";
import type { Settings } from "./settings.ts";
import { read, remove, write } from "./storage.ts";

/** What a turn has to show, without the turn. */
export type Snapshot = Pick<Turn, "text" | "reasoning" | "toolCalls" | "status">;

export interface KeptTurn {
  message: string;
  /** With it, a turn that a reload cut off is picked up and not sent twice. */
  key: string;
  closing: string;
  turn: Snapshot;
}

interface KeptChat {
  connection: string;
  chatId: string;
  turns: KeptTurn[];
}

const STORED = "turnwire-demo-chat";

/**
 * Keeps the chat in this tab over a reload: the service has no way to read a chat's messages back. A page that is
 * opened anew starts with a new chat.
 */
export function keep(settings: Settings, chatId: string, turns: Iterable<KeptTurn>): void {
  const chat: KeptChat = { connection: connectionOf(settings), chatId, turns: [...turns] };
  write("sessionStorage", STORED, JSON.stringify(chat));
}

export function forget(): void {
  remove("sessionStorage", STORED);
}

export function kept(settings: Settings): KeptChat | undefined {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (navigation?.type !== "reload" && navigation?.type !== "back_forward") return undefined;
  try {
    const chat = JSON.parse(read("sessionStorage", STORED) ?? "null") as KeptChat | null;
    return chat?.connection === connectionOf(settings) ? chat : undefined;
  } catch {
    return undefined;
  }
}

function connectionOf({ baseURL, workspaceId, agentId }: Settings): string {
  return JSON.stringify([baseURL, workspaceId, agentId]);
}
