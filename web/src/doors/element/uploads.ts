import type { AgentClient } from "turnwire";
import { keptFiles } from "./kept-files.ts";
import { keyOf, Transfer, type TransferWorld } from "./transfer.ts";

/** Files that upload at the same time; each sends several blocks at once already. */
const AT_ONCE = 2;

/** The files of an element, oldest first: at most two upload, the others wait for their turn. */
export class Uploads {
  #transfers: Transfer[] = [];
  #world: TransferWorld;
  #pumping = false;

  constructor(private readonly world: TransferWorld) {
    this.#world = { ...world, changed: (transfer) => this.#changed(transfer) };
  }

  get all(): readonly Transfer[] {
    return this.#transfers;
  }

  /** A file that is in the list is not added twice: what was given up or left goes on, anything else is as it was. */
  add(files: readonly File[]): { added: Transfer[]; there: Transfer[] } {
    const added: Transfer[] = [];
    const there: Transfer[] = [];
    for (const file of files) {
      const known = this.#transfers.find(({ key }) => key === keyOf(file));
      if (!known) {
        const transfer = new Transfer(this.#world, file);
        this.#transfers.push(transfer);
        added.push(transfer);
      } else if (known.over && known.state !== "ready") {
        known.take(file);
        added.push(known);
      } else there.push(known);
    }
    this.#pump();
    return { added, there };
  }

  restore(): void {
    for (const kept of keptFiles.recall(this.world.keep(), this.world.where()) ?? []) {
      this.#transfers.push(Transfer.restored(this.#world, kept));
    }
  }

  remove(transfer: Transfer): void {
    this.#transfers = this.#transfers.filter((other) => other !== transfer);
    // What the service has whole is its own matter from then on.
    if (transfer.state !== "processing") void transfer.cancel();
  }

  clear(): void {
    for (const transfer of this.#transfers) this.remove(transfer);
  }

  leave(pageHide: AgentClient["pageHide"]): void {
    for (const transfer of this.#transfers) transfer.leave(pageHide);
  }

  /** Settles when all that has begun by now is over. */
  async settled(): Promise<void> {
    await Promise.all(this.#transfers.map((transfer) => transfer.settled));
  }

  #changed(transfer: Transfer): void {
    this.world.changed(transfer);
    this.#pump();
  }

  /** Starting one changes it, which leads here again. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    let free = AT_ONCE - this.#transfers.filter(({ active }) => active).length;
    for (const transfer of this.#transfers) {
      if (free <= 0) break;
      if (transfer.state !== "waiting") continue;
      transfer.start();
      free -= 1;
    }
    this.#pumping = false;
  }

  /** For the page after a reload. */
  keep(): void {
    keptFiles.keep(this.world.keep(), this.world.where(), this.#transfers.flatMap(({ kept }) => kept ?? []));
  }
}
