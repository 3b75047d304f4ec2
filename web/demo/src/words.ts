import { chatStrings, type ChatStrings } from "turnwire/element";

/** What somebody who runs the demo can do, where the element can only say what any page could. */
export const words: Partial<ChatStrings> = {
  attachHint: "Add files: choose them, drop them on the page or paste them",
  explain(error, where) {
    const explained = chatStrings.explain(error, where);
    const { name } = error as Error;
    if (name === "AuthenticationError") return { ...explained, advice: "Check the key in the settings; the reference service takes “dev-key”." };
    if (name === "ConnectionError" && explained.settings) return { ...explained, advice: `${explained.advice} The reference service is started with “make demo”.` };
    return explained;
  },
};
