/** One line of the inspector. */
export interface Entry {
  n: number;
  type: string;
  /** Milliseconds since the message was sent. */
  ms: number;
  data: unknown;
}

/** More would be memory for nobody: a turn of this length is hours of streaming. */
const MOST = 200_000;

/** What arrived for one message, in order. */
export class EventLog {
  readonly entries: Entry[] = [];
  readonly counts = new Map<string, number>();
  /** Events that came after the log was full. */
  dropped = 0;
  onAdd: () => void = () => {};
  #started = performance.now();

  constructor(readonly label: string) {}

  add(type: string, data: unknown): void {
    this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
    if (this.entries.length >= MOST) this.dropped += 1;
    else this.entries.push({ n: this.entries.length + 1, type, ms: performance.now() - this.#started, data });
    this.onAdd();
  }

  get total(): number {
    return this.entries.length + this.dropped;
  }
}
