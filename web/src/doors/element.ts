// The door for pages without a kit: see element/types.d.ts for what it promises.
import type { AgentClient } from "turnwire";
import { wrongOf, wrongOption, type Where, type Wrong } from "./element/attributes.ts";
import { Composer } from "./element/composer.ts";
import { Conversation } from "./element/conversation.ts";
import { h, setText } from "./element/dom.ts";
import { watchPolicy } from "./element/errors.ts";
import { takeFiles } from "./element/file-drop.ts";
import { FileList } from "./element/file-list.ts";
import { chatStrings, replaceStrings } from "./element/strings.ts";
import style from "./element/style.css";
import { Thread } from "./element/thread.ts";
import type { ChatEvents, ChatStrings, ChatUploadOptions, TurnwireChat as Promised } from "./element/types.d.ts";
import { warmUp } from "./element/warm-up.ts";

export { chatStrings };

/** A page's policy need not allow styles for one that is constructed. */
let sheet: CSSStyleSheet | undefined;
function styles(): CSSStyleSheet {
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(style);
  return sheet;
}

let warm = false;

function must(ok: boolean, property: string, expected: string): void {
  if (!ok) throw new TypeError(`${property} of <turnwire-chat> must be ${expected}`);
}

/** Set on an element that the page made before it was defined, these would hide the class's own. */
const PROPERTIES = [
  "client", "apiKey", "baseURL", "workspaceId", "agentId", "model", "temporary", "noFiles", "keep", "uploadOptions", "strings", "dropTarget", "openSettings", "chatId",
] as const;

/** What a chat is of: where any of it differs, it is another chat. */
type Connection = Where & Pick<Promised, "client" | "apiKey">;

/** On a server there is nothing to extend, and nobody to make one. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

export class TurnwireChat extends Base implements Promised {
  static readonly observedAttributes = ["base-url", "workspace-id", "agent-id", "no-files"];

  accessor uploadOptions: ChatUploadOptions = {};
  accessor openSettings: (() => void) | undefined = undefined;
  #client: AgentClient | undefined;
  #apiKey: Promised["apiKey"];
  /** Made of the attributes, where no client is given. */
  #own: Promise<AgentClient> | undefined;
  #connection: Connection | undefined;
  #due = false;
  #restored = false;
  #wrong: Wrong | undefined;
  #given: Partial<ChatStrings> = {};
  #dropTarget: EventTarget = this;
  #takeNoFiles: () => void = () => {};
  #told = { running: false, chatId: undefined as string | undefined };

  readonly #strings: ChatStrings = { ...chatStrings };
  readonly #announcer = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  readonly #problem = h("div", { class: "problem", part: "problem", role: "alert", hidden: true });
  readonly #drop = h("div", { class: "drop", part: "drop", hidden: true }, h("p"));
  readonly #thread = new Thread(this.#strings);
  readonly #composer = new Composer(this.#strings, { send: (text) => this.send(text), stop: () => void this.stop() });
  readonly #conversation: Conversation;
  readonly #files: FileList;

  constructor() {
    super();
    const shared = {
      strings: this.#strings,
      client: () => this.#use(),
      where: () => this.#where(),
      keep: () => this.keep,
      announce: (text: string) => setText(this.#announcer, text),
      draft: (text: string) => this.draft(text),
    };
    this.#conversation = new Conversation({
      ...shared,
      thread: this.#thread,
      model: () => this.model,
      temporary: () => this.temporary,
      changed: () => this.#changed(),
      began: (turn, message) => this.#dispatch("turn", { turn, message }),
      ended: (turn, message, status, error) => this.#dispatch("turnend", { turn, message, status, ...(error !== undefined && { error }) }),
      openSettings: () => this.openSettings,
    });
    this.#files = new FileList({
      ...shared,
      attach: this.#composer.attach,
      options: () => this.uploadOptions,
      hint: (text) => this.#composer.hint(text),
      entered: ({ name, size, state, record, trouble }) =>
        this.#dispatch("file", { name, size, state, ...(record && { file: record }), ...(trouble && { error: trouble.error }) }),
      ask: (question) => {
        if (!this.send(question)) this.draft(question);
        this.focus();
      },
      draft: (beginning) => {
        this.draft(beginning);
        this.focus();
      },
    });
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styles()];
    const { element: form, hintLine } = this.#composer;
    root.append(this.#announcer, this.#problem, ...this.#thread.elements, this.#files.element, this.#files.input, form, hintLine, this.#drop);
    this.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !this.running) return;
      // A dialog around it stays open, and the page's own listener has nothing left to stop.
      event.preventDefault();
      void this.stop();
    });
    this.#label();
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const { [name]: value } = this;
      delete (this as Partial<this>)[name];
      Object.assign(this, { [name]: value });
    }
  }

  connectedCallback(): void {
    watchPolicy();
    addEventListener("pagehide", this.#hide, { capture: true });
    this.#listen();
    this.#reconnect();
  }

  /** One that is moved is in the page again at once. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (!this.isConnected) this.#leave();
    });
  }

  attributeChangedCallback(name: string): void {
    if (name === "no-files") this.#listen();
    else this.#reconnect();
  }

  get client(): AgentClient | undefined {
    return this.#client;
  }
  set client(client: AgentClient | undefined) {
    must(client === undefined || client === null || typeof client.chats?.create === "function", "client", "an AgentClient");
    this.#client = client ?? undefined;
    this.#reconnect();
    this.#connect();
  }

  get apiKey(): Promised["apiKey"] {
    return this.#apiKey;
  }
  set apiKey(key: Promised["apiKey"]) {
    this.#apiKey = key;
    this.#reconnect();
  }

  get baseURL(): string {
    return this.#text("base-url");
  }
  set baseURL(url: string) {
    this.setAttribute("base-url", url);
  }

  get workspaceId(): string {
    return this.#text("workspace-id");
  }
  set workspaceId(id: string) {
    this.setAttribute("workspace-id", id);
  }

  get agentId(): string {
    return this.#text("agent-id");
  }
  set agentId(id: string) {
    this.setAttribute("agent-id", id);
  }

  get model(): string {
    return this.#text("model");
  }
  set model(model: string) {
    this.setAttribute("model", model);
  }

  get keep(): string {
    return this.#text("keep");
  }
  set keep(name: string) {
    this.setAttribute("keep", name);
  }

  get temporary(): boolean {
    return this.hasAttribute("temporary");
  }
  set temporary(temporary: boolean) {
    this.toggleAttribute("temporary", temporary);
  }

  get noFiles(): boolean {
    return this.hasAttribute("no-files");
  }
  set noFiles(none: boolean) {
    this.toggleAttribute("no-files", none);
  }

  get strings(): Partial<ChatStrings> {
    return this.#given;
  }
  set strings(strings: Partial<ChatStrings>) {
    replaceStrings(this.#strings, strings);
    this.#given = strings;
    this.#label();
  }

  get dropTarget(): EventTarget {
    return this.#dropTarget;
  }
  set dropTarget(target: EventTarget) {
    must(typeof target?.addEventListener === "function", "dropTarget", "an element or the document");
    this.#dropTarget = target;
    this.#listen();
  }

  get chatId(): string | undefined {
    return this.#conversation.chatId;
  }
  set chatId(id: string | undefined) {
    if (id !== this.chatId) this.#conversation.reset(id);
  }

  get running(): boolean {
    return this.#conversation.running;
  }

  send(message: string): boolean {
    if (this.#due) this.#connect();
    const text = message.trim();
    if (this.#wrong) this.#composer.hint(this.#wrong.message);
    return text !== "" && !this.#wrong && this.#conversation.send(text);
  }

  stop(): Promise<void> {
    return this.#conversation.stop();
  }

  reset(): void {
    this.#conversation.reset();
  }

  draft(message: string): void {
    this.#composer.draft(message);
  }

  addFiles(files: Iterable<File>): void {
    if (this.#due) this.#connect();
    if (this.#wrong) this.#composer.hint(this.#wrong.message);
    else this.#files.add([...files]);
  }

  async settled(): Promise<void> {
    await Promise.all([this.#conversation.settled, this.#files.settled()]);
  }

  override focus(options?: FocusOptions): void {
    this.#composer.focus(options);
  }

  #text(attribute: string): string {
    return this.getAttribute(attribute) ?? "";
  }

  #where(): Where {
    const { baseURL, workspaceId, agentId } = this;
    return { baseURL, workspaceId, agentId };
  }

  #dispatch<T extends keyof ChatEvents>(type: T, detail?: ChatEvents[T]): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** Says everything in the words of now. */
  #label(): void {
    this.#thread.label();
    this.#composer.label();
    this.#files.label();
    setText(this.#drop.firstElementChild!, this.#strings.drop);
  }

  #changed(): void {
    const { running, chatId } = this;
    if (running === this.#told.running && chatId === this.#told.chatId) return;
    if (running !== this.#told.running) this.#composer.running = running;
    this.#told = { running, chatId };
    this.#dispatch("statechange");
  }

  /** Once for all that is set in a task. */
  #reconnect(): void {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      if (this.#due) this.#connect();
    });
  }

  #connect(): void {
    if (!this.isConnected) return;
    this.#due = false;
    const before = this.#connection;
    const wanted: Connection = (this.#connection = { client: this.#client, apiKey: this.#apiKey, ...this.#where() });
    const same = (...names: (keyof Connection)[]) => !before || names.every((name) => before[name] === wanted[name]);
    if (!same("client", "apiKey", "baseURL", "workspaceId", "agentId")) {
      this.#conversation.renew();
      this.#discard();
    }
    if (!same("baseURL", "workspaceId")) this.#files.clear();
    this.#complain(this.#client ? undefined : wrongOf(wanted));
    if (this.#wrong) return;
    if (!this.#restored) this.#restore();
    // Now, so that the module is there by the time the first message is written; a message tells why it is not.
    void Promise.resolve(this.#use()).catch(() => {});
  }

  #restore(): void {
    this.#restored = true;
    this.#conversation.restore();
    this.#files.restore();
    if (!warm) warmUp(this.#strings, this.shadowRoot!);
    warm = true;
  }

  #use(): AgentClient | Promise<AgentClient> {
    return this.#client ?? (this.#own ??= this.#make());
  }

  /** The package is loaded only by who has no client of it. */
  async #make(): Promise<AgentClient> {
    const connection = this.#connection!;
    const { client, apiKey, ...where } = connection;
    try {
      const { AgentClient } = await import("turnwire");
      return new AgentClient({ ...where, ...(apiKey !== undefined && { apiKey }), pageHide: this.#pageHide });
    } catch (error) {
      if (connection === this.#connection) {
        this.#own = undefined;
        if (error instanceof Error && error.name === "InvalidArgumentError") this.#complain(wrongOption(error));
      }
      throw error;
    }
  }

  /** A chat that is kept is picked up again by the page after. */
  get #pageHide(): AgentClient["pageHide"] {
    return this.#client?.pageHide ?? (this.keep ? "disconnect" : "abort");
  }

  /** Closes the element's own client; at once would cut off what still goes on. */
  #discard(): void {
    const own = this.#own;
    this.#own = undefined;
    if (own) void Promise.all([own, this.settled()]).then(([client]) => client.close(), () => {});
  }

  #complain(wrong: Wrong | undefined): void {
    const { message = "" } = wrong ?? {};
    const news = message !== (this.#wrong?.message ?? "");
    this.#wrong = wrong;
    this.#problem.hidden = !wrong;
    this.#problem.replaceChildren(...(wrong ? [h("b", {}, this.#strings.misconfigured), h("p", { dir: "auto" }, message)] : []));
    if (wrong && news) this.#dispatch("error", { name: wrong.name, error: new TypeError(message) });
  }

  /** Takes files, where it takes any and stands in the page. */
  #listen(): void {
    this.#takeNoFiles();
    this.#takeNoFiles = () => {};
    this.#composer.attach.hidden = this.noFiles;
    if (this.noFiles || !this.isConnected) return;
    this.#takeNoFiles = takeFiles(this.#dropTarget, {
      shown: this.#drop,
      take: (files) => this.addFiles(files),
      refused: () => this.#files.refuse(this.#strings.folder),
    });
  }

  /** Before the client's own listener, which only lets go of the turn: nobody can come back to a temporary chat. */
  readonly #hide = (): void => {
    this.#files.keep();
    if (this.keep && this.#conversation.temporary) void this.stop();
  };

  #leave(): void {
    removeEventListener("pagehide", this.#hide, { capture: true });
    this.#listen();
    this.#files.keep();
    this.#conversation.leave(this.#pageHide);
    this.#files.leave(this.#pageHide);
    this.#discard();
  }
}

globalThis.customElements?.define("turnwire-chat", TurnwireChat);
