import { AgentClient, init } from "turnwire";

new AgentClient(); // error TS2554
new AgentClient({}); // error TS2741
new AgentClient({ apiKey: "key" }); // error TS2741
new AgentClient({ baseURL: 42 }); // error TS2322
new AgentClient({ baseURL: "/", apiKey: 42 }); // error TS2322
new AgentClient({ baseURL: "/", apiKey: () => 42 }); // error TS2322
new AgentClient({ baseURL: "/", credentials: "always" }); // error TS2322
new AgentClient({ baseURL: "/", headers: { "x-a": 1 } }); // error TS2322
new AgentClient({ baseURL: "/", headers: ["x-a", "1"] }); // error TS2322
new AgentClient({ baseURL: "/", headers: new Map([["x-a", 1]]) }); // error TS2322
new AgentClient({ baseURL: "/", maxRetries: "2" }); // error TS2322
new AgentClient({ baseURL: "/", baseUrl: "/" }); // error TS2561
new AgentClient({ baseURL: "/", onLog: (record: string) => record }); // error TS2322
init({ wasmURL: 42 }); // error TS2322

const client = new AgentClient({ baseURL: "/" });
client.chats = client.chats; // error TS2540
client.apiKey; // error TS2339
client.chats.open(); // error TS2554
client.chats.open(42); // error TS2345
client.chats.create({ is_temporary: true }); // error TS2561
client.chats.create({ isTemporary: "yes" }); // error TS2322
