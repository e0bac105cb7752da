// A build that knows neither chat.message nor session.status.
import { loaded } from "./host.mjs";

const { fire, part, settled } = await loaded({ sessions: {} });
const sessionID = "ses_main";
await fire("session.created", { info: { id: sessionID } });
// A fork repeats older messages.
fire("message.updated", { info: { id: "msg_0", sessionID, role: "user", time: { created: 1787210000000 } } });
await part({ id: "prt_00", sessionID, messageID: "msg_0", type: "text", text: "Said to another session." });
fire("message.updated", { info: { id: "msg_1", sessionID, role: "user", time: { created: Date.now() } } });
part({ id: "prt_0", sessionID, messageID: "msg_1", type: "text", text: "Added by a mode.", synthetic: true });
await part({ id: "prt_1", sessionID, messageID: "msg_1", type: "text", text: "Add a greet module." });
await part({ id: "prt_1", sessionID, messageID: "msg_1", type: "text", text: "Add a greet module." });
fire("message.updated", { info: { id: "msg_2", sessionID, role: "assistant", modelID: "m" } });
part({ id: "prt_2", sessionID, messageID: "msg_2", type: "text", text: "Done." });
fire("message.updated", { info: { id: "msg_1", sessionID, role: "user" } });
fire("session.idle", { sessionID });
fire("session.idle", { sessionID });
await settled();
