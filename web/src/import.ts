/** Imports a module whose address is known only in the page; what bundlers see of it says web/build.mjs. */
export const turnwireImport = (url: string): Promise<unknown> => import(url);
