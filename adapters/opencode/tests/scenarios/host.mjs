// What OpenCode is to a plugin, as far as ours can see.
import { pathToFileURL } from "node:url";

export async function loaded({ sessions }) {
  const module = await import(pathToFileURL(process.argv[2]).href);
  // Older loaders take every export for a plugin.
  const exported = Object.values(module);
  if (exported.length !== 1 || typeof exported[0] !== "function") throw new Error("exports more than the plugin");

  const client = {
    session: {
      async get({ path }) {
        return sessions[path.id] ? { data: sessions[path.id] } : { error: { name: "NotFoundError" } };
      },
    },
  };
  const directory = process.cwd();
  const hooks = await exported[0]({ client, directory, worktree: directory, project: { id: "p" } });
  const fired = [];
  const fire = (type, properties) => {
    const running = hooks.event({ event: { type, properties } });
    fired.push(running);
    return running;
  };
  const part = (part) => fire("message.part.updated", { part });
  const settled = async () => {
    const results = await Promise.all(fired);
    if (results.some((result) => result !== undefined)) throw new Error("a handler returned something");
  };
  return { hooks, fire, part, settled };
}
