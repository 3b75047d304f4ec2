import type { TurnEvent } from "turnwire";

/** The text of a turn's events, as it comes; who cancels it leaves the iteration. */
export function textStreamOf(events: AsyncIterator<TurnEvent>): ReadableStream<string> {
  return new ReadableStream<string>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await events.next();
        if (done) return controller.close();
        if (value.type === "text_delta" && typeof value.data.chunk === "string") return controller.enqueue(value.data.chunk);
      }
    },
    cancel: () => void events.return!(),
  }, { highWaterMark: 0 });
}
