// What a later page needs to go on with an upload, in this origin's IndexedDB.

const storeName = "uploads";
/** An address has expired long before, and the file with it. */
const maxAge = 30 * 24 * 60 * 60 * 1000;

interface Entry {
  record: string;
  at: number;
}

let opening: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  return (opening ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open("turnwire", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(storeName);
    request.onsuccess = () => {
      const database = request.result;
      // Another version of this code may want to change the database.
      database.onversionchange = () => (database.close(), (opening = undefined));
      resolve(database);
    };
    request.onerror = () => reject(request.error);
  }).catch((error: unknown) => {
    opening = undefined;
    throw error;
  }));
}

async function act(run: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = (await open()).transaction(storeName, "readwrite");
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    run(transaction.objectStore(storeName));
  });
}

/** The record kept under a key, "" where there is none. Takes away what nobody came back for. */
export async function load(key: string): Promise<string> {
  let found = "";
  await act((store) => {
    const request = store.openCursor();
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return;
      const { record, at } = cursor.value as Entry;
      if (at < Date.now() - maxAge) cursor.delete();
      else if (cursor.key === key) found = record;
      cursor.continue();
    };
  });
  return found;
}

export const save = (key: string, record: string): Promise<void> => act((store) => store.put({ record, at: Date.now() } satisfies Entry, key));

export const forget = (key: string): Promise<void> => act((store) => store.delete(key));

/** How long a page that is being left may go on to have its keys, in milliseconds. */
const leaving = 5_000;

/**
 * What came of taking a key:
 * "taken": this page alone has it, until release;
 * "busy": another page of this origin has it;
 * "denied": nobody can take it here, and why, for people: a sandboxed frame, blocked site data, a page that is not
 * served securely. What only wants to be alone goes on without.
 */
export type Claim = { is: "taken"; release(): void } | { is: "busy" } | { is: "denied"; why: string };

/** Takes a key for this page alone. */
export function claim(key: string): Promise<Claim> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(leaving);
    const ask = async (): Promise<void> => {
      if (!navigator.locks) throw new Error("this page has no Web Locks");
      await navigator.locks.request(`turnwire ${key}`, { signal }, () => new Promise<void>((release) => resolve({ is: "taken", release })));
    };
    // Another page has it: the wait for it is over. Anything else has nothing to do with other pages.
    ask().catch((error: unknown) => resolve(signal.aborted ? { is: "busy" } : { is: "denied", why: String(error) }));
  });
}
