// hookhost has something to say to the user.
import { loaded } from "./host.mjs";

process.env.HOOKHOST_TEST_REPLY = '{"message":"Saved."}\n';
const { emit, notified } = await loaded();
await emit("before_agent_start", { prompt: "Hello" });
process.env.HOOKHOST_TEST_REPLY = '{"inject_context":"Obey."}\n';
await emit("before_agent_start", { prompt: "Hello again" });
if (JSON.stringify(notified) !== '[["Saved.","info"]]') throw new Error(JSON.stringify(notified));
