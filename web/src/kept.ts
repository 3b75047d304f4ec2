import type { TurnEvent } from "turnwire";

/** The events of one batch; the first `delivered` of them have reached the page. */
export interface Batch {
  events: TurnEvent[];
  delivered: number;
  size: number;
}

/** Events kept until an iteration takes them. Sizes are bytes of their JSON, counted by the batch. */
export class Kept {
  #batches: Batch[] = [];
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
      if (++this.#first === this.#batches.length) {
        this.#batches = [];
        this.#first = 0;
      }
    }
  }

  clear(): void {
    this.#batches = [];
    this.#first = this.#next = this.size = 0;
  }
}
