// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now
// hookhost-plugin v1
// Tells hookhost what happens in Amp. Written by hookhost's installer: changes are lost when it runs again.
//
// It runs inside Amp, so whatever goes wrong here stays here: nothing is thrown, printed or changed, handlers give nothing
// back, and no call of hookhost may take longer than TIME_LIMIT. It does not listen to tool.call, whose listeners decide.
// Plain JavaScript, so that node can check it and run it in tests.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const COMMAND = "__HOOKHOST_COMMAND__";
const HOOKS = "__HOOKHOST_HOOKS__";
const TIME_LIMIT = 10000;
const LONGEST_MESSAGE = 8192;

// __HOOKHOST_CALL__

// __HOOKHOST_MESSAGE__

const pathOf = (place) => {
  try {
    const text = String(place.href ?? place.uri ?? place.fsPath ?? place);
    return text.startsWith("file:") ? fileURLToPath(text) : text;
  } catch {
    return undefined;
  }
};

const textOf = (content) => {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.filter((block) => block?.type === "text" && block.text).map((block) => block.text);
  return texts.length > 0 ? texts.join("\n") : undefined;
};

const lastWords = (messages) => {
  for (const message of [...(messages ?? [])].reverse()) {
    const text = message?.role === "assistant" ? textOf(message.content) : undefined;
    if (text) return text.slice(0, LONGEST_MESSAGE);
  }
  return undefined;
};

export default function (amp) {
  const told = new Set();
  let last = Promise.resolve();

  const on = (event, handler) => {
    try {
      amp.on(event, async (value) => {
        try {
          await handler(value ?? {});
        } catch {
          // Nothing that Amp should hear of.
        }
      });
    } catch {
      // A version that does not know the event.
    }
  };

  // One call after the other, in the order of what happened. Never rejects.
  const send = (hook, thread, body) => {
    const directory = pathOf(amp.system?.workspaceRoot ?? process.cwd()) ?? process.cwd();
    const payload = JSON.stringify({
      type: hook,
      cwd: directory,
      thread_id: thread,
      timestamp: new Date().toISOString(),
      ...body,
    });
    last = last.then(async () => {
      const message = messageIn(await callHookhost(hook, payload, directory));
      if (!message) return;
      try {
        await amp.ui.notify(message);
      } catch {
        // No user interface.
      }
    });
    return last;
  };

  // It comes again when the user changes threads, and without an id; the first prompt then makes up for it.
  const start = (thread) => {
    if (!thread || told.has(thread)) return last;
    told.add(thread);
    return send("session.start", thread, {});
  };

  const modifiedFiles = (messages) => {
    try {
      const files = new Set();
      for (const { call, result } of amp.helpers.toolCallsInMessages(messages)) {
        for (const event of [call, result]) {
          for (const file of amp.helpers.filesModifiedByToolCall(event) ?? []) files.add(pathOf(file));
        }
      }
      return [...files].filter(Boolean).sort();
    } catch {
      return undefined;
    }
  };

  on("session.start", (event) => {
    start(event.thread?.id);
  });

  on("agent.start", async (event) => {
    const thread = event.thread?.id;
    if (!thread) return;
    start(thread);
    await send("agent.start", thread, { message_id: event.id, message: textOf(event.message) });
  });

  on("agent.end", async (event) => {
    const thread = event.thread?.id;
    if (!thread) return;
    await send("agent.end", thread, {
      message_id: event.id,
      message: textOf(event.message),
      status: event.status,
      last_assistant_message: lastWords(event.messages),
      modified_files: modifiedFiles(event.messages),
    });
  });
}
