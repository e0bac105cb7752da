//! Every adapter's registration, applied to real files: it is complete, it is stable, and it goes without a trace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookhost::adapter::registry::{self, Found};
use hookhost::adapter::{Adapter, FailureKind, Limits};
use hookhost::install::{self, EntryKind, Owner, Program};
use hookhost::model::{ConfigFormat, Description, Edit, Invocation, Plan, Scope};
use hookhost::surroundings::Surroundings;

/// A repository and a home directory.
struct Machine {
    directory: tempfile::TempDir,
    surroundings: Surroundings,
}

impl Machine {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let repo = directory.path().join("repo");
        let home = directory.path().join("home");
        fs::create_dir_all(repo.join(".git")).unwrap();
        fs::create_dir(&home).unwrap();
        Self {
            surroundings: Surroundings {
                repo_root: Some(repo.clone()),
                cwd: Some(repo),
                home: Some(home),
                received_at: "2026-01-02T03:04:05.678Z".to_owned(),
            },
            directory,
        }
    }

    /// All files with their content, and all directories, of the repository and the home directory.
    fn everything(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        collect(&self.directory.path().join("repo"), &mut found);
        collect(&self.directory.path().join("home"), &mut found);
        found
    }

    fn records(&self) -> PathBuf {
        self.directory.path().join("records")
    }
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    if path.is_dir() {
        found.insert(path.to_owned(), None);
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), found);
        }
    } else {
        found.insert(path.to_owned(), Some(fs::read(path).unwrap()));
    }
}

struct Subject {
    adapter: Box<dyn Adapter>,
    description: Description,
    owner: Owner,
}

impl Subject {
    fn of(found: &Found) -> Self {
        let mut adapter = found.load(&found.name, Limits::default()).unwrap();
        let description = adapter.describe().unwrap();
        Self {
            owner: Owner::new(&description.name, &description.aliases),
            adapter,
            description,
        }
    }

    fn plan(&mut self, invocation: &Invocation, scope: Scope, machine: &Machine) -> Option<Plan> {
        let context = machine.surroundings.context_with_files(&self.description);
        match self.adapter.plan(invocation, scope, &context) {
            Ok(plan) => Some(plan),
            Err(error) => {
                assert_eq!(error.kind, FailureKind::Unsupported, "{error}");
                None
            }
        }
    }
}

/// Settings of a user who has hooks of another tool.
fn settings_of_user(edit: &Edit) -> Option<(&str, &'static str)> {
    let Edit::Config(edit) = edit else { return None };
    let text = match edit.format {
        ConfigFormat::Json => "{\r\n\t\"other\": [1, 2],\r\n\t\"hooks\": {}\r\n}",
        ConfigFormat::Jsonc => "{\n    // mine\n    \"other\": {\"a\": 1,}, /* and this */\n\n}\n",
        ConfigFormat::Toml => "# mine\nother = 1\n\n[table] # too\nkey = 'value'",
    };
    Some((&edit.file, text))
}

fn there_and_back(subject: &mut Subject, invocation: &Invocation, scope: Scope, machine: &Machine) {
    let name = subject.description.name.clone();
    let Some(plan) = subject.plan(invocation, scope, machine) else {
        return;
    };
    if plan.hooks == 0 {
        // This agent is not told anything.
        assert!(plan.edits.is_empty(), "{name}");
        return;
    }
    let before = machine.everything();
    let records = machine.records();
    let owner = subject.owner.clone();
    let installed = |machine: &Machine, subject: &mut Subject| {
        // What an adapter plans can depend on the files.
        let plan = subject.plan(invocation, scope, machine).unwrap();
        let state = install::check(&plan, &owner).unwrap();
        (plan, state)
    };
    assert!(!installed(machine, subject).1.is_installed(), "{name}");

    let report = install::apply(&plan, &owner, Some(&records), false).unwrap();
    assert_eq!(report.newly_written, plan.hooks, "{name}");
    let after = machine.everything();
    let (plan, state) = installed(machine, subject);
    assert!(state.is_complete(), "{name}: {state:?}");
    for entry in &state.entries {
        assert!(
            matches!(entry.kind, EntryKind::Current | EntryKind::Foreign),
            "{name}: {entry:?}"
        );
    }

    let again = install::apply(&plan, &owner, Some(&records), false).unwrap();
    assert_eq!((again.newly_written, again.files.len()), (0, 0), "{name}");
    assert_eq!(machine.everything(), after, "{name}: a second time changes nothing");

    let plan = installed(machine, subject).0;
    install::remove(&plan, &owner, Some(&records)).unwrap();
    assert!(!installed(machine, subject).1.is_installed(), "{name}");
    assert_eq!(machine.everything(), before, "{name}: something is left");
}

#[test]
fn every_adapters_registration_is_complete_and_goes_without_a_trace() {
    let mut count = 0;
    for found in registry::builtins() {
        let mut subject = Subject::of(&found);
        if !subject.description.capabilities.hooks {
            continue;
        }
        count += 1;
        for invocation in [
            install::of_hookhost(&Program::Named("hookhost".to_owned()), &found.name),
            install::of_hookhost(&Program::At("/opt/My Tools/hookhost".into()), &found.name),
            install::of_entire(&found.name),
        ] {
            for scope in [Scope::Repo, Scope::User] {
                let machine = Machine::new();
                there_and_back(&mut subject, &invocation, scope, &machine);
                let Some(plan) = subject.plan(&invocation, scope, &machine) else {
                    continue;
                };
                for (file, text) in plan.edits.iter().filter_map(settings_of_user) {
                    fs::create_dir_all(Path::new(file).parent().unwrap()).unwrap();
                    fs::write(file, text).unwrap();
                }
                there_and_back(&mut subject, &invocation, scope, &machine);
            }
        }
    }
    assert!(count > 0, "no adapter has hooks");
}

/// Who changes from one way of calling us to the other has one entry a hook, not two.
#[test]
fn one_way_of_calling_us_replaces_the_other() {
    for found in registry::builtins() {
        let mut subject = Subject::of(&found);
        if !subject.description.capabilities.hooks {
            continue;
        }
        let machine = Machine::new();
        let before = machine.everything();
        let ways = [
            install::of_entire(&found.name),
            install::of_hookhost(&Program::Named("hookhost".to_owned()), &found.name),
            install::of_hookhost(&Program::At("/opt/hookhost".into()), &found.name),
        ];
        for invocation in &ways {
            let Some(plan) = subject.plan(invocation, Scope::Repo, &machine) else {
                continue;
            };
            let report = install::apply(&plan, &subject.owner, Some(&machine.records()), false).unwrap();
            assert_eq!(report.newly_written, plan.hooks, "{}", found.name);
            let state = install::check(&plan, &subject.owner).unwrap();
            assert_eq!(
                state.of_kind(EntryKind::Current).count(),
                state.entries.len(),
                "{state:?}"
            );
        }
        // Any of the ways takes all of them back.
        if let Some(plan) = subject.plan(&ways[0], Scope::Repo, &machine) {
            install::remove(&plan, &subject.owner, Some(&machine.records())).unwrap();
        }
        assert_eq!(machine.everything(), before, "{}", found.name);
    }
}
