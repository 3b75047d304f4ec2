import { TurnwireChat } from "turnwire/element";

declare const chat: TurnwireChat;
chat.strings = { sent: "Senden" }; // error TS2353
chat.strings = { events: "Ereignisse" }; // error TS2322
chat.uploadOptions = { resumeKey: "mine" }; // error TS2353
chat.running = true; // error TS2540
chat.addEventListener("turn", ({ detail }) => detail.file); // error TS2339
