import type { AgentClient, Chat } from "turnwire";

/** The service's chats by a kit's ids: each is opened once, at its first message. One that failed is tried again by the next. */
export type Chats = (id: string) => Promise<Chat>;

export function chatsOf({ client, openChat = () => client.chats.create() }: { client: AgentClient; openChat?: (id: string) => Chat | Promise<Chat> }): Chats {
  const chats = new Map<string, Promise<Chat>>();
  return (id) => {
    const known = chats.get(id);
    if (known) return known;
    const chat = (async () => openChat(id))();
    chats.set(id, chat);
    chat.catch(() => chats.delete(id));
    return chat;
  };
}
