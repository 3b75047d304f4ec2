import type { TurnwireChat } from "./types.d.ts";

/** What the element has to know before anything can be sent, where it has no client. */
export type Where = Pick<TurnwireChat, "baseURL" | "workspaceId" | "agentId">;

export interface Wrong {
  /** The attribute's name, or the property's where there is no attribute. */
  name: string;
  message: string;
}

const NAMES: Record<string, string> = { baseURL: "base-url", workspaceId: "workspace-id", agentId: "agent-id" };

/** Says which attribute is missing or wrong, and what it should be. */
export function wrongOf({ baseURL, workspaceId, agentId }: Where): Wrong | undefined {
  const wrong = (name: string, is: string, expected: string): Wrong => ({ name, message: `The attribute ${name} of <turnwire-chat> ${is}: it must be ${expected}.` });
  const address = 'the address of the service, such as "https://service.example" or "/"';
  if (!baseURL) return wrong("base-url", "is missing", address);
  const url = URL.canParse(baseURL, document.baseURI) ? new URL(baseURL, document.baseURI) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return wrong("base-url", "is no http(s) address", address);
  if (url.search || url.hash || url.username || url.password) return wrong("base-url", "says too much", `${address}, without query, fragment or password`);
  if (!workspaceId) return wrong("workspace-id", "is missing", 'the identifier of a workspace, such as "demo"');
  if (!agentId) return wrong("agent-id", "is missing", 'the identifier of an agent, such as "assistant"');
  return undefined;
}

/** What the client says of the options that the element gives it, in the element's own names. */
export function wrongOption({ message }: Error): Wrong {
  const [option = ""] = /^\w+/.exec(message) ?? [];
  const attribute = NAMES[option];
  return { name: attribute ?? option, message: attribute ? `The attribute ${attribute} of <turnwire-chat> is wrong: ${message}.` : `A property of <turnwire-chat> is wrong: ${message}.` };
}
