// hookhost has something to say to the user.
import { loaded } from "./host.mjs";

process.env.HOOKHOST_TEST_REPLY = '{"message":"Saved."}\n';
const { emit, notified } = await loaded();
await emit("agent.end", { thread: { id: "T-1" }, messages: [] });
process.env.HOOKHOST_TEST_REPLY = "A line of a log.\n";
await emit("agent.end", { thread: { id: "T-1" }, messages: [] });
if (JSON.stringify(notified) !== '["Saved."]') throw new Error(JSON.stringify(notified));
