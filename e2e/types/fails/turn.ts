import type { Chat, Turn, TurnEvent } from "turnwire";

declare const chat: Chat;
declare const turn: Turn;
declare const event: TurnEvent;

chat.id = "other"; // error TS2540
chat.send(); // error TS2554
chat.send(42); // error TS2345
chat.send([{ text: "no type" }]); // error TS2322
chat.send("hello", { model: 1 }); // error TS2322
chat.send("hello", { onEvent: (n: number) => n }); // error TS2322
(await chat.send("hello")).then; // error TS2339

turn.status = "completed"; // error TS2540
turn.text = ""; // error TS2540
turn.status === "done"; // error TS2367
turn.toolCalls.push; // error TS2339
turn.on("text", () => {}); // error TS2769
turn.on("text_delta", (delta: number) => delta); // error TS2769
turn.abort("now"); // error TS2554
for (const each of turn) each; // error TS2488
(await turn.done()).status === "failed"; // error TS2367
(await turn.done()).data["a"] = 1; // error TS2542

if (event.type === "text_delta") event.data.chunk = "x"; // error TS2540
if (event.type === "reasoning_delta") event.data["chunk"].length; // error TS2571
if (event.type === "text") event; // error TS2367
event.type = "error"; // error TS2540
