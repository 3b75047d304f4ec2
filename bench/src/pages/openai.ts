import OpenAI from "openai";
import { answer } from "./answer.ts";

const client = new OpenAI({ baseURL: `${location.origin}/openai/v1`, apiKey: "key", dangerouslyAllowBrowser: true });
const stream = await client.chat.completions.create({ model: "small", messages: [{ role: "user", content: "What is 6 times 7?" }], stream: true });
for await (const { choices } of stream) answer(choices[0]?.delta.content);
