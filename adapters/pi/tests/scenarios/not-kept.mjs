// `pi --no-session`: there is no file, so there is no session to speak of.
import { loaded } from "./host.mjs";

const { emit } = await loaded({ file: null });
await emit("session_start", { reason: "startup" });
await emit("before_agent_start", { prompt: "Hello" });
await emit("agent_settled", {});
await emit("session_shutdown", { reason: "quit" });
