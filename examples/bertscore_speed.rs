//! Measures how fast BERTScore is on this machine: texts and tokens a second, by length of the texts.
//!
//! usage: bertscore_speed ENCODER_DIR [LAYER]

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use sago::measure::bertscore::BertScorer;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (dir, layer) = match args.as_slice() {
        [dir] => (Path::new(dir), None),
        [dir, layer] => (Path::new(dir), Some(layer.parse()?)),
        _ => bail!("usage: bertscore_speed ENCODER_DIR [LAYER]"),
    };
    let start = Instant::now();
    let scorer = BertScorer::load(dir, layer)?;
    println!("{}\nloaded in {:.2} s", scorer.signature(), start.elapsed().as_secs_f64());
    println!("words a text  texts  seconds  texts/s  tokens/s");
    const WORDS: [&str; 8] = ["river", "stone", "music", "seven", "garden", "the", "blue", "quickly"];
    for words in [8, 25, 80, 250] {
        let count = 8_000 / words;
        let text = |n: usize| {
            (0..words).map(|i| WORDS[(n >> (i % 10)) % 2 + 2 * ((i * i + n) % 4)]).collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = (0..count).map(|n| format!("{n} {}", text(n))).collect();
        let pairs: Vec<_> = texts.iter().map(|t| (texts[0].as_str(), t.as_str())).collect();
        let start = Instant::now();
        let scores = scorer.score(&pairs)?;
        let seconds = start.elapsed().as_secs_f64();
        anyhow::ensure!(scores.len() == count);
        // Every word here is one token; the number, begin and end make about three more.
        let tokens = count * (words + 3);
        println!(
            "{words:12}  {count:5}  {seconds:7.2}  {:7.0}  {:8.0}",
            count as f64 / seconds,
            tokens as f64 / seconds
        );
    }
    Ok(())
}
