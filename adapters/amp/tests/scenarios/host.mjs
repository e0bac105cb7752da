// What Amp is to a plugin, as far as ours can see.
import { pathToFileURL } from "node:url";

export async function loaded({ unknown = [], change = (amp) => amp } = {}) {
  const module = await import(pathToFileURL(process.argv[2]).href);
  const handlers = new Map();
  const notified = [];
  const amp = {
    on(event, handler) {
      if (unknown.includes(event)) throw new Error(`no such event: ${event}`);
      handlers.set(event, handler);
    },
    system: { workspaceRoot: pathToFileURL(process.cwd()) },
    ui: { notify: async (text) => void notified.push(text) },
    helpers: {
      toolCallsInMessages: (messages) =>
        messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use").map((call) => ({ call }))),
      filesModifiedByToolCall: (event) =>
        event?.name === "edit_file" ? [pathToFileURL(event.input.path)] : undefined,
    },
  };
  module.default(change(amp));
  const emit = async (event, value) => {
    if ((await handlers.get(event)?.(value, {})) !== undefined) throw new Error(`${event}: a handler returned something`);
  };
  return { emit, handlers, notified };
}
