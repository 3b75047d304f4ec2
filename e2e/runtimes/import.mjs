// Nothing is fetched, opened or left waiting by who only imports the package.

let fetched = 0;
const { fetch } = globalThis;
globalThis.fetch = (...args) => (fetched++, fetch(...args));
const { AgentClient } = await import("turnwire");
console.log(typeof AgentClient, fetched);
