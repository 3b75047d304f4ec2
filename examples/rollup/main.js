import { AgentClient } from "turnwire";

const client = new AgentClient({ baseURL: "http://127.0.0.1:8080/", apiKey: "dev-key", workspaceId: "demo", agentId: "assistant" });
const form = document.forms.chat;
const { message, stop, file, answer } = form.elements;
const show = (text) => (answer.value = text);
let chat, turn;

form.onsubmit = async (event) => {
  event.preventDefault();
  try {
    chat ??= await client.chats.create();
    turn = chat.send(message.value).on("update", () => show(turn.text));
    const { status } = await turn.done();
    show(`${turn.text} (${status})`);
  } catch (error) {
    show(error.message);
  }
};
stop.onclick = () => turn?.abort();
file.onchange = () => {
  const upload = client.files.upload(file.files[0], { wait: true });
  upload.done().then(({ status }) => show(`The file is ${status}`), (error) => show(error.message));
};
