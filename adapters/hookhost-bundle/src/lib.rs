//! The adapters that hookhost brings along, compiled to machine code when hookhost is built.

/// A built-in adapter.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// Environment variables that it wants in its context.
    pub env: &'static [&'static str],
    /// The component's digest, `sha256:` and hexadecimal digits.
    pub digest: &'static str,
    /// The precompiled component. Begins at a page boundary, so that it can be run where it lies.
    pub code: &'static [u8],
    /// The same of the part that a running hook needs: the world `hook-adapter` of the contract.
    pub hooks: &'static [u8],
}

/// What the build found in `adapters/`, by name.
pub const BUILTINS: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// The `quirks.toml` of each adapter, by name: what its agent does that one would not expect. Of no use to hooks.
pub const QUIRKS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/quirks.rs"));

/// Where the build left the components that `code` was compiled from, `<name>.wasm`. For tests.
pub const COMPONENT_DIR: &str = env!("OUT_DIR");

/// Alignment that serves the page sizes of all supported systems.
#[cfg_attr(target_arch = "x86_64", repr(C, align(0x1000)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(0x10000)))]
struct Page<T: ?Sized>(T);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_begins_at_a_page_boundary() {
        for adapter in BUILTINS {
            assert_eq!(adapter.code.as_ptr().addr() % 4096, 0, "{}", adapter.name);
            assert_eq!(adapter.hooks.as_ptr().addr() % 4096, 0, "{}", adapter.name);
        }
    }

    #[test]
    fn every_built_in_adapter_has_its_component() {
        for adapter in BUILTINS {
            let component = std::path::Path::new(COMPONENT_DIR).join(format!("{}.wasm", adapter.name));
            assert!(component.is_file(), "{}", component.display());
        }
    }
}
