// A chat as every contender shows it, and what of it is counted: commits, and the frames that they fall into.

import { useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";

export interface Chat {
  /** Each message and answer so far, in turn. */
  texts: string[];
  /** Whether nothing is under way. */
  idle: boolean;
  send(): void;
}

/** The frame of each commit, by its number. The document's timeline would not do: ahead of a late frame it tells that one's time. */
const commits: number[] = [];
/** When each frame began. */
const frames: number[] = [];
let frame = 0;
let now: Chat;
let committed = (): void => {};

function Shown({ use }: { use: () => Chat }) {
  now = use();
  // React's Profiler counts nothing in a production build.
  useLayoutEffect(() => {
    commits.push(frames.length);
    committed();
  });
  return now.texts.map((text, i) => <p key={i}>{text}</p>);
}

const tick = (time: number): void => {
  frames.push(time);
  frame = requestAnimationFrame(tick);
};

Object.assign(globalThis, {
  /** Sends a message, and gives what the page did until all of its answer was shown, which has so many characters. */
  async ask(length: number) {
    const before = now.texts.length;
    commits.length = frames.length = 0;
    frame = requestAnimationFrame(tick);
    await new Promise<void>((resolve, reject) => {
      committed = () => {
        if (!now.idle || now.texts.length < before + 2) return;
        const got = now.texts.at(-1)!.length;
        if (got === length) resolve();
        else reject(new Error(`an answer of ${got} characters, not ${length}`));
      };
      now.send();
    });
    cancelAnimationFrame(frame);
    return { renders: commits.length, again: commits.length - new Set(commits).size, frames };
  },
});

export function show(use: () => Chat): void {
  createRoot(document.querySelector("main")!).render(<Shown use={use} />);
}
