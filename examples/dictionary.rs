//! Writes the pages of `docs/` that are made from schemas, headers and contracts; `make dictionary` runs it.

use std::path::Path;

fn main() -> anyhow::Result<()> {
    for (page, text) in sago::query::dictionary()? {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(page), text)?;
        eprintln!("wrote {page}");
    }
    Ok(())
}
