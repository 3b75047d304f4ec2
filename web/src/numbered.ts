/**
 * Values under numbers, which the module has in place of them. The numbers are places in a table of the module's: small,
 * from 1 on, and given out again when they are removed.
 */
export class Numbered<T> {
  readonly #values = new Map<number, T>();
  readonly #free: number[] = [];

  add(value: T): number {
    const number = this.#free.pop() ?? this.#values.size + 1;
    this.#values.set(number, value);
    return number;
  }

  get(number: number): T | undefined {
    return this.#values.get(number);
  }

  remove(number: number): void {
    if (this.#values.delete(number)) this.#free.push(number);
  }
}
