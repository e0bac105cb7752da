// A version that does not report agent_settled, and whose number cannot be found here: a run that ends is the end of the
// turn when nothing follows.
import { loaded } from "./host.mjs";

const { emit, said } = await loaded({ unknown: ["agent_settled", "session_compact"] });
await emit("session_start", {});
await emit("before_agent_start", { prompt: "One" });
await emit("agent_start", {});
await emit("agent_end", { messages: [said("First.")] });
await emit("before_agent_start", { prompt: "Two" });
await emit("agent_start", {});
await emit("agent_end", { messages: [said("Retried.")] });
await emit("agent_start", {});
await emit("agent_end", { messages: [said("Second.")] });
await emit("session_switch", { reason: "resume", previousSessionFile: "/sessions/2026-08-19T16-20-11-400Z_s0.jsonl" });
await emit("session_shutdown", {});
