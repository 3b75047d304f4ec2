import { type Control, type Page, pageRecords } from "./contract.ts";

/** The module's functions or the page's as they cross: a record is JSON, and the last argument. */
export type Crossing<T> = { [name in keyof T]: (...args: any[]) => any };

/** The module's functions for the page. around calls them: what they throw must not go further. */
export const toModule = (functions: Crossing<Control>, around: (call: () => unknown) => unknown): Control =>
  Object.fromEntries(Object.entries(functions).map(([name, fn]) => [name, (...args: unknown[]) =>
    around(() => fn(...args.map((arg) => (typeof arg === "object" ? JSON.stringify(arg) : arg))))])) as unknown as Control;

/** The page's functions for the module, and what else it is lent. */
export const toPage = (functions: Page, lent: object): object =>
  new Proxy(lent, {
    get: (_, name: keyof Page) => (name in lent ? lent[name as never] : (...args: any[]) => {
      if (pageRecords.includes(name)) args.push(JSON.parse(args.pop()));
      return (functions as Crossing<Page>)[name](...args);
    }),
  });
