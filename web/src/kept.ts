import type { TurnEvent } from "turnwire";

/** The events of one batch; the first `delivered` of them have reached the page. */
export interface Batch {
  events: TurnEvent[];
  delivered: number;
  size: number;
}

/**
 * What a batch is taken to hold: its JSON, and the objects of its events. Of tiny events these are nearly all: what
 * arrives as four bytes of JSON takes forty of the page's memory, and with data of more fields more.
 */
export const batchSize = (json: number, count: number): number => json + 64 * count;

/** Events kept until an iteration takes them. Sizes are bytes, counted by the batch; see batchSize. */
export class Kept {
  #batches: (Batch | undefined)[] = [];
  #first = 0;
  #next = 0;
  size = 0;

  add(batch: Batch): void {
    this.#batches.push(batch);
    this.size += batch.size;
  }

  take(): TurnEvent | undefined {
    for (;;) {
      const batch = this.#batches[this.#first];
      if (!batch) return undefined;
      if (this.#next < batch.delivered) return batch.events[this.#next++];
      if (this.#next < batch.events.length) return undefined;
      this.size -= batch.size;
      this.#next = 0;
      // A reader that never catches up must not hold what it has taken.
      this.#batches[this.#first] = undefined;
      if (++this.#first * 2 >= this.#batches.length) {
        this.#batches = this.#batches.slice(this.#first);
        this.#first = 0;
      }
    }
  }

  clear(): void {
    this.#batches = [];
    this.#first = this.#next = this.size = 0;
  }
}
