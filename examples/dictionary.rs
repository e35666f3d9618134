//! Writes the pages of `docs/` that are made from schemas, headers, contracts and wordings; `make dictionary` runs it.

use std::path::Path;

fn main() -> anyhow::Result<()> {
    for (page, text) in sago::query::dictionary()?.into_iter().chain([sago::variants::page()?]) {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(page), text)?;
        eprintln!("wrote {page}");
    }
    Ok(())
}
