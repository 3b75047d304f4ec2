import { invalid, must } from "./invalid.ts";

// Options are checked before anything is done: a call may come before the module is loaded, and what is wrong is said before
// anything is sent. Each option is one line of a table. One that index.d.ts names and its table does not, or the other way
// round, does not compile.

/** Gives an option's value as it is used, or throws; field is the option's name. */
type Check<Given, Used> = (value: Given | undefined, field: string) => Used;

/** A check for each option of an interface of index.d.ts. */
export type Table<Options> = { readonly [Name in keyof Options]-?: Check<NonNullable<Options[Name]>, unknown> };

/** What read makes of a table. */
export type Values<Of> = { -readonly [Name in keyof Of]: Of[Name] extends Check<never, infer Used> ? Used : never };

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);
export const isString = (value: unknown): value is string => typeof value === "string" && value !== "";

/**
 * Reads every option of the table, where it is inherited too. A further name of the object's own is refused: it is a
 * misspelt one, or one of another version. Not where its value is undefined, as wrappers pass on what they were not given.
 */
export function read<Of extends Record<string, Check<never, unknown>>>(options: object | undefined, table: Of, field = "options"): Values<Of> {
  must(options === undefined || isObject(options), field, "an object", options);
  const given = (options ?? {}) as Record<string, never>;
  const names = Object.keys(table);
  for (const name of Object.keys(given)) {
    if (!names.includes(name) && given[name] !== undefined) throw invalid(name, `left out, for there is no such option: ${hint(name, names)}`);
  }
  return Object.fromEntries(names.map((name) => [name, table[name]!(given[name]!, name)])) as Values<Of>;
}

function hint(name: string, names: string[]): string {
  for (const edits of [0, 1, 2]) {
    const near = names.find((known) => within(edits, name.toLowerCase(), known.toLowerCase()));
    if (near) return `did you mean ${near}?`;
  }
  return `there are ${names.join(", ")}`;
}

/** Whether so many edits make one text of the other: a character more, less or another. */
function within(edits: number, a: string, b: string): boolean {
  if (a === b) return true;
  if (a[0] === b[0]) return within(edits, a.slice(1), b.slice(1));
  return edits > 0 && [[a.slice(1), b], [a, b.slice(1)], [a.slice(1), b.slice(1)]].some(([a, b]) => within(edits - 1, a!, b!));
}

/** A value that has to be as is expected, and is used as it is. */
export const is = <T>(expected: string, ok: (value: T) => boolean): Check<T, T | undefined> => (value, field) => {
  must(value === undefined || ok(value), field, expected, value);
  return value;
};

/** The check, with what is used where no value is given. */
export const or = <Given, Used>(check: Check<Given, Used | undefined>, otherwise: NoInfer<Used>): Check<Given, Used> => (value, field) => check(value, field) ?? otherwise;

export const text = is<string>("a non-empty string", isString);
export const callback = <F>(): Check<F, F | undefined> => is<F>("a function", (value) => typeof value === "function");
export const oneOf = <T extends string>(...values: T[]): Check<T, T | undefined> =>
  is(values.map((value) => `"${value}"`).join(", ").replace(/, ([^,]*)$/, " or $1"), (value) => values.includes(value));
export const count = (least: number): Check<number, number | undefined> =>
  is(`a whole number, ${least} or more`, (n) => Number.isSafeInteger(n) && n >= least);

/** Whole milliseconds, as the module counts them: 0.9 is no "none", and nobody lives to see the longest. */
const milliseconds = (expected: string, ok: (ms: number) => boolean): Check<number, number | undefined> => {
  const check = is<number>(expected, (ms) => typeof ms === "number" && ms < Infinity && ok(ms));
  return (value, field) => {
    const ms = check(value, field);
    return ms && Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER);
  };
};

export const limit = milliseconds("a number of milliseconds, 0 or more (0: no limit)", (ms) => ms >= 0);
export const time = milliseconds("a number of milliseconds above 0", (ms) => ms > 0);
