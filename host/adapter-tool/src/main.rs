//! The `hookhost-adapter` binary, which `hookhost adapter ...` starts.

fn main() {
    let code = hookhost_adapter::cli::run(std::env::args_os());
    hookhost::output::leave(code)
}
