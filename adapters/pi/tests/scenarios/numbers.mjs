// The package's number is found from the program that runs.
import { mkdirSync, writeFileSync } from "node:fs";
import { loaded } from "./host.mjs";

const folder = `${process.cwd()}/node_modules/@earendil-works/pi-coding-agent`;
mkdirSync(`${folder}/dist`, { recursive: true });
writeFileSync(`${folder}/dist/cli.js`, "");
process.argv[1] = `${folder}/dist/cli.js`;
for (const version of ["0.74.2", "0.80.3", "0.80.4", "1.6.0-rc.1"]) {
  writeFileSync(`${folder}/package.json`, JSON.stringify({ name: "@earendil-works/pi-coding-agent", version }));
  const { emit, said } = await loaded();
  await emit("agent_end", { messages: [said(version)] });
  if (version === "1.6.0-rc.1") {
    await emit("agent_end", { messages: [said("later")] });
    await emit("agent_settled", {});
  }
}
