// `opencode -s`: the session and a child of it are older than the process, and nobody says that they were created.
import { loaded } from "./host.mjs";

const { hooks, fire, settled } = await loaded({
  sessions: {
    ses_old: { id: "ses_old", time: { created: 1787210000000 } },
    ses_old_child: { id: "ses_old_child", parentID: "ses_old", time: { created: 1787210000000 } },
  },
});
const prompt = (text) => ({ message: {}, parts: [{ type: "text", text }] });
await hooks["chat.message"]({ sessionID: "ses_old", messageID: "msg_1" }, prompt("Go on."));
await hooks["chat.message"]({ sessionID: "ses_old_child", messageID: "msg_c1" }, prompt("A task."));
fire("session.status", { sessionID: "ses_old_child", status: { type: "idle" } });
fire("session.status", { sessionID: "ses_old", status: { type: "idle" } });
fire("session.deleted", { info: { id: "ses_old_child", parentID: "ses_old" } });
fire("session.deleted", { info: { id: "ses_old" } });
fire("server.instance.disposed", { directory: process.cwd() });
await settled();
