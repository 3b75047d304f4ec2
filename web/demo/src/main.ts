import { version } from "turnwire";
import { Composer } from "./composer.ts";
import { Conversation } from "./conversation.ts";
import { find, setText } from "./dom.ts";
import { takeFiles } from "./file-drop.ts";
import { FileList } from "./file-list.ts";
import { Inspector } from "./inspector.ts";
import { settingsDialog } from "./settings-dialog.ts";
import { load, sameConnection, sameWorkspace, save } from "./settings.ts";
import { themeSwitch } from "./theme.ts";
import { Thread } from "./thread.ts";
import { warmUp } from "./warm-up.ts";

themeSwitch();
setText(find("version", HTMLElement), version);

let settings = load();
const model = find("model", HTMLInputElement);
const temporary = find("temporary", HTMLInputElement);
const status = find("announcer", HTMLElement);
const connection = find("connection", HTMLElement);
const panel = find("inspector", HTMLElement);
const behind = ["skip", "bar", "chat"].map((id) => find(id, HTMLElement));

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
    const before = settings;
    if (!sameConnection(before, wanted)) conversation.connect(wanted, files.settled());
    if (!sameWorkspace(before, wanted)) files.clear();
    settings = wanted;
    save(settings);
    showConnection();
    announce(sameConnection(before, wanted) ? "Settings saved." : "Connected with the new settings. This is a new chat.");
  },
);

const conversation = new Conversation(settings, {
  thread: new Thread(),
  inspector,
  model: () => model.value.trim(),
  temporary: () => temporary.checked,
  announce,
  changed({ running, begun }) {
    composer.running = running;
    // A chat is temporary or not from its first message on.
    temporary.disabled = begun;
    document.body.dataset.running = String(running);
  },
  openSettings: dialog.open,
  draft: (text) => composer.draft(text),
});

const files = new FileList({
  client: () => conversation.client(),
  settings: () => settings,
  announce,
  hint: (text) => composer.hint(text),
  ask(question) {
    if (document.body.dataset.running === "true") composer.draft(question);
    else conversation.send(question);
    composer.focus();
  },
  draft(beginning) {
    composer.draft(beginning);
    composer.focus();
  },
});
takeFiles((added) => files.add(added), (why) => files.refuse(why));

const composer = new Composer(
  (text) => conversation.send(text),
  () => void conversation.stop(),
);

find("settings-toggle", HTMLButtonElement).addEventListener("click", dialog.open);
find("new-chat", HTMLButtonElement).addEventListener("click", () => {
  conversation.reset();
  announce("New chat.");
  composer.focus();
});
for (const button of document.querySelectorAll<HTMLButtonElement>("[data-suggestion]")) {
  button.addEventListener("click", () => {
    conversation.send(button.dataset.suggestion ?? "");
    composer.focus();
  });
}
showConnection();
conversation.restore();
files.restore();
composer.focus();
warmUp();

function showConnection(): void {
  const { models } = document.documentElement.dataset;
  setText(connection, [settings.agentId, settings.workspaceId, models].filter(Boolean).join(" · "));
  connection.title = settings.baseURL;
}

function announce(text: string): void {
  setText(status, text);
}
