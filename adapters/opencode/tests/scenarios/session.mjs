// A session as OpenCode 1.18 reports it: a prompt, a subagent, a failed one, an abort's second idle, a compaction, the
// end of the process. Events are fired without waiting, as OpenCode does, but where a model would have to answer before
// the next one; plugin hooks are awaited.
import { loaded } from "./host.mjs";

const { hooks, fire, part, settled } = await loaded({ sessions: {} });
const main = "ses_main";
const child = "ses_child";

fire("session.created", { info: { id: main, directory: "/home/dev/project", time: { created: Date.now() + 1000 } } });
const typed = [{ id: "prt_1", type: "text", text: "Add a greet module." }];
const model = { providerID: "anthropic", modelID: "claude-sonnet-4-5" };
const prompt = [{ sessionID: main, model, messageID: "msg_1" }, { message: { id: "msg_1", role: "user" }, parts: typed }];
await hooks["chat.message"](...prompt);
await hooks["chat.message"](...prompt);
fire("message.updated", { info: { id: "msg_1", sessionID: main, role: "user" } });
fire("session.status", { sessionID: main, status: { type: "busy" } });
part({ id: "prt_1", sessionID: main, messageID: "msg_1", ...typed[0] });
fire("message.updated", { info: { id: "msg_2", sessionID: main, role: "assistant", modelID: "claude-sonnet-4-5" } });
part({ id: "prt_2", sessionID: main, messageID: "msg_2", type: "text", text: "I" });
part({ id: "prt_2", sessionID: main, messageID: "msg_2", type: "text", text: "I will look." });

// Other tools are nobody's business.
await hooks["tool.execute.before"]({ tool: "write", sessionID: main, callID: "call_1" }, { args: { filePath: "/a" } });
await hooks["tool.execute.after"]({ tool: "write", sessionID: main, callID: "call_1" }, { output: "", metadata: {} });

// A subagent.
const args = { description: "Document greet", prompt: "List them.", subagent_type: "general" };
await hooks["tool.execute.before"]({ tool: "task", sessionID: main, callID: "call_2" }, { args });
fire("session.created", { info: { id: child, parentID: main, time: { created: Date.now() } } });
await hooks["chat.message"]({ sessionID: child, messageID: "msg_c1" }, { message: {}, parts: typed });
fire("session.status", { sessionID: child, status: { type: "busy" } });
// Its own subagent belongs to the main session as well.
await hooks["tool.execute.before"]({ tool: "task", sessionID: child, callID: "call_1" }, { args });
fire("session.status", { sessionID: child, status: { type: "idle" } });
fire("session.idle", { sessionID: child });
const result = { title: "", output: "Wrote docs/greet.md.", metadata: { sessionId: child } };
await hooks["tool.execute.after"]({ tool: "task", sessionID: main, callID: "call_2", args }, result);

// One that fails is reported twice.
const state = { status: "error", input: args, error: "Tool execution aborted", metadata: { sessionId: "ses_other" } };
const failed = part({ id: "prt_4", sessionID: main, messageID: "msg_2", type: "tool", tool: "task", callID: "call_3", state });
await part({ id: "prt_4", sessionID: main, messageID: "msg_2", type: "tool", tool: "task", callID: "call_3", state });
await failed;

// One that goes on in the background ends with its own idle.
const background = { title: "", output: "", metadata: { sessionId: "ses_background", background: true } };
await hooks["tool.execute.after"]({ tool: "task", sessionID: main, callID: "call_4", args }, background);
fire("session.status", { sessionID: "ses_background", status: { type: "idle" } });

fire("message.updated", { info: { id: "msg_3", sessionID: main, role: "assistant", modelID: "claude-sonnet-4-5" } });
part({ id: "prt_5", sessionID: main, messageID: "msg_3", type: "text", text: "Added src/greet.ts." });
part({ id: "prt_6", sessionID: main, messageID: "msg_3", type: "text", text: "And used it." });
await fire("session.compacted", { sessionID: main });
fire("message.updated", { info: { id: "msg_4", sessionID: main, role: "assistant", summary: true, modelID: "other" } });
part({ id: "prt_7", sessionID: main, messageID: "msg_4", type: "text", text: "A summary." });
fire("session.error", { sessionID: main, error: { name: "APIError" } });
fire("session.status", { sessionID: main, status: { type: "idle" } });
fire("session.idle", { sessionID: main });
fire("session.status", { sessionID: main, status: { type: "idle" } });
fire("server.instance.disposed", { directory: "/somewhere/else" });
fire("server.instance.disposed", { directory: process.cwd() });
await settled();
