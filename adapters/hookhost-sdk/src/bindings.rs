//! What wit-bindgen makes of the contract. Authors use the names that the crate root re-exports.
#![allow(
    missing_docs,
    unsafe_code,
    clippy::indexing_slicing,
    clippy::undocumented_unsafe_blocks,
    clippy::allow_attributes_without_reason,
    reason = "generated code; the WIT files hold the documentation"
)]

#[cfg(target_arch = "wasm32")]
wit_bindgen::generate!({
    path: "../../wit/v0.1",
    world: "adapter",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "hookhost_sdk::bindings",
    generate_unused_types: true,
    additional_derives: [PartialEq, Eq],
});

// The same, for a library: its border is text (see `native`).
#[cfg(not(target_arch = "wasm32"))]
wit_bindgen::generate!({
    path: "../../wit/v0.1",
    world: "adapter",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "hookhost_sdk::bindings",
    generate_unused_types: true,
    additional_derives: [PartialEq, Eq, serde::Serialize, serde::Deserialize],
});
