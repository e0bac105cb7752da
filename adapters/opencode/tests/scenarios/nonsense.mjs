// Whatever comes, nothing may be thrown, printed or returned.
import { loaded } from "./host.mjs";

const { hooks, fire, settled } = await loaded({ sessions: {} });
const circle = {};
circle.circle = circle;
const values = [undefined, null, 0, "", [], {}, { sessionID: 1 }, { info: null }, { info: { id: {} } }, circle];
for (const value of values) {
  for (const type of ["session.created", "session.deleted", "message.updated", "session.status", "session.compacted"]) {
    await fire(type, value);
  }
  await hooks.event(value);
  for (const name of Object.keys(hooks)) {
    if ((await hooks[name](value, value)) !== undefined) throw new Error(`${name} returned something`);
  }
}
await hooks["chat.message"]({ sessionID: "ses_circle", messageID: "msg" }, { message: {}, parts: [circle] });
await hooks["tool.execute.before"]({ tool: "task", sessionID: "ses_circle", callID: "c" }, circle);
await settled();
