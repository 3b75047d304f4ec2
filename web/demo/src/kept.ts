import type { Settings } from "./settings.ts";
import { read, remove, write } from "./storage.ts";

/**
 * Keeps a value in this tab over a reload, for one connection: the service has no way to read a chat's messages or a
 * workspace's files back. A page that is opened anew starts with nothing.
 */
export class Kept<T> {
  constructor(private readonly name: string) {}

  keep(settings: Settings, value: T): void {
    write("sessionStorage", this.name, JSON.stringify({ connection: connectionOf(settings), value }));
  }

  forget(): void {
    remove("sessionStorage", this.name);
  }

  recall(settings: Settings): T | undefined {
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    if (navigation?.type !== "reload" && navigation?.type !== "back_forward") return undefined;
    try {
      const kept = JSON.parse(read("sessionStorage", this.name) ?? "null") as { connection: string; value: T } | null;
      return kept?.connection === connectionOf(settings) ? kept.value : undefined;
    } catch {
      return undefined;
    }
  }
}

function connectionOf({ baseURL, workspaceId, agentId }: Settings): string {
  return JSON.stringify([baseURL, workspaceId, agentId]);
}
