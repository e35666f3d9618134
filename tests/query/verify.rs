//! `sago verify`: each kind of fault is found and named.

use std::fs::{read, write};

use sago::query::{Analysis, verify};
use sago::store::manifest::Manifest;
use sago::store::run_dir::RunDir;

use crate::partitions::raw_run;
use crate::run::{Run, scratch};

/// The lines that failed.
fn failed(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    let mut all = 0;
    let holds = verify(&Analysis::default(), run.path(), |check| {
        all += 1;
        if check.fault.is_some() {
            lines.push(check.to_string());
        }
    });
    assert_eq!(holds.unwrap(), lines.is_empty());
    assert!(all >= 2);
    lines
}

fn with_manifest(run: &Run) {
    let opened = RunDir::open(run.path(), &serde_json::json!({})).unwrap();
    Manifest::of(&opened, "2026-01-01T00:00:00Z".to_string()).unwrap().write(&opened).unwrap();
}

#[test]
fn a_whole_run_holds() {
    let run = raw_run();
    with_manifest(&run);
    assert_eq!(failed(&run), [""; 0]);
    run.analyze();
    assert_eq!(failed(&run), [""; 0]);
    // One that did not end has no manifest, and nothing to hold its bytes against.
    std::fs::remove_file(run.path().join("manifest.json")).unwrap();
    let found = failed(&run);
    assert!(found.len() == 1 && found[0].contains("no manifest.json"), "{found:?}");
}

#[test]
fn a_flipped_bit_of_a_derived_table_is_found_where_its_values_are_the_same() {
    let run = raw_run();
    with_manifest(&run);
    run.analyze();
    let analysis = run.path().join("analysis");
    let file = analysis.join("sgs_model.parquet");
    let whole = read(&file).unwrap();
    // The greatest model name in the statistics of the footer: filters would skip all rows.
    let footer =
        whole.len() - 8 - u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().unwrap()) as usize;
    let at = footer + whole[footer..].windows(2).position(|pair| pair == [1, b'a']).unwrap() + 1;
    let mut bytes = whole.clone();
    bytes[at] ^= 4;
    write(&file, bytes).unwrap();
    let found = failed(&run);
    assert!(found[0].contains("analysis/sgs_model.parquet has other bytes"), "{found:?}");
    std::fs::remove_file(&file).unwrap();
    let found = failed(&run);
    assert!(found[0].contains("analysis/sgs_model.parquet is missing"), "{found:?}");
    write(&file, &whole).unwrap();
    // An analysis that was killed leaves no sums.
    std::fs::remove_file(analysis.join("SHA256SUMS")).unwrap();
    let found = failed(&run);
    assert!(found.len() == 1 && found[0].contains("no analysis/SHA256SUMS"), "{found:?}");
    run.analyze();
    assert_eq!(failed(&run), [""; 0]);
}

#[test]
fn one_flipped_bit_names_its_file() {
    let run = raw_run();
    with_manifest(&run);
    let name = "forced/model=a/dataset=e/part-0.parquet";
    let part = run.path().join(name);
    let whole = read(&part).unwrap();
    for at in [40, whole.len() / 2, whole.len() - 6] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        write(&part, bytes).unwrap();
        let found = failed(&run);
        assert!(found[0].contains(name) && found[0].contains("other bytes"), "{at}: {found:?}");
    }
    write(&part, &whole[..whole.len() - 1]).unwrap();
    assert!(failed(&run)[0].contains(name));
    write(&part, &whole).unwrap();
    write(run.path().join("plan.json"), "{ }").unwrap();
    assert!(failed(&run)[0].contains("plan.json"));
}

#[test]
fn a_stored_table_that_the_raw_tables_do_not_give_is_placed() {
    let run = raw_run();
    with_manifest(&run);
    run.analyze();
    let sums = run.path().join("analysis/SHA256SUMS");
    let listed = std::fs::read_to_string(&sums).unwrap();
    let file = run.path().join("analysis/sgs_model.parquet");
    let whole = read(&file).unwrap();
    let select = |change: &str| {
        let sql = format!("select * replace ({change}) from '{}' order by model, axis, normalization", file.display());
        scratch().query(&sql).unwrap()
    };
    for (change, is_found) in [("sgs * (1 + 1e-10) as sgs", true), ("sgs * (1 + 1e-15) as sgs", false)] {
        let rows = select(change);
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, rows[0].schema(), None).unwrap();
        rows.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.close().unwrap();
        // Whoever changes a table can change its checksum too.
        let sum = |bytes: &[u8]| sago::hash::of_bytes(bytes);
        write(&sums, listed.replace(&sum(&whole), &sum(&bytes))).unwrap();
        write(&file, bytes).unwrap();
        let found = failed(&run);
        assert_eq!(found.len(), usize::from(is_found), "{found:?}");
        assert!(!is_found || found[0].contains("sgs_model.parquet: sgs is "), "{found:?}");
        assert!(!is_found || found[0].contains("at model=a, axis="), "{found:?}");
        write(&file, &whole).unwrap();
    }
}

#[test]
fn keys_relations_baselines_and_counts() {
    let row = |variant: &str, error: &str| {
        format!("select 'a' as model, 'd' as dataset, '0' as prompt_id, '{variant}' as variant_id, {error} as error")
    };
    let with = |rows: &[String]| {
        let run = raw_run();
        with_manifest(&run);
        std::fs::remove_dir_all(run.path().join("generations")).unwrap();
        run.table(&scratch(), "generations", &rows.join(" union all "));
        failed(&run)
    };
    let fine = [row("v0", "'it failed'"), row("v1", "null")];
    let has = |found: &[String], parts: &[&str]| {
        parts.iter().for_each(|part| assert!(found.iter().any(|line| line.contains(part)), "{part}: {found:?}"));
    };
    has(&with(&fine), &["generations has 2 rows, not 240"]);
    assert!(!with(&fine).iter().any(|line| line.contains("baseline was asked")));
    let twice = [fine[0].clone(), fine[1].clone(), fine[1].clone()];
    has(
        &with(&twice),
        &["keys of raw tables are unique: the table generations", "variant_id=v1", "model=a/dataset=d/part-0.parquet"],
    );
    has(&with(&[fine[0].clone(), row("v99", "null")]), &["rows belong", "the table generations", "variant_id=v99"]);
    has(&with(&fine[1..]), &["baseline was asked", "model=a, dataset=d, prompt_id=0, baseline_id=v0"]);
}

#[test]
fn a_column_of_another_type_is_named() {
    let run = raw_run();
    with_manifest(&run);
    let part = run.path().join("similarities/model=a/dataset=d/part-0.parquet");
    let sql = format!("select * replace (cast(bleu as varchar) as bleu) from '{}'", part.display());
    let rows = scratch().query(&sql).unwrap();
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, rows[0].schema(), None).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    write(&part, bytes).unwrap();
    let mut found = Vec::new();
    let _ = verify(&Analysis::default(), run.path(), |check| found.extend(check.fault.clone()));
    assert!(found.iter().any(|f| f.contains("model=a/dataset=d/part-0.parquet: column ")), "{found:?}");
}
