/** Go's runtime script, taken from the toolchain at build time (web/build.mjs). */
declare module "wasm-exec" {
  export interface Go {
    argv: string[];
    env: Record<string, string>;
    importObject: WebAssembly.Imports;
    /** True once the program has ended: every export throws from then on. */
    readonly exited: boolean;
    exit(code: number): void;
    /** The browser's timers that will resume the program. */
    readonly _scheduledTimeouts: Map<number, ReturnType<typeof setTimeout>>;
    /** Resolves when the program ends. */
    run(instance: WebAssembly.Instance): Promise<void>;
    /** Lets goroutines and timers go on that an export woke. */
    _resume(): void;
  }

  /**
   * Runs the script with `globalThis` as its and Go's only view of the global object, so that a page gets no `Go`,
   * `fs` or `process`. The object must offer crypto, performance, TextEncoder and TextDecoder; what it lacks of fs,
   * process and path is put on it.
   */
  export default function (globalThis: object): new () => Go;
}
