import type { Control, Page } from "./contract.ts";
import { type Crossing, type Form, left, type Program } from "./program.ts";

const encoder = new TextEncoder();

/** The module's functions for the page. around calls them: what they throw must not go further. */
export function toModule(program: Program, around: (call: () => unknown) => unknown): Control {
  const functions = (program.control ?? program.exports) as Record<string, (...args: unknown[]) => unknown>;
  return Object.fromEntries(Object.entries(functions).map(([name, call]) => [name, (...args: unknown[]) => around(() => {
    const last = args.length - 1;
    if (typeof args[last] === "object") args[last] = JSON.stringify(args[last]);
    if (!program.control && typeof args[last] === "string") hand(program, args.pop() as string);
    const result = call(...args);
    return typeof result === "number" ? new TextDecoder().decode(left(program)) : result;
  })])) as unknown as Control;
}

/** Hands a text over, ahead of the call that it is for. */
function hand({ exports, memory }: Program, text: string): void {
  const bytes = encoder.encode(text);
  const at = (exports as unknown as { room(bytes: number): number }).room(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, at >>> 0);
}

/** One of the page's functions for a module that TinyGo compiled: a text comes as its address and its size. */
export const toImport = (functions: Page, name: keyof Page, form: Form, text: (at: number, size: number) => string) => (...args: any[]): unknown => {
  if (form !== "turnwire") {
    const last = text(...(args.splice(-2) as [number, number]));
    args.push(form === "record" ? JSON.parse(last) : last);
  }
  return (functions as Crossing<Page>)[name](...args);
};
