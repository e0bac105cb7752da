// Whatever comes, nothing may be thrown, printed or returned.
import { loaded } from "./host.mjs";

const { emit, handlers } = await loaded();
const circle = {};
circle.circle = circle;
for (const value of [undefined, null, 0, "", [], {}, circle, { messages: 3, prompt: circle, reason: circle }]) {
  for (const event of handlers.keys()) {
    await emit(event, value);
    for (const context of [undefined, null, {}, { sessionManager: {} }, { sessionManager: { getSessionFile: () => "/f" } }]) {
      await emit(event, value, context);
    }
  }
}
