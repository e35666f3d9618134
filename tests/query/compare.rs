//! Two sides of a comparison, by hand: one wording a prompt, so that s is |delta|.

use sago::query::{Comparison, Side};

use crate::run::{Run, Value, scratch, values};

/// A run of one model with a delta a prompt on bleu; the wording of the last prompt reads as `last_text`.
fn run(model: &str, deltas: &[f64], last_text: &str) -> Run {
    let session = scratch();
    let rows: Vec<String> = deltas.iter().enumerate().map(|(i, d)| format!("('p{i}', {d:?})")).collect();
    let rows = format!("(values {}) as t (prompt_id, d)", rows.join(", "));
    let last = deltas.len() - 1;
    let run = Run::new();
    run.table(&session, "models", &format!("select '{model}' as model"));
    run.table(
        &session,
        "variants",
        &format!(
            "select 'd' as dataset, prompt_id, v as variant_id, 'surface_noise' as family, 'spacing' as subtype,
                 'global' as place, v as level, v = 'baseline' as is_baseline, 'baseline' as baseline_id, true as is_valid,
                 case when v <> 'baseline' and prompt_id = 'p{last}' then '{last_text}' else 'text' end as text
             from {rows} cross join (values ('baseline'), ('spacing/global/5')) as w (v)"
        ),
    );
    run.table(
        &session,
        "deltas",
        &format!(
            "select '{model}' as model, 'd' as dataset, prompt_id, v as variant_id, 0 as repeat, 'bleu' as axis,
                 cast(null as double) as value, case when v = 'baseline' then 0.0 else d end as delta
             from {rows} cross join (values ('baseline'), ('spacing/global/5')) as w (v)"
        ),
    );
    run
}

fn compare(a: &Run, b: &Run) -> sago::Result<Comparison> {
    let side = |run: &Run, model: &str| Side { run: run.path().to_path_buf(), model: model.to_string() };
    Comparison::new(&side(a, "old"), &side(b, "new"))
}

#[test]
fn what_changed_is_b_less_a_on_equal_wordings() {
    let a = run("old", &[-0.1, -0.2, -0.3, -0.1, -0.2, -0.3, -0.9], "one text");
    let b = run("new", &[-0.2, -0.4, -0.6, -0.2, -0.4, -0.6, -0.1], "another text");
    let comparison = compare(&a, &b).unwrap();
    let shared = comparison.shared().unwrap();
    assert_eq!((shared.same, shared.other_text, shared.one_side), (6, 1, 0));
    let rows = values(&comparison.rows().unwrap());
    // dataset, axis, prompts, pairs, sgs_a, sgs_b, difference, low, high, ...
    let all = rows.iter().find(|row| row[0] == Value::Text("all".to_string())).unwrap();
    let number = |i: usize| if let Value::Number(x) = all[i] { x } else { panic!("{all:?}") };
    assert_eq!((number(2), number(3)), (6.0, 6.0));
    for (i, expected) in [(4, 0.2), (5, 0.4), (6, 0.2)] {
        assert!((number(i) - expected).abs() < 1e-12, "{all:?}");
    }
    assert!(number(7) < 0.2 && number(8) > 0.2 && number(7) > 0.1 && number(8) < 0.3, "{all:?}");
    for (gate, comes_true) in [
        ("sgs.bleu > 0.39", true),
        ("sgs.bleu > 0.41", false),
        ("difference.bleu > 0.19 and low.bleu > 0", true),
        ("sgs.bleu > 3 * baseline.bleu", false),
        ("p.bleu < 0.05", true),
    ] {
        assert_eq!(comparison.gate(gate).unwrap(), comes_true, "{gate}");
    }
}

#[test]
fn a_gate_that_can_not_be_decided_is_an_error() {
    let comparison = compare(&run("old", &[-0.1, -0.2], "t"), &run("new", &[-0.2, -0.2], "t")).unwrap();
    for (gate, part) in [
        ("sgs.cos > 0.1 and sgs.bleu > 0", "no value of sgs.cos on"),
        ("sgs.blue > 0.1", "can't be read"),
        ("sgs.bleu", "neither true nor false"),
        ("low.bleu > p.ent", "no value of low.bleu, p.ent on"),
        ("sgs.bleu > 5) as comes_true from gate_sgs as sgs --", "can't be read"),
        ("sgs.bleu > 0; select 1", "can't be read"),
        ("", "can't be read"),
    ] {
        let text = comparison.gate(gate).unwrap_err().to_string();
        assert!(!text.replace(gate, "").contains("gate_"), "{text}");
        assert!(text.contains(gate) && text.contains(part) && text.contains("--fail-if"), "{text}");
    }
}

#[test]
fn sides_without_a_common_wording_are_refused() {
    let text = compare(&run("old", &[-0.1], "one"), &run("new", &[-0.2], "other")).unwrap_err().to_string();
    assert!(text.contains("share no wording"), "{text}");
    let text = compare(&run("older", &[-0.1], "one"), &run("new", &[-0.2], "one")).unwrap_err().to_string();
    assert!(text.contains("has no model \"old\"") && text.contains("older"), "{text}");
}
