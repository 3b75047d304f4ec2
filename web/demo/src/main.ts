import { AgentClient, version } from "turnwire";
import "turnwire/element";
import { setText } from "../../src/doors/element/dom.ts";
import { EventLog } from "./event-log.ts";
import { find } from "./find.ts";
import { Inspector } from "./inspector.ts";
import { settingsDialog } from "./settings-dialog.ts";
import { load, sameConnection, save, uploadLimits, type Settings } from "./settings.ts";
import { themeSwitch } from "./theme.ts";
import { words } from "./words.ts";

themeSwitch();
setText(find("version", HTMLElement), version);

let settings = load();
/** Of the chat that is shown. */
let turns = 0;
const chat = document.querySelector("turnwire-chat")!;
const model = find("model", HTMLInputElement);
const temporary = find("temporary", HTMLInputElement);
const status = find("announcer", HTMLElement);
const connection = find("connection", HTMLElement);
const panel = find("inspector", HTMLElement);
const behind = ["bar", "chat"].map((id) => find(id, HTMLElement));

const narrow = matchMedia("(max-width: 60rem)");
const inspector = new Inspector((open) => {
  document.body.dataset.inspector = open ? "open" : "closed";
  cover();
});
/** As a sheet the panel covers the chat, which then must not be reachable by keyboard either. */
function cover(): void {
  const covered = narrow.matches && document.body.dataset.inspector === "open";
  for (const element of behind) element.inert = covered;
  panel.role = covered ? "dialog" : "complementary";
  panel.ariaModal = covered ? "true" : null;
}
narrow.addEventListener("change", cover);

const dialog = settingsDialog(
  () => settings,
  (wanted) => {
    const same = sameConnection(settings, wanted);
    if (!same) connect(wanted);
    settings = wanted;
    chat.uploadOptions = uploadLimits(settings);
    save(settings);
    announce(same ? "Settings saved." : "Connected with the new settings. This is a new chat.");
  },
);

/** The former client is closed when nothing of it is under way. @throws InvalidArgumentError where the client refuses the settings. */
function connect({ baseURL, apiKey, workspaceId, agentId }: Settings): void {
  const former = chat.client;
  const client = new AgentClient({
    baseURL, apiKey, workspaceId, agentId,
    // A reload picks the turn up again.
    pageHide: "disconnect",
    onLog: ({ level, message, fields }) => inspector.requests.add(message, { ...fields, level }),
  });
  Object.assign(chat, { baseURL, workspaceId, agentId, client });
  turns = 0;
  if (former) void chat.settled().then(() => former.close());
  const { models } = document.documentElement.dataset;
  setText(connection, [agentId, workspaceId, models].filter(Boolean).join(" · "));
  connection.title = baseURL;
}

chat.addEventListener("turn", ({ detail: { turn, message } }) => {
  const log = new EventLog(`${++turns}. ${message.length > 40 ? `${message.slice(0, 40)}…` : message}`);
  inspector.watch(log);
  turn.on("event", (event) => log.add(event.type, event.data));
  turn.on("update", () => inspector.changed(log));
  turn.on("end", () => inspector.changed(log));
});
chat.addEventListener("statechange", () => {
  // A chat is temporary or not from its first message on.
  temporary.disabled = chat.running || chat.chatId !== undefined;
});
temporary.addEventListener("change", () => (chat.temporary = temporary.checked));
model.addEventListener("input", () => (chat.model = model.value.trim()));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]")) void chat.stop();
});

find("settings-toggle", HTMLButtonElement).addEventListener("click", dialog.open);
find("new-chat", HTMLButtonElement).addEventListener("click", () => {
  chat.reset();
  turns = 0;
  announce("New chat.");
  chat.focus();
});
find("skip", HTMLAnchorElement).addEventListener("click", (event) => {
  event.preventDefault();
  chat.focus();
});
for (const button of document.querySelectorAll<HTMLButtonElement>("[data-suggestion]")) {
  button.addEventListener("click", () => {
    chat.send(button.dataset.suggestion ?? "");
    chat.focus();
  });
}

chat.strings = words;
chat.dropTarget = document;
chat.openSettings = dialog.open;
chat.uploadOptions = uploadLimits(settings);
chat.temporary = temporary.checked;
chat.model = model.value.trim();
try {
  connect(settings);
  chat.focus();
} catch {
  // What was kept is not taken any more; the element says what is missing.
  dialog.open();
}

function announce(text: string): void {
  setText(status, text);
}
