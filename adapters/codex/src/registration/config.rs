//! What matters of `config.toml`, read line by line. Only to judge: the host edits with a real parser.

/// What a `config.toml` says about hooks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Config {
    /// Hooks are registered in it.
    pub(super) has_hooks: bool,
    /// `[features] hooks = false`, formerly `codex_hooks`.
    pub(super) switches_hooks_off: bool,
}

impl Config {
    pub(super) fn read(text: &str) -> Self {
        let mut config = Self::default();
        let mut table: Vec<String> = vec![];
        // The end mark of a text over several lines that is open.
        let mut open: Option<&str> = None;
        for line in text.trim_start_matches('\u{feff}').lines() {
            if let Some(mark) = open {
                open = Some(mark).filter(|mark| !line.contains(mark));
                continue;
            }
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            if let Some(header) = line.strip_prefix('[') {
                table = keys(header.trim_start_matches('[').split(']').next().unwrap_or_default());
                config.has_hooks |= names_an_event(&table);
            } else if let Some((key, value)) = line.split_once('=') {
                let mut path = table.clone();
                path.extend(keys(key));
                config.value(&path, value.trim());
                open = ["\"\"\"", "'''"]
                    .into_iter()
                    .find(|mark| value.matches(mark).count() % 2 == 1);
            }
        }
        config
    }

    fn value(&mut self, path: &[String], value: &str) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let compact: String = value.split_whitespace().collect();
        match path.as_slice() {
            ["features", "hooks" | "codex_hooks"] => self.switches_hooks_off |= compact.starts_with("false"),
            ["features"] => self.switches_hooks_off |= compact.contains("hooks=false"),
            ["hooks"] => self.has_hooks |= compact.contains("command="),
            ["hooks", first, ..] if *first != "state" => self.has_hooks = true,
            _ => {}
        }
    }
}

/// `hooks.Stop`, but not `hooks.state`, in which Codex keeps what the user trusted.
fn names_an_event(table: &[String]) -> bool {
    matches!(table, [hooks, event, ..] if hooks == "hooks" && event != "state")
}

/// The parts of a dotted key. A dot inside quotes does not matter here: only the first two parts are looked at, and
/// those are plain.
fn keys(dotted: &str) -> Vec<String> {
    dotted
        .split('.')
        .map(|key| key.trim().trim_matches(['"', '\'']).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_found_in_each_way_of_writing_them() {
        for text in [
            "[[hooks.Stop]]\n",
            "model = \"x\"\n[ hooks . \"Stop\" ]\n",
            "[hooks]\nStop = [{ hooks = [] }]\n",
            "hooks.Stop = []\n",
            "hooks = { Stop = [{ hooks = [{ type = \"command\", command = \"x\" }] }] }\n",
        ] {
            assert!(Config::read(text).has_hooks, "{text}");
        }
        for text in [
            "",
            "# [[hooks.Stop]]\n",
            "[hooks.state.\"/x/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:a.b\"\n",
            "[hooks]\nstate = {}\n",
            "notes = '''\n[[hooks.Stop]]\n'''\n",
            "[other.hooks]\nStop = 1\n",
        ] {
            assert!(!Config::read(text).has_hooks, "{text}");
        }
    }

    #[test]
    fn the_switch_is_found_under_both_names() {
        assert!(Config::read("[features]\nhooks = false # for now\n").switches_hooks_off);
        assert!(Config::read("features.codex_hooks=false").switches_hooks_off);
        assert!(Config::read("features = { hooks = false }").switches_hooks_off);
        assert!(!Config::read("[features]\nhooks = true\nother = false\n").switches_hooks_off);
    }
}
