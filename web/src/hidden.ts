// Some services quote the key that they refuse, and what an error says ends in logs. So keys are taken out of errors and
// log records, here and nowhere else: an answer is never changed.

const mark = "[apiKey]";
/** A key of fewer characters is found in every other word, and is no secret. */
const shortest = 4;
/** A key's function may give another one each time; what is quoted is a recent one. */
const most = 100;
/** Characters from which on a text may have been cut; see BodyLimit of wasm/api. */
const cutFrom = 60_000;

export class Hidden {
  readonly #keys = new Set<string>();

  add(key: string): void {
    if (key.length < shortest) return;
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > most) this.#keys.delete(this.#keys.values().next().value!);
  }

  /** The text without the keys, however JSON spells their characters, and without the beginning of one that an excerpt cut. */
  text(text: string): string {
    for (const key of this.#keys) text = without(text, key);
    return text;
  }

  /**
   * The value, such as JSON.parse makes it, without the keys in any string or name of it: the same one where there is none.
   * It may be nested deeper than calls can be.
   */
  of<T>(value: T): T {
    if (this.#keys.size === 0) return value;
    let found = false;
    const shown = (text: string): string => {
      const out = this.text(text);
      found ||= out !== text;
      return out;
    };
    const top = {} as { value: T };
    const left: { from: object; to: object }[] = [{ from: { value }, to: top }];
    for (let next; (next = left.pop()); ) {
      for (const [name, value] of Object.entries(next.from) as [string, unknown][]) {
        let copy = value;
        if (typeof value === "string") copy = shown(value);
        else if (typeof value === "object" && value !== null) {
          copy = Array.isArray(value) ? [] : {};
          left.push({ from: value, to: copy as object });
        }
        // An assignment would take "__proto__" for the prototype.
        Object.defineProperty(next.to, shown(name), { value: copy, writable: true, enumerable: true, configurable: true });
      }
    }
    return found ? top.value : value;
  }
}

function without(text: string, key: string): string {
  // What an escape stands for counts, and what is taken out is the escape.
  const chars: string[] = [], at: number[] = [];
  let plain = text;
  if (text.includes("\\")) {
    for (const { 0: all, 1: hex, 2: char, index } of text.matchAll(/\\u00([0-9a-f]{2})|\\(["\\/])|[^]/gi)) {
      chars.push(hex ? String.fromCharCode(parseInt(hex, 16)) : char ?? all);
      at.push(index);
    }
    at.push(text.length);
    plain = chars.join("");
  }
  const place = (i: number): number => (at.length > 0 ? at[i]! : i);
  let out = "", from = 0;
  const take = (start: number, end: number): void => {
    out += text.slice(place(from), place(start)) + mark;
    from = end;
  };
  for (let i = 0; i < plain.length; ) {
    const found = plain.indexOf(key, i);
    const cut = plain.indexOf("…", i);
    if (found >= 0 && (cut < 0 || found < cut)) {
      take(found, (i = found + key.length));
      continue;
    }
    // The text up to an ellipsis, or to its own end where it is long, may end within the key.
    if (cut < 0 && plain.length < cutFrom) break;
    const end = cut < 0 ? plain.length : cut;
    // An escape may be cut as well.
    const before = end - (/\\(u[0-9a-f]{0,3})?$/i.exec(plain.slice(Math.max(end - 5, 0), end))?.[0].length ?? 0);
    for (let n = Math.min(key.length - 1, before - from); n >= shortest; n--) {
      if (plain.startsWith(key.slice(0, n), before - n)) {
        take(before - n, end);
        break;
      }
    }
    i = end + 1;
  }
  return out + text.slice(place(from));
}
