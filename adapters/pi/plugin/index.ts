// hookhost-plugin v1
// Tells hookhost what happens in pi. Written by hookhost's installer: changes are lost when it runs again.
//
// It runs inside pi, so whatever goes wrong here stays here: nothing is thrown, printed or changed, handlers give nothing
// back, and no call of hookhost may take longer than TIME_LIMIT. It imports nothing of pi's, whose package has had two
// names, and is plain JavaScript, so that node can check it and run it in tests.
import { spawn } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

const COMMAND = "__HOOKHOST_COMMAND__";
const HOOKS = "__HOOKHOST_HOOKS__";
const TIME_LIMIT = 10000;
const SETTLE_LIMIT = 2000;
const LONGEST_MESSAGE = 8192;

// __HOOKHOST_CALL__

// __HOOKHOST_MESSAGE__

// Whether the running version reports agent_settled (0.80.4 and later); undefined when its version cannot be found.
const reportsSettled = () => {
  try {
    let folder = dirname(realpathSync(process.argv[1]));
    for (let depth = 0; depth < 6; depth += 1) {
      const text = readIfThere(join(folder, "package.json"));
      const { name, version } = text ? JSON.parse(text) : {};
      if (name?.endsWith("/pi-coding-agent")) {
        const [major, minor, patch] = version.split(/[.+-]/).map(Number);
        return major > 0 || minor > 80 || (minor === 80 && patch >= 4);
      }
      folder = dirname(folder);
    }
  } catch {
    // Not known, then.
  }
  return undefined;
};

const readIfThere = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

const lastWords = (messages) => {
  for (const message of [...(messages ?? [])].reverse()) {
    if (message?.role !== "assistant") continue;
    const blocks = Array.isArray(message.content) ? message.content : [{ type: "text", text: message.content }];
    const text = blocks
      .filter((block) => block?.type === "text" && block.text)
      .map((block) => block.text)
      .join("\n");
    if (text) return text.slice(0, LONGEST_MESSAGE);
  }
  return undefined;
};

export default function (pi) {
  let settles = reportsSettled();
  let said;
  // A run that ended where it is not known whether the version says when all is settled.
  let ended;
  let timer;
  let last = Promise.resolve();

  const on = (event, handler) => {
    try {
      pi.on(event, async (value, ctx) => {
        try {
          await handler(value ?? {}, ctx);
        } catch {
          // Nothing that pi should hear of.
        }
      });
    } catch {
      // A version that does not know the event.
    }
  };

  // What is to be sent, as things are now. Undefined for a session that is not kept: it has no transcript.
  const call = (hook, ctx, body) => {
    const file = ctx?.sessionManager?.getSessionFile?.();
    if (!file) return undefined;
    const model = ctx.model ? `${ctx.model.provider}/${ctx.model.id}` : undefined;
    const payload = JSON.stringify({
      type: hook,
      cwd: ctx.cwd,
      session_file: file,
      session_id: ctx.sessionManager.getSessionId?.(),
      timestamp: new Date().toISOString(),
      model,
      ...body,
    });
    return { hook, payload, directory: ctx.cwd, ctx };
  };

  // One call after the other, in the order of what happened. Never rejects.
  const send = (call) => {
    if (!call) return last;
    last = last.then(async () => {
      const message = messageIn(await callHookhost(call.hook, call.payload, call.directory));
      if (!message) return;
      try {
        call.ctx.ui.notify(message, "info");
      } catch {
        // No user interface, or one that is gone.
      }
    });
    return last;
  };

  const dropEnded = () => {
    clearTimeout(timer);
    const call = ended;
    ended = undefined;
    return call;
  };

  const start = (ctx, reason, previous) => {
    send(dropEnded());
    send(call("session_start", ctx, { reason, previous_session_file: previous }));
  };

  on("session_start", (event, ctx) => start(ctx, event.reason, event.previousSessionFile));
  // Before 0.65.0 these stood for the reasons of session_start.
  on("session_switch", (event, ctx) => start(ctx, event.reason ?? "resume", event.previousSessionFile));
  on("session_fork", (event, ctx) => start(ctx, "fork", event.previousSessionFile));

  on("before_agent_start", async (event, ctx) => {
    send(dropEnded());
    said = undefined;
    const body = { message_type: event.messageType ?? "user", prompt: event.prompt };
    await send(call("before_agent_start", ctx, body));
  });

  // A retry: the run that ended was not the last of this prompt.
  on("agent_start", () => {
    dropEnded();
  });

  on("agent_end", async (event, ctx) => {
    said = lastWords(event.messages) ?? said;
    if (settles) return;
    const end = call("agent_end", ctx, { last_assistant_message: said });
    if (settles === false) {
      await send(end);
      return;
    }
    ended = end;
    timer = setTimeout(() => send(dropEnded()), SETTLE_LIMIT);
    timer.unref?.();
  });

  on("agent_settled", async (event, ctx) => {
    settles = true;
    dropEnded();
    await send(call("agent_settled", ctx, { aborted: event.aborted, last_assistant_message: said }));
  });

  on("session_compact", (event, ctx) => {
    const body = {
      reason: event.reason,
      will_retry: event.willRetry,
      tokens_before: event.compactionEntry?.tokensBefore,
    };
    send(call("session_compact", ctx, body));
  });

  on("session_shutdown", async (event, ctx) => {
    send(dropEnded());
    await send(call("session_shutdown", ctx, { reason: event.reason }));
  });
}
