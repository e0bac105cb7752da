// Two threads. The first has no id when it begins; the user comes back to it later.
import { loaded } from "./host.mjs";

const { emit, handlers, notified } = await loaded();
if (handlers.has("tool.call")) throw new Error("a listener to tool.call decides");
const text = (text) => ({ type: "text", text });
await emit("session.start", { thread: {} });
await emit("agent.start", { thread: { id: "T-1" }, id: "M-1", message: "Add a greet module." });
await emit("agent.end", {
  thread: { id: "T-1" },
  id: "M-1",
  message: "Add a greet module.",
  status: "done",
  messages: [
    { role: "user", content: [text("Add a greet module.")] },
    { role: "assistant", content: [text("Added"), { type: "tool_use", name: "edit_file", input: { path: "/p/a.ts" } }] },
    { role: "assistant", content: [{ type: "tool_use", name: "Read", input: { path: "/p/b.ts" } }] },
  ],
});
await emit("session.start", { thread: { id: "T-2" } });
await emit("agent.start", { thread: { id: "T-2" }, id: 7, message: [text("Two"), text("blocks")] });
await emit("agent.end", { thread: { id: "T-2" }, id: 7, status: "cancelled" });
await emit("session.start", { thread: { id: "T-1" } });
if (notified.length > 0) throw new Error(JSON.stringify(notified));
