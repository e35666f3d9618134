//! Fit: how many prompts a page of a given size can hold.
//!
//! In: the runs' texts and a size. Out: the page with as many prompts a data set as fit, those first whose behaviour
//! moved most; the page itself says what was left out.

use serde_json::{Value, json};

use super::pack::pack;
use super::page::{self, Packed, Run};
use crate::query::size_in_bytes;
use crate::{Error, Result};

/// Most bytes of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// The bytes.
    pub bytes: u64,
}

impl std::str::FromStr for PageSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bytes = size_in_bytes(text).ok().filter(|bytes| (1.0..1e12).contains(bytes));
        let wrong = || Error::input("this is no size of a page").found(text).expected("a size as 8MiB or 500MB");
        Ok(PageSize { bytes: bytes.ok_or_else(wrong)? as u64 })
    }
}

/// A page, and how many prompts it holds of how many.
#[derive(Debug)]
pub struct Page {
    /// The whole file.
    pub html: String,
    /// Prompts whose texts are in it, and all.
    pub prompts: (usize, usize),
}

/// The page with the most prompts that is no larger than `max_bytes`.
///
/// # Errors
/// A size that not even the figures fit in; a value that can't be packed.
pub fn page(runs: &[Run], max_bytes: u64) -> Result<Page> {
    let most = runs.iter().filter_map(|run| run.texts.as_ref()).map(|texts| texts.prompts()).max().unwrap_or(0);
    let figures: Vec<&Value> = runs.iter().map(|run| &run.figures).collect();
    let figures = pack(&json!({ "runs": figures }))?;
    let with_prompts = |most: usize| with_prompts(runs, &figures, most);
    let whole = with_prompts(most)?;
    if whole.html.len() as u64 <= max_bytes {
        return Ok(whole);
    }
    let mut fits = with_prompts(0)?;
    if fits.html.len() as u64 > max_bytes {
        return Err(Error::input("charts, tables and code alone are larger than the page may be")
            .key("--max-size")
            .found(format!("{max_bytes} bytes"))
            .expected(format!("at least {} bytes", fits.html.len()))
            .into());
    }
    // The size grows with the number of prompts: halve until it is known to one prompt.
    let (mut low, mut too_many) = (1, most);
    while low < too_many {
        let middle = low + (too_many - low) / 2;
        let page = with_prompts(middle)?;
        if page.html.len() as u64 <= max_bytes {
            fits = page;
            low = middle + 1;
        } else {
            too_many = middle;
        }
    }
    Ok(fits)
}

fn with_prompts(runs: &[Run], figures: &str, most: usize) -> Result<Page> {
    let mut packets = Vec::new();
    let mut index = Vec::new();
    let (mut held, mut all) = (0, 0);
    for (run, texts) in runs.iter().enumerate().filter_map(|(at, run)| Some((at, run.texts.as_ref()?))) {
        let left_out = texts.left_out(most);
        all += texts.all_prompts();
        held += texts.all_prompts() - left_out;
        let mut entries = Vec::new();
        if most > 0 {
            for packet in texts.packets(most)? {
                let id = format!("texts-{}", packets.len());
                entries.push(json!({ "id": id, "dataset": packet.dataset, "model": packet.model }));
                packets.push(Packed { id, text: pack(&packet.value)? });
            }
        }
        index.push(json!({
            "run": run, "packets": entries, "prompts": texts.all_prompts(), "left_out": left_out,
            "ordered_by": texts.ordered_by,
        }));
    }
    let html = page::html(runs, figures, &pack(&json!(index))?, &packets);
    Ok(Page { html, prompts: (held, all) })
}
