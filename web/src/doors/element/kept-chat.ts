import type { Turn } from "turnwire";
import { Kept } from "./kept.ts";

/** What a turn has to show, without the turn. */
export type Snapshot = Pick<Turn, "text" | "reasoning" | "toolCalls" | "status">;

export interface KeptTurn {
  message: string;
  /** With it, a turn that a reload cut off is picked up and not sent twice. */
  key: string;
  closing: string;
  turn: Snapshot;
}

export const keptChat = new Kept<{ chatId: string; turns: KeptTurn[] }>("chat");
