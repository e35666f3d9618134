//! Time of the parts that see most data; run with `--ignored --nocapture` to see the figures.

use std::time::Instant;

use crate::run::{Run, scratch};

/// Twelve prompts of the demo model with all hidden states: 82 wordings, 31 layers, 576 numbers a vector.
#[test]
#[ignore = "writes 70 MB; says how long it took"]
fn cosines_of_twelve_prompts_take_seconds() {
    let session = scratch();
    let run = Run::new();
    run.table(&session, "models", "select 'm' as model, 30 as layers");
    run.table(
        &session,
        "variants",
        "select 'd' as dataset, cast(p.value as varchar) as prompt_id, 'v' || v.value as variant_id,
             v.value = 0 as is_baseline, 'v0' as baseline_id, true as is_valid, '' as text
         from range(0, 12) as p cross join range(0, 82) as v",
    );
    run.table(
        &session,
        "activations",
        "select 'm' as model, 'd' as dataset, cast(p.value as varchar) as prompt_id, 'v' || v.value as variant_id,
             l.value as layer, 'last_token' as pooling, 576 as dim,
             array_resize(make_array(cast(random() as float)), 576, cast(0.5 + v.value as float)) as vector
         from range(0, 12) as p cross join range(0, 82) as v cross join range(0, 31) as l",
    );
    let start = Instant::now();
    let written = run.analyze();
    eprintln!("{written:#?}\nall: {:.2} s", start.elapsed().as_secs_f64());
    let cosines = written.iter().find(|t| t.name == "layer_cosines").unwrap();
    assert_eq!(cosines.rows, 12 * 82 * 31);
    assert!(cosines.seconds < 10.0);
}
