// hookhost-plugin v1
// Tells hookhost what happens in OpenCode. Written by hookhost's installer: changes are lost when it runs again.
//
// It runs inside OpenCode, so whatever goes wrong here stays here: nothing is thrown, printed or changed, and no call
// of hookhost may take longer than TIME_LIMIT.
import { spawn, spawnSync } from "node:child_process";

const COMMAND = "__HOOKHOST_COMMAND__";
const HOOKS = "__HOOKHOST_HOOKS__";
const TIME_LIMIT = 5000;
const LOOKUP_LIMIT = 2000;
const LONGEST_MESSAGE = 8192;

// __HOOKHOST_CALL__

const runAllAtExit = (enders) => {
  process.on("exit", () => {
    for (const end of enders) end();
  });
  return enders;
};

// One listener for all plugins of ours in this process: of too many the runtime would complain aloud.
const enders = (globalThis[Symbol.for("hookhost.enders")] ??= runAllAtExit(new Set()));

export const HookhostPlugin = async (context) => {
  const { client, directory, worktree } = context ?? {};
  const loadedAt = Date.now();
  // id -> {id, parent: string, null (none) or undefined (not known yet), opened, turnOpen, ...}
  const sessions = new Map();
  const failedCalls = new Set();
  let sawChatMessage = false;
  let sawSessionStatus = false;

  // ---- calling hookhost

  const waiting = [];
  let isRunning = false;

  const runAtOnce = (call) => {
    try {
      const [program, ...words] = commandFor(call.hook);
      spawnSync(program, words, {
        cwd: directory,
        input: call.payload,
        stdio: ["pipe", "ignore", "ignore"],
        timeout: TIME_LIMIT,
        killSignal: "SIGKILL",
        windowsHide: true,
      });
    } catch {
      // Nothing that OpenCode should hear of.
    }
  };

  const pump = async () => {
    if (isRunning) return;
    isRunning = true;
    for (let call = waiting.shift(); call; call = waiting.shift()) {
      await callHookhost(call.hook, call.payload, directory);
      call.done();
    }
    isRunning = false;
  };

  // One call after the other, in the order of what happened.
  const send = (hook, payload) =>
    new Promise((done) => {
      try {
        waiting.push({ hook, payload: JSON.stringify(payload), done });
        pump();
      } catch {
        done();
      }
    });

  // Before this function returns: `opencode run` exits on the very event that ends the turn.
  const sendAtOnce = (hook, payload) => {
    for (const call of waiting.splice(0)) {
      runAtOnce(call);
      call.done();
    }
    runAtOnce({ hook, payload: JSON.stringify(payload) });
  };

  // ---- sessions

  const known = (id) => {
    let session = sessions.get(id);
    if (!session) {
      session = { id, parent: undefined, opened: false, turnOpen: false, answers: new Set(), said: new Map() };
      sessions.set(id, session);
    }
    return session;
  };

  const ask = async (id) => {
    let timer;
    try {
      const limit = new Promise((resolve) => {
        timer = setTimeout(resolve, LOOKUP_LIMIT);
      });
      // Both generations of the client: one takes `path`, the other `sessionID`.
      const answer = await Promise.race([client.session.get({ path: { id }, sessionID: id }), limit]);
      const info = answer?.data ?? answer;
      return info?.id === id ? info : undefined;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

  // A session is met in mid-life after `opencode -s`: then there was no session.created. Awaited only where that is
  // so: an await lets later events overtake.
  const lookUp = async (session) => {
    const info = await ask(session.id);
    session.info ??= info;
    if (session.parent === undefined) session.parent = info?.parentID ?? null;
  };

  const rootOf = (session) => {
    let root = session;
    for (let depth = 0; depth < 32 && root.parent; depth += 1) root = known(root.parent);
    return root.id;
  };

  const envelope = (hook, source, session, body) => ({
    hook,
    source,
    session_id: session.id,
    ...(session.parent ? { parent_session_id: session.parent, root_session_id: rootOf(session) } : {}),
    directory,
    worktree,
    time: Date.now(),
    ...body,
  });

  const open = (session, event, body) => {
    if (session.opened) return undefined;
    session.opened = true;
    return send("session.created", envelope("session.created", "event", session, { event, ...body }));
  };

  const openFromMidLife = (session) => {
    const info = session.info ?? { id: session.id };
    const resumed = info.time?.created < loadedAt;
    return open(session, { type: "session.created", properties: { info } }, resumed ? { resumed } : {});
  };

  const startTurn = (session) => {
    session.turnOpen = true;
    session.answers.clear();
    session.said.clear();
  };

  // What the model said last, for the event at the end of the turn.
  const lastWords = (session) => {
    const text = [...session.said.values()].join("\n").slice(0, LONGEST_MESSAGE);
    return {
      ...(session.model ? { model: session.model } : {}),
      ...(text ? { last_assistant_message: text } : {}),
    };
  };

  // ---- what happens

  const onMessage = (info) => {
    if (!info?.sessionID) return;
    const session = known(info.sessionID);
    if (info.role === "assistant" && info.summary !== true) {
      session.answers.add(info.id);
      session.model = info.modelID ?? session.model;
    } else if (info.role === "user" && info.id !== session.prompted && !(info.time?.created < loadedAt)) {
      // A fork repeats the messages of the session that it was made from: those are older.
      session.asked = info.id;
    }
  };

  const onText = async (part, event) => {
    const session = known(part.sessionID);
    if (!part.text || part.synthetic || part.ignored) return;
    if (session.answers.has(part.messageID)) {
      if (session.saying !== part.messageID) session.said.clear();
      session.saying = part.messageID;
      session.said.set(part.id, part.text);
    } else if (!sawChatMessage && session.asked === part.messageID) {
      // Builds without chat.message.
      session.asked = undefined;
      session.prompted = part.messageID;
      if (session.parent === undefined) await lookUp(session);
      if (session.parent) return;
      openFromMidLife(session);
      startTurn(session);
      const hook = "message.part.updated";
      await send(hook, envelope(hook, "event", session, { event, no_chat_message: true }));
    }
  };

  const onPart = async (part, event) => {
    if (!part?.sessionID) return;
    if (part.type === "text") {
      await onText(part, event);
    } else if (part.type === "tool" && part.tool === "task" && part.state?.status === "error") {
      // tool.execute.after is not called for it. The part is reported more than once.
      const call = `${part.sessionID} ${part.callID}`;
      if (failedCalls.has(call)) return;
      failedCalls.add(call);
      const session = known(part.sessionID);
      if (session.parent === undefined) await lookUp(session);
      await send("message.part.updated", envelope("message.part.updated", "event", session, { event }));
    }
  };

  // Nothing is awaited on the way to sendAtOnce.
  const onIdle = (id, hook, event, body) => {
    const session = sessions.get(id);
    if (!session) return;
    if (session.backgroundCall) {
      const call = { background_call_id: session.backgroundCall };
      session.backgroundCall = undefined;
      sendAtOnce(hook, envelope(hook, "event", session, { event, ...call, ...lastWords(session), ...body }));
    } else if (session.turnOpen && !session.parent) {
      session.turnOpen = false;
      sendAtOnce(hook, envelope(hook, "event", session, { event, ...lastWords(session), ...body }));
    }
  };

  const endAll = (event, body) => {
    for (const session of sessions.values()) {
      if (session.opened) sendAtOnce(event.type, envelope(event.type, "event", session, { event, ...body }));
    }
    sessions.clear();
  };

  // `opencode run` exits without disposing of anything.
  const onExit = () => {
    try {
      endAll({ type: "server.instance.disposed", properties: { directory } }, { reason: "exit" });
    } catch {
      // Nothing that OpenCode should hear of.
    }
  };
  enders.add(onExit);

  const onEvent = async (event) => {
    const properties = event?.properties ?? {};
    switch (event?.type) {
      case "session.created": {
        const session = known(properties.info.id);
        session.info = properties.info;
        session.parent = properties.info.parentID ?? null;
        if (!session.parent) await open(session, event, {});
        break;
      }
      case "message.updated":
        onMessage(properties.info);
        break;
      case "message.part.updated":
        await onPart(properties.part, event);
        break;
      case "session.status":
        sawSessionStatus = true;
        if (properties.status?.type === "idle") onIdle(properties.sessionID, event.type, event, {});
        break;
      case "session.idle":
        // Builds before session.status; later ones send both.
        if (!sawSessionStatus) onIdle(properties.sessionID, event.type, event, { no_session_status: true });
        break;
      case "session.compacted": {
        const session = known(properties.sessionID);
        if (session.parent === undefined) await lookUp(session);
        if (!session.parent) await send(event.type, envelope(event.type, "event", session, { event }));
        break;
      }
      case "session.deleted": {
        const session = known(properties.info.id);
        session.parent ??= properties.info.parentID ?? null;
        if (!session.parent) sendAtOnce(event.type, envelope(event.type, "event", session, { event }));
        sessions.delete(session.id);
        break;
      }
      case "server.instance.disposed":
        if (properties.directory && directory && properties.directory !== directory) break;
        endAll(event, {});
        enders.delete(onExit);
        break;
    }
  };

  const onChatMessage = async (input, output) => {
    sawChatMessage = true;
    const message = input.messageID ?? output?.message?.id;
    const session = known(input.sessionID);
    if (session.parent === undefined) await lookUp(session);
    if (session.parent || (message && session.prompted === message)) return;
    session.prompted = message;
    openFromMidLife(session);
    startTurn(session);
    await send("chat.message", envelope("chat.message", "hook", session, { input, output }));
  };

  const onTaskStart = async (input, output) => {
    if (input?.tool !== "task") return;
    const session = known(input.sessionID);
    if (session.parent === undefined) await lookUp(session);
    await send("tool.execute.before", envelope("tool.execute.before", "hook", session, { input, output }));
  };

  const onTaskEnd = async (input, output) => {
    if (input?.tool !== "task") return;
    const child = output?.metadata?.sessionId ? known(output.metadata.sessionId) : undefined;
    if (child) child.parent ??= input.sessionID;
    if (output?.metadata?.background) {
      // It has only begun: its own idle ends it.
      if (child) child.backgroundCall = input.callID;
      return;
    }
    const session = known(input.sessionID);
    if (session.parent === undefined) await lookUp(session);
    await send("tool.execute.after", envelope("tool.execute.after", "hook", session, { input, output }));
  };

  const quietly = (handler) => async (...values) => {
    try {
      await handler(...values);
    } catch {
      // Nothing that OpenCode should hear of.
    }
  };

  return {
    event: quietly(async (input) => onEvent(input?.event)),
    "chat.message": quietly(onChatMessage),
    "tool.execute.before": quietly(onTaskStart),
    "tool.execute.after": quietly(onTaskEnd),
  };
};
