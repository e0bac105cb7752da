// A version that reports agent_settled: a prompt with a retry, a compaction, a second prompt.
import { loaded } from "./host.mjs";

const { emit, said, notified } = await loaded();
await emit("session_start", { type: "session_start", reason: "startup" });
await emit("before_agent_start", { messageType: "user", prompt: "Add a greet module.", systemPrompt: "secret" });
await emit("agent_start", {});
await emit("tool_call", { toolName: "bash", input: { command: "ls" } });
await emit("agent_end", { messages: [said("Failed, so far.")] });
await emit("agent_start", {});
await emit("agent_end", { messages: [said("I will."), { role: "toolResult", content: [] }, said("Added", "it.")] });
await emit("agent_settled", { aborted: false });
await emit("session_compact", { reason: "threshold", willRetry: false, compactionEntry: { tokensBefore: 168400 } });
await emit("before_agent_start", { messageType: "custom", message: { customType: "x" } });
await emit("agent_start", {});
await emit("agent_end", { messages: [] });
await emit("agent_settled", { aborted: true });
await emit("session_shutdown", { reason: "quit" });
if (notified.length > 0) throw new Error(JSON.stringify(notified));
