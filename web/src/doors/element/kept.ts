import type { Where } from "./attributes.ts";
import { read, remove, write } from "./storage.ts";

/**
 * Keeps a value in this tab over a reload, for one connection: the service has no way to read a chat's messages or a
 * workspace's files back. A page that is opened anew starts with nothing. `keep` is the element's attribute; "" keeps nothing.
 */
export class Kept<T> {
  constructor(private readonly what: string) {}

  keep(keep: string, where: Where, value: T): void {
    if (keep) write("sessionStorage", this.#name(keep), JSON.stringify({ connection: connectionOf(where), value }));
  }

  forget(keep: string): void {
    if (keep) remove("sessionStorage", this.#name(keep));
  }

  recall(keep: string, where: Where): T | undefined {
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    if (!keep || (navigation?.type !== "reload" && navigation?.type !== "back_forward")) return undefined;
    try {
      const kept = JSON.parse(read("sessionStorage", this.#name(keep)) ?? "null") as { connection: string; value: T } | null;
      return kept?.connection === connectionOf(where) ? kept.value : undefined;
    } catch {
      return undefined;
    }
  }

  #name(keep: string): string {
    return `turnwire-${this.what}:${keep}`;
  }
}

function connectionOf({ baseURL, workspaceId, agentId }: Where): string {
  return JSON.stringify([baseURL, workspaceId, agentId]);
}
