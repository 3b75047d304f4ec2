CREATE TABLE IF NOT EXISTS chats (
	chat_id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, agent_id TEXT NOT NULL,
	created TEXT NOT NULL, messages INTEGER NOT NULL, recent TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS turns (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, turn_id TEXT NOT NULL UNIQUE, chat_id TEXT NOT NULL,
	idempotency_key TEXT NOT NULL, digest TEXT NOT NULL, model TEXT NOT NULL,
	created TEXT NOT NULL, status TEXT NOT NULL, tools TEXT NOT NULL,
	UNIQUE (chat_id, idempotency_key)
);
CREATE TABLE IF NOT EXISTS events (
	turn_id TEXT NOT NULL, first INTEGER NOT NULL, batch TEXT NOT NULL, PRIMARY KEY (turn_id, first)
);
CREATE TABLE IF NOT EXISTS files (
	file_id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL,
	content_type TEXT NOT NULL, purpose TEXT NOT NULL, checksum TEXT NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL,
	report TEXT NOT NULL, handle TEXT NOT NULL, expires TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL
);
INSERT INTO chats VALUES ('chat_1', 'demo', 'assistant', '2026-01-02T03:04:05.000000006Z', 3, '["first","sec\"ond","third"]');
INSERT INTO chats VALUES ('chat_2', 'demo', 'assistant', '2026-01-02T03:04:05Z', 0, 'null');
INSERT INTO turns VALUES (1, 'turn_1', 'chat_1', 'key-1', '2bb71dc4ca0b5ec3f2bfcba0fac6ac5a4d75a3e5e1b5a1a4a3cbd1eadf6c6b1c', 'm', '2026-01-02T03:04:06Z', 'completed', '[{"call_id":"call_1","name":"calculator"}]');
INSERT INTO turns VALUES (2, 'turn_2', 'chat_1', 'key-2', 'x', 'm', '2026-01-02T03:04:07Z', 'running', '[]');
INSERT INTO turns VALUES (3, 'turn_3', 'chat_1', 'key-3', 'DIGEST', 'm', '2026-01-02T03:04:08Z', 'completed', '[]');
INSERT INTO events VALUES ('turn_1', 0, '[{"type":"text_delta","data":{"chunk":"One."}},{"type":"turn_complete","data":{}}]');
INSERT INTO events VALUES ('turn_3', 0, '[{"type":"text_delta","data":{"chunk":"Thr"}}]');
INSERT INTO events VALUES ('turn_3', 1, '[{"type":"text_delta","data":{"chunk":"ee."}},{"type":"turn_complete","data":{"turn_id":"turn_3"}}]');
INSERT INTO files VALUES ('file_1', 'demo', 'a.txt', 3, 'text/plain', '', '', 'ready', '', 'null', '', '2026-01-02T04:04:05Z', '2026-01-02T03:04:05Z', '2026-01-02T03:04:09Z');
