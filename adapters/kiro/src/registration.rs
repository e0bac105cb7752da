//! Two files of our own: an agent for the command line to 2.x, and a hook file for version 3 and the IDE.

use hookhost_sdk::json::quoted;
use hookhost_sdk::paths::join;
use hookhost_sdk::registration::{command, own_file, registered_hooks};
use hookhost_sdk::{Context, Fault, Invocation, RegistrationPlan, Scope};

use crate::Kiro;

/// Stands in both files as part of a description.
const MARKER: &str = "Managed by hookhost";

/// Seconds. Kiro waits for its hooks.
const TIMEOUT: u32 = 10;

pub(crate) fn plan(invocation: &Invocation, scope: Scope, context: &Context) -> Result<RegistrationPlan, Fault> {
    let base = match scope {
        Scope::Repo => context.repo_root.as_deref(),
        Scope::User => context.home.as_deref(),
    };
    let base = base.ok_or_else(|| Fault::Other("there is no directory to register in".to_owned()))?;
    let command = |hook: &str| quoted(&command::<Kiro>(invocation, hook, context));
    let agent_hook = |hook: &str| {
        format!(
            "    \"{hook}\": [{{\"command\": {}, \"timeout_ms\": {TIMEOUT}000}}]",
            command(hook)
        )
    };
    let agent = format!(
        "{{\n  \"name\": \"hookhost\",\n  \"description\": \"{MARKER}: the default agent, recorded\",\n  \
         \"tools\": [\"*\"],\n  \"hooks\": {{\n{}\n  }}\n}}\n",
        ["agentSpawn", "userPromptSubmit", "stop"].map(agent_hook).join(",\n")
    );
    let hook = |(trigger, hook): (&str, &str)| {
        format!(
            "    {{\"name\": \"hookhost-{hook}\", \"description\": \"{MARKER}\", \"trigger\": \"{trigger}\", \
             \"enabled\": true, \"timeout\": {TIMEOUT}, \"action\": {{\"type\": \"command\", \"command\": {}}}}}",
            command(hook)
        )
    };
    let triggers = [
        ("SessionStart", "SessionStart"),
        ("UserPromptSubmit", "userPromptSubmit"),
        ("Stop", "stop"),
    ];
    let hooks = format!(
        "{{\n  \"version\": \"v1\",\n  \"hooks\": [\n{}\n  ]\n}}\n",
        triggers.map(hook).join(",\n")
    );
    Ok(RegistrationPlan {
        edits: vec![
            own_file(join(base, ".kiro/agents/hookhost.json"), MARKER, agent, false),
            own_file(join(base, ".kiro/hooks/hookhost.json"), MARKER, hooks, false),
        ],
        hooks: registered_hooks::<Kiro>(),
        notes: vec![
            "Kiro CLI to 2.x runs these hooks only for the agent `hookhost`: start it with `kiro-cli chat --agent \
             hookhost`, or make that agent the default."
                .to_owned(),
        ],
        obstacles: vec![],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookhost_sdk::{Edit, Json, Object, testing};

    #[test]
    fn both_files_name_their_hooks_and_commands() {
        let plan = testing::plan::<Kiro>(Scope::Repo, &testing::context()).unwrap();
        let [Edit::File(agent), Edit::File(hooks)] = &plan.edits[..] else {
            panic!("two files were expected")
        };
        assert_eq!(agent.path, "/home/dev/project/.kiro/agents/hookhost.json");
        let agent = Object::parse(&agent.content).unwrap();
        let spawn = agent.object("hooks").unwrap().items("agentSpawn")[0].object().unwrap();
        assert_eq!(spawn.text("command").as_deref(), Some("hookhost hook kiro agentSpawn"));
        assert_eq!(spawn.count("timeout_ms"), 10_000);
        let triggers: Vec<_> = Object::parse(&hooks.content)
            .unwrap()
            .items("hooks")
            .into_iter()
            .map(|hook| hook.get("trigger").and_then(Json::text).unwrap().into_owned())
            .collect();
        assert_eq!(triggers, ["SessionStart", "UserPromptSubmit", "Stop"]);
    }
}
