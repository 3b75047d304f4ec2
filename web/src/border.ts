/** Functions as they cross between the page and the module: a record is their last argument, and JSON. */
export type Crossing<T> = { [name in keyof T]: (...args: any[]) => any };

/**
 * The functions with their records turned from or into JSON; records says which functions have one. around calls them, where
 * what they throw must not go further.
 */
export function crossing<T extends Crossing<T>>(
  functions: T, records: Record<keyof T, 0 | 1>, turn: (record: any) => unknown, around: (call: () => unknown) => unknown = (call) => call(),
): Crossing<T> {
  const out = {} as Crossing<T>;
  for (const name in records) {
    out[name] = records[name]
      ? (...args) => around(() => functions[name](...args.slice(0, -1), turn(args.at(-1))))
      : (...args) => around(() => functions[name](...args));
  }
  return out;
}
