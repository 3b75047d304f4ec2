import { read, write } from "../../src/doors/element/storage.ts";

/** Where the chat connects to, and how files go there; all as it is typed. */
export interface Settings {
  baseURL: string;
  apiKey: string;
  workspaceId: string;
  agentId: string;
  /** MiB; "" leaves it to the service. */
  blockSize: string;
  /** Blocks in flight at once; "" leaves it to the client. */
  concurrency: string;
}

export type Problems = Partial<Record<keyof Settings, string>>;

const STORED = "turnwire-demo-connection";
const STORED_KEY = "turnwire-demo-key";

/** What `make demo` serves. */
export function defaults(): Settings {
  return { baseURL: location.origin, apiKey: "dev-key", workspaceId: "demo", agentId: "assistant", blockSize: "", concurrency: "" };
}

/** Reads what was applied last; anything that is missing or damaged falls back to the defaults. */
export function load(): Settings {
  const settings = defaults();
  const stored = parse(read("localStorage", STORED));
  for (const name of ["baseURL", "workspaceId", "agentId", "blockSize", "concurrency"] as const) {
    const value = stored[name];
    if (typeof value === "string") settings[name] = value;
  }
  settings.apiKey = read("sessionStorage", STORED_KEY) ?? settings.apiKey;
  return Object.keys(validate(settings)).length === 0 ? settings : defaults();
}

/** The key stays with this tab: a shared computer keeps the address, not the access. */
export function save({ apiKey, ...rest }: Settings): void {
  write("localStorage", STORED, JSON.stringify(rest));
  write("sessionStorage", STORED_KEY, apiKey);
}

/** Trims, and makes the address absolute where it can be; what is wrong is left for validate to name. */
export function normalise(settings: Settings): Settings {
  const address = settings.baseURL.trim();
  const absolute = address && URL.canParse(address, location.href) ? new URL(address, location.href).href : address;
  return {
    baseURL: absolute.replace(/\/+$/, ""),
    apiKey: settings.apiKey.trim(),
    workspaceId: settings.workspaceId.trim(),
    agentId: settings.agentId.trim(),
    blockSize: settings.blockSize.trim(),
    concurrency: settings.concurrency.trim(),
  };
}

export function sameConnection(a: Settings, b: Settings): boolean {
  return a.baseURL === b.baseURL && a.workspaceId === b.workspaceId && a.agentId === b.agentId && a.apiKey === b.apiKey;
}

const MIB = 1 << 20;

/** The options of an upload that the settings name. */
export function uploadLimits({ blockSize, concurrency }: Settings): { blockSize?: number; concurrency?: number } {
  return {
    ...(blockSize && { blockSize: Math.round(Number(blockSize) * MIB) }),
    ...(concurrency && { concurrency: Number(concurrency) }),
  };
}

export function validate(settings: Settings): Problems {
  const problems: Problems = {};
  const address = addressProblem(settings.baseURL);
  if (address) problems.baseURL = address;
  if (!settings.apiKey) problems.apiKey = "Enter the access key. The reference service takes dev-key.";
  else if (!/^[\x21-\x7e]+$/.test(settings.apiKey)) {
    problems.apiKey = "A key goes into a header, so it can hold only visible ASCII characters and no spaces.";
  }
  if (!settings.workspaceId) problems.workspaceId = "Enter the workspace's identifier, for example demo.";
  if (!settings.agentId) problems.agentId = "Enter the agent's identifier, for example assistant.";
  const { blockSize, concurrency } = settings;
  if (blockSize && !(Number(blockSize) >= 0.001 && Number(blockSize) <= 4_000)) {
    problems.blockSize = "Enter a number of MiB from 0.001 to 4000, or nothing.";
  }
  if (concurrency && !(Number.isInteger(Number(concurrency)) && Number(concurrency) >= 1 && Number(concurrency) <= 64)) {
    problems.concurrency = "Enter a whole number from 1 to 64, or nothing.";
  }
  return problems;
}

function addressProblem(address: string): string | undefined {
  const example = "for example http://127.0.0.1:8080";
  if (!address) return `Enter the service's address, ${example}.`;
  if (!URL.canParse(address)) return `This is not an address: use one like ${location.origin}.`;
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") return `The address must begin with http:// or https://, ${example}.`;
  if (url.username || url.password) return "Leave the user name and password out of the address; the key has its own field.";
  if (url.search || url.hash) return "Leave out everything from ? or # on: the service's paths are added to the address.";
  return undefined;
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
