//! How an agent is told to run our command.

/// For whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This repository.
    Repo,
    /// All of this user's work.
    User,
}

/// How the command is written, `{hook}` standing for the hook's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// For `sh`; silent and successful when the program is missing.
    pub posix: String,
    /// For cmd.exe.
    pub cmd: String,
    /// For PowerShell.
    pub powershell: String,
    /// For programs that start others without a shell.
    pub argv: Vec<String>,
    /// The hook's name is written as the kebab-case alias.
    pub kebab: bool,
}

/// The format of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
}

/// What to do at a path of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertMode {
    /// Our own element at the end of the list.
    Append,
    /// Set only when nothing stands there.
    Default,
}

/// A value to stand in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// Object keys from the root on.
    pub path: Vec<String>,
    /// JSON text.
    pub value: String,
    /// How.
    pub how: InsertMode,
}

/// What to do with one settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEdit {
    /// Absolute path.
    pub file: String,
    /// Its format.
    pub format: ConfigFormat,
    /// What to put in.
    pub insertions: Vec<Insertion>,
    /// Lists, or objects of lists, from which elements of ours are removed.
    pub sweep: Vec<Vec<String>>,
    /// The file goes when nothing of anybody's is left in it.
    pub remove_when_empty: bool,
}

/// A whole file of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFile {
    /// Absolute path.
    pub path: String,
    /// Text that tells our file from anybody else's.
    pub marker: String,
    /// All of it.
    pub content: String,
    /// With the executable bit.
    pub executable: bool,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A settings file.
    Config(ConfigEdit),
    /// A file of ours.
    File(OwnFile),
}

/// All that registering takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In order.
    pub edits: Vec<Edit>,
    /// How many hooks a complete installation has.
    pub hooks: u32,
    /// What the user has to do next.
    pub notes: Vec<String>,
    /// What keeps the agent from running the hooks as its files are now.
    pub obstacles: Vec<String>,
}
