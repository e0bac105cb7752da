// What pi is to an extension, as far as ours can see.
import { pathToFileURL } from "node:url";

export async function loaded({ file = "/sessions/2026-08-20T09-15-00-000Z_s1.jsonl", unknown = [] } = {}) {
  const module = await import(pathToFileURL(process.argv[2]).href);
  const handlers = new Map();
  module.default({
    on(event, handler) {
      if (unknown.includes(event)) throw new Error(`no such event: ${event}`);
      handlers.set(event, [...(handlers.get(event) ?? []), handler]);
    },
  });
  const notified = [];
  const ctx = {
    cwd: process.cwd(),
    model: { provider: "anthropic", id: "claude-sonnet-4-5" },
    sessionManager: { getSessionFile: () => file, getSessionId: () => "s1" },
    ui: { notify: (text, kind) => notified.push([text, kind]) },
  };
  // pi waits for its handlers.
  const emit = async (event, value, context = ctx) => {
    for (const handler of handlers.get(event) ?? []) {
      if ((await handler(value, context)) !== undefined) throw new Error(`${event}: a handler returned something`);
    }
  };
  const said = (...texts) => ({ role: "assistant", content: texts.map((text) => ({ type: "text", text })) });
  return { emit, said, notified, handlers };
}
