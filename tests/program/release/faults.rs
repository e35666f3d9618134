//! Every fault of a release is named.

use std::fs;

use super::*;

#[test]
fn every_fault_of_a_release_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let whole = release(&[&run()], dir.path(), "whole", &[]);
    let mut number = 0;
    let mut damaged = |damage: &dyn Fn(&Path)| {
        number += 1;
        let copied = dir.path().join(format!("copy{number}"));
        copy(&whole, &copied);
        damage(&copied);
        failed(&copied)
    };
    let flipped = damaged(&|release| {
        flip(&release.join("data/deltas.parquet"));
    });
    has(&flipped, "data/deltas.parquet has other bytes than SHA256SUMS says");
    let missing = damaged(&|release| fs::remove_file(release.join("data/instability.parquet")).unwrap());
    has(&missing, "data/instability.parquet is missing");
    let missing = damaged(&|release| {
        fs::remove_file(release.join("data/instability.parquet")).unwrap();
        sum_again(release);
    });
    has(&missing, "data/instability.parquet is missing");
    let extra = damaged(&|release| fs::write(release.join("notes.txt"), "x").unwrap());
    has(&extra, "notes.txt is not of the release");
    let unsummed = damaged(&|release| fs::remove_file(release.join("SHA256SUMS")).unwrap());
    has(&unsummed, "SHA256SUMS is missing");

    let row = "select * from {} where not (axis = 'ent' and variant_id = 'spacing/global/20' and dataset = 'triviaqa')";
    let dropped = damaged(&|release| rewrite(release, "data/deltas.parquet", row));
    has(&dropped, "deltas has ");
    has(&dropped, "instability: s is ");
    has(&dropped, "ent.parquet");
    let score =
        "select * replace (case when axis = 'ent' and normalization = 'fixed' then sgs + 1e-6 else sgs end as sgs)
        from {} order by model, axis, normalization";
    let changed = damaged(&|release| rewrite(release, "data/sgs_model.parquet", score));
    has(&changed, "sgs_model: sgs is ");
    has(&changed, "axis=ent, normalization=fixed");
    let baseline = "select * replace (case when variant_id = 'baseline' and axis = 'ent' then 1e-9 else delta end as delta) from {}";
    let moved = damaged(&|release| rewrite(release, "data/deltas.parquet", baseline));
    has(&moved, "every baseline's delta of repeat 0 is exactly 0");
    let twice = damaged(&|release| {
        rewrite(release, "data/flips.parquet", "select * from {} union all select * from {}");
    });
    has(&twice, "is unique does not hold");
    let typed = damaged(&|release| {
        rewrite(release, "data/models.parquet", "select * replace (cast(layers as varchar) as layers) from {}");
    });
    has(&typed, "models: column layers is text, not int");
    let negative = damaged(&|release| {
        rewrite(release, "data/intervals.parquet", "select * replace (null as model) from {}");
    });
    has(&negative, "intervals: model is not null does not hold");
    let negative = damaged(&|release| {
        rewrite(
            release,
            "data/variants.parquet",
            "select * replace (case when strength = 5 then null else subtype end as subtype) from {}",
        );
    });
    has(&negative, "variants: subtype is not null does not hold");
    let strange = "select * replace (case when variant_id = 'spacing/global/20' then 'no' else prompt_id end as prompt_id) from {}";
    let unrelated = damaged(&|release| rewrite(release, "data/generations.parquet", strange));
    has(&unrelated, "generations has a row whose wording is not in the table variants");
    let baseline = "select * from {} where variant_id <> 'baseline'";
    let unasked = damaged(&|release| rewrite(release, "data/generations.parquet", baseline));
    has(&unasked, "not the baseline that they are measured against");
    let told = damaged(&|release| {
        rewrite(release, "data/prompts.parquet", "select * replace (coalesce(text, 'Say hello.') as text) from {}");
    });
    has(&told, "texts are left out where release.json says so");
    let untold = damaged(&|release| {
        rewrite(release, "data/prompts.parquet", "select * replace (cast(null as varchar) as text) from {}");
    });
    has(&untold, "texts are left out where release.json says so");
    // Neither is of V, so no matrix and no score has it.
    let scale = |column: &str| {
        format!(
            "select * replace (case when variant_id = 'baseline' and axis = 'ent' then 0.5 else {column} end as {column}) from {{}}"
        )
    };
    let wide = damaged(&|release| rewrite(release, "data/normalized_wide.parquet", &scale("fixed")));
    has(&wide, "normalized_wide: fixed is 0.5, not 0.0");
    let long = damaged(&|release| rewrite(release, "data/normalized.parquet", &scale("delta")));
    has(&long, "normalized: delta is 0.5, not 0.0");
    let model = rows(&run(), "select model from models").lines().nth(1).unwrap().to_string();
    let wide = format!("deltas/raw/{model}/bleu.parquet");
    let cell = damaged(&|release| {
        rewrite(release, &wide, "select * replace (0.25 as \"spacing/global/5\") from {} order by dataset, prompt_id");
    });
    has(&cell, "bleu.parquet has 0.25, not ");
    has(&cell, "another SHA-256 than croissant.json says");
    let index = damaged(&|release| {
        fs::remove_file(release.join("release.json")).unwrap();
        sum_again(release);
    });
    has(&index, "release.json is missing");
}

#[test]
fn a_release_is_held_to_the_contracts_it_was_made_with() {
    let dir = tempfile::tempdir().unwrap();
    // As a program would write it that does not know a column of today's yet.
    let older = release(&[&run()], dir.path(), "older", &[]);
    let mut index = json(&older, "release.json");
    for table in index["tables"].as_array_mut().unwrap() {
        let gone = match table["name"].as_str().unwrap() {
            "generations" => "special_text",
            "sgs_model" => "n_prompts",
            _ => continue,
        };
        table["columns"].as_array_mut().unwrap().retain(|column| column["name"] != gone);
        assert!(table["contract"]["columns"].as_object_mut().unwrap().remove(gone).is_some());
    }
    fs::write(older.join("release.json"), index.to_string()).unwrap();
    rewrite(&older, "data/generations.parquet", "select * exclude (special_text) from {}");
    rewrite(&older, "data/sgs_model.parquet", "select * exclude (n_prompts) from {}");
    let found = failed(&older);
    // The bytes are others, and nothing else is wrong.
    assert!(found.len() == 1 && found[0].contains("another SHA-256 than croissant.json says"), "{found:?}");
}

#[test]
fn damage_to_the_checksums_is_a_check_that_fails_and_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let release = release(&[&run()], dir.path(), "whole", &[]);
    let sums = release.join("SHA256SUMS");
    let whole = fs::read(&sums).unwrap();
    let at = String::from_utf8(whole.clone()).unwrap().find("  data/deltas.parquet").unwrap();
    let with = |place: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[place] = byte;
        fs::write(&sums, bytes).unwrap();
        let found = failed(&release);
        fs::write(&sums, &whole).unwrap();
        found
    };
    let digit = if whole[at - 1] == b'0' { b'1' } else { b'0' };
    has(&with(at - 1, digit), "SHA256SUMS has another sum of data/deltas.parquet, which is as it was written");
    has(&with(at - 1, b'x'), "SHA256SUMS is damaged");
    has(&with(at, b'-'), "SHA256SUMS is damaged");
    has(&with(at + 3, 0xFF), "SHA256SUMS");
    has(&with(at + 3, b'x'), "data/deltas.parquet is not of the release");
    assert_eq!(failed(&release), [""; 0]);
    // Something of every kind.
    for name in ["release.json", "croissant.json", "README.md", "CITATION.cff", "LICENSES/Apache-2.0.txt"] {
        let before = fs::read(release.join(name)).unwrap();
        flip(&release.join(name));
        has(&failed(&release), &format!("{name} has other bytes than SHA256SUMS says"));
        fs::write(release.join(name), before).unwrap();
    }
    // It is a release for all that lies beside it.
    fs::write(release.join("plan.json"), "{}").unwrap();
    assert!(
        failed(&release)
            == ["FAILED  files have the bytes of SHA256SUMS, and no other is there: plan.json is not of the release"]
    );
}
