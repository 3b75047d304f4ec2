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
  readonly #keys = new Map<string, RegExp>();

  /** A key is visible ASCII. */
  add(key: string): void {
    if (key.length < shortest) return;
    this.#keys.delete(key);
    this.#keys.set(key, finds(key));
    if (this.#keys.size > most) this.#keys.delete(this.#keys.keys().next().value!);
  }

  /** The text without the keys, however JSON spells their characters, and without the beginning of one that an excerpt cut. */
  text(text: string): string {
    // The end of a long text is one that was cut, too.
    const long = text.length >= cutFrom;
    if (long) text += "…";
    for (const found of this.#keys.values()) text = text.replace(found, mark);
    return long ? text.slice(0, -1) : text;
  }

  /**
   * The value, such as JSON.parse makes it, without the keys in any string or name of it: the same one where there is none.
   * It may be nested deeper than calls can be.
   */
  of<T>(value: T): T {
    if (!this.#has(value)) return value;
    const top = {} as { value: T };
    const left: { from: object; to: object }[] = [{ from: { value }, to: top }];
    for (let next; (next = left.pop()); ) {
      for (const [name, value] of Object.entries(next.from) as [string, unknown][]) {
        let copy = value;
        if (typeof value === "string") copy = this.text(value);
        else if (typeof value === "object" && value !== null) {
          copy = Array.isArray(value) ? [] : {};
          left.push({ from: value, to: copy as object });
        }
        // An assignment would take "__proto__" for the prototype.
        Object.defineProperty(next.to, this.text(name), { value: copy, writable: true, enumerable: true, configurable: true });
      }
    }
    return top.value;
  }

  /** Whether a key is in the value. Most have none, and a turn can have ten thousand tool calls: a copy of each takes long. */
  #has(value: unknown): boolean {
    if (this.#keys.size === 0) return false;
    const left = [value];
    while (left.length) {
      const next = left.pop();
      if (typeof next === "string") {
        if (next.length >= shortest && this.text(next) !== next) return true;
      } else if (typeof next === "object" && next !== null) {
        for (const value of Object.values(next)) left.push(value);
        if (!Array.isArray(next)) for (const name of Object.keys(next)) left.push(name);
      }
    }
    return false;
  }
}

/** Finds a key, however JSON spells its characters, and the beginning of one that ends with the text before an ellipsis. */
function finds(key: string): RegExp {
  const chars = [...key].map((char) => {
    const hex = char.charCodeAt(0).toString(16);
    return `(?:\\\\u00${hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)}|${/["\\/]/.test(char) ? "\\\\?" : ""}\\x${hex}`;
  });
  // An escape may be cut as well.
  const cut = "(?:\\\\(?:u[0-9a-fA-F]{0,3})?)?";
  return new RegExp(`${chars.map((char, i) => `${char}${i < shortest ? "" : `|(?=${cut}…)`})`).join("")}(?:${cut}(?=…))?`, "g");
}
