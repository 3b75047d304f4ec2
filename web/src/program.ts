import { chunkSize, type Control, type Exports, type Page, words } from "./contract.ts";

/** See import.ts. */
declare const turnwireImport: typeof import("./import.ts").turnwireImport;

/** The module's functions or the page's as they cross: a record is JSON, and the last argument. */
export type Crossing<T> = { [name in keyof T]: (...args: any[]) => any };

/** A running program of the module, of either build. */
export interface Program {
  readonly exports: Exports;
  readonly memory: WebAssembly.Memory;
  /** Where Memory of the contract lies. */
  readonly shared: number;
  readonly stamp: unknown;
  /** The module's functions, of a program that takes texts as they are. */
  readonly control?: Crossing<Control>;
  /** What it printed when it panicked. */
  said(): string;
  /** Called once, when nothing of it may run any more. */
  stop(): void;
}

/** What turnwire.go.mjs exports. */
export interface Runtime {
  /** Begins a program of a module that Go compiled. ended is called when it stops by itself. */
  begin(module: WebAssembly.Module, page: object, ended: (reason: unknown) => void): Promise<Program>;
  /** The page's functions as such a program calls them. */
  toPage(functions: Page): object;
}

/** What a module that TinyGo compiled imports a function from: it says whether the last argument is a text, or a record. */
export type Form = "turnwire" | "text" | "record";

/** Whether Go compiled the module, whose programs need Go's runtime script. */
export const needsRuntime = (module: WebAssembly.Module): boolean => WebAssembly.Module.imports(module).some((wanted) => wanted.module === "gojs");

/** Loads Go's runtime script. */
export const loadRuntime = (url: string): Promise<Runtime> => turnwireImport(url) as Promise<Runtime>;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Begins a program of a module that TinyGo compiled; imported gives its functions, by name. Text lies in its memory. */
export async function begin(module: WebAssembly.Module, imported: (name: string, form: Form, text: (at: number, size: number) => string) => (...args: any[]) => unknown): Promise<Program> {
  let stamp: unknown;
  let said = "";
  const text = (at: number, size: number): string => decoder.decode(new Uint8Array(memory.buffer, at >>> 0, size >>> 0));
  const own: Record<string, (...args: any[]) => unknown> = {
    started: (at, size) => (stamp = text(at, size)),
    putchar: (byte) => (said += String.fromCharCode(byte)),
  };
  const imports: WebAssembly.Imports = {};
  for (const { module: form, name } of WebAssembly.Module.imports(module)) (imports[form] ??= {})[name] = own[name] ?? imported(name, form as Form, text);
  const { exports } = (await WebAssembly.instantiate(module, imports)) as unknown as {
    exports: Exports & { memory: WebAssembly.Memory; _initialize(): void };
  };
  const { memory } = exports;
  exports._initialize();
  return { exports, memory, shared: exports.shared(), stamp, said: () => said.trim().replace(/^panic: /, ""), stop: () => {} };
}

/** The bytes that the last call left, until the next one. */
export function left({ memory: { buffer }, shared }: Program): Uint8Array<ArrayBuffer> {
  const memory = new Uint32Array(buffer, shared + chunkSize);
  return new Uint8Array(buffer, memory[words.out], memory[words.size]);
}
