const commandFor = (hook) => COMMAND.map((word) => word.split("{hook}").join(HOOKS[hook]));

// Gives what hookhost printed, or nothing. Never fails, and never takes longer than TIME_LIMIT.
const callHookhost = (hook, payload, directory) =>
  new Promise((resolve) => {
    let printed = "";
    let timer;
    const done = () => {
      clearTimeout(timer);
      resolve(printed);
    };
    try {
      const [program, ...words] = commandFor(hook);
      const child = spawn(program, words, { cwd: directory, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      timer = setTimeout(() => {
        child.kill("SIGKILL");
        // What it started may live on with our pipes, and would keep the agent from ending.
        child.stdin.destroy();
        child.stdout.destroy();
        done();
      }, TIME_LIMIT);
      child.on("error", done);
      child.on("close", done);
      child.stdout.on("data", (bytes) => {
        if (printed.length < 65536) printed += bytes;
      });
      child.stdin.on("error", () => {});
      child.stdin.end(payload);
    } catch {
      done();
    }
  });
