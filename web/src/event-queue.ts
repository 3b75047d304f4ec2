import type { TurnEvent } from "turnwire";

/** The events of one batch; the first `delivered` of them have reached the page. */
export interface Batch {
  events: TurnEvent[];
  delivered: number;
  size: number;
}

/**
 * The memory that a batch is counted as: its JSON, and 64 bytes for the object of each event. Of tiny events the objects are
 * nearly all: one whose JSON has four bytes takes forty, and more where it has more fields.
 */
export const batchSize = (json: number, count: number): number => json + 64 * count;

/** Events that wait until an iteration takes them. size is in bytes, counted by the batch; see batchSize. */
export class EventQueue {
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
      // Where the queue never gets empty, what was taken must not stay in memory.
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
