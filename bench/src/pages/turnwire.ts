import { AgentClient } from "turnwire";
import { answer } from "./answer.ts";
import { upload } from "./upload.ts";

const client = new AgentClient({ baseURL: "/", apiKey: "key", workspaceId: "w", agentId: "a" });
upload((file) => client.files.upload(file).done());
client.chats.open("c").send("What is 6 times 7?").on("update", ({ text }) => answer(text));
