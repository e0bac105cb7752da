// Whatever comes, and whatever is missing in Amp, nothing may be thrown, printed or returned.
import { loaded } from "./host.mjs";

const circle = { thread: { id: "T-1" } };
circle.message = circle;
circle.id = circle;
const values = [undefined, null, 0, "", [], {}, { thread: null }, { thread: { id: "T-1" }, messages: 3 }, circle];
const hosts = [
  {},
  { unknown: ["session.start", "agent.end"] },
  { change: ({ on }) => ({ on }) },
  { change: ({ on, helpers }) => ({ on, helpers, system: { workspaceRoot: "/not/there" }, ui: {} }) },
];
for (const host of hosts) {
  const { emit, handlers } = await loaded(host);
  for (const value of values) {
    for (const event of handlers.keys()) await emit(event, value);
  }
}
