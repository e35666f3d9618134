//! The owners' own files load: every row, every answer, exactly.
//!
//! The files are not part of the repository: `SAGO_DATA_DIR` says where they lie, and the tests run when asked for.
//! Expected figures come from Python's readers: `scripts/official_digests.py`.

use std::path::PathBuf;

use sago::datasets::{self, Origin, Spec};
use sha2::{Digest, Sha256};

/// The folder with the files.
fn folder() -> PathBuf {
    let folder = std::env::var_os("SAGO_DATA_DIR").expect("SAGO_DATA_DIR is the folder of the official files");
    PathBuf::from(folder)
}

/// Data set, file, layout, rows, answers, digest of the rows' source hashes.
const FILES: &[(&str, &str, &str, usize, usize, &str)] = &[
    (
        "truthfulqa",
        "truthfulqa/TruthfulQA.csv",
        "official",
        817,
        2_587,
        "61e218c6797bef707fd3f289d243589c6bfd232ec218859f32cd91a7219f7589",
    ),
    (
        "truthfulqa",
        "truthfulqa/TruthfulQA_2025-01.csv",
        "official",
        790,
        2_775,
        "c1bc874c25127764082d8098760c952eb47584211620a9c29f0b8c7879179db5",
    ),
    (
        "natural_questions",
        "natural_questions/NQ-open.dev.jsonl",
        "open",
        3_610,
        6_490,
        "70f83166c059b8318db51382bbfd3f6894f524f62866d50757bd5616a90ff229",
    ),
    (
        "simpleqa",
        "simpleqa/simple_qa_test_set.csv",
        "official",
        4_326,
        4_326,
        "2a9a3d9d06b525e73ef598fd4684b14ccd6d9c6301da98ab9cfb720e21855f03",
    ),
    (
        "simpleqa_verified",
        "simpleqa_verified/simpleqa_verified_first48.csv",
        "hub",
        48,
        48,
        "0453ac1faed5abcd7efe8446e8f5fda033e81849ce4b8a70e657712fe54ba816",
    ),
    (
        "alpaca",
        "alpaca/alpaca_data_1k.json",
        "instructions",
        1_000,
        1_000,
        "fa66df7a5d5ff33ef1e0a8f4bf21c5f00d368e8b30cded85a939a96e2f55d2f9",
    ),
    (
        "alpaca",
        "alpaca/alpaca_tiny.json",
        "instructions",
        100,
        100,
        "e70f48598f1e21b2582570101e7bc1797634c69ea0ac8f2045b663ecaba0293c",
    ),
    (
        "triviaqa",
        "triviaqa/topics.dpr.trivia.dev.txt",
        "dpr",
        8_837,
        121_721,
        "de5f8505245a35c4167e92a2c37696e5ff649a99caa969811a07bf309d472722",
    ),
    (
        "triviaqa",
        "triviaqa/triviaqa_sample.json",
        "official",
        1,
        5,
        "46dc5b3abcc70a923272cab910ab82b1f9969eb774e41cc1c6d7eea72c4dcd30",
    ),
    (
        "hotpotqa",
        "hotpotqa/hotpot_dev_v1_simplified.json",
        "questions",
        7_405,
        7_405,
        "44ce26412755741fc8c3d5a5e18bc0e6d030f1c19a5d5f07cb35e20e24e655e4",
    ),
];

#[test]
#[ignore = "needs the official files: make test-data DATA=DIR"]
fn every_official_file_loads_as_pythons_readers_read_it() {
    let folder = folder();
    for (name, file, layout, rows, answers, digest) in FILES {
        let spec = Spec { name: (*name).into(), path: Some(folder.join(file)), ..Spec::default() };
        let loaded = datasets::load(&spec).unwrap();
        assert_eq!(loaded.prompts.len(), *rows, "{file}");
        assert_eq!(loaded.prompts.iter().map(|p| p.answers.len()).sum::<usize>(), *answers, "{file}");
        let hashes: String = loaded.prompts.iter().map(|p| p.source_hash.as_str()).collect();
        let found: String = Sha256::digest(hashes.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(found, *digest, "{file}");
        assert!(matches!(&loaded.origin, Origin::File { layout: l, .. } if l == layout), "{file}: {:?}", loaded.origin);
        let sample = datasets::sample(loaded.prompts, (*rows).min(16), 7).unwrap();
        assert_eq!(sample.len(), (*rows).min(16));
    }
}

#[test]
#[ignore = "needs the official files: make test-data DATA=DIR"]
fn ids_and_categories_are_the_owners() {
    let folder = folder();
    let first = |name: &str, file: &str| {
        let spec = Spec { name: name.into(), path: Some(folder.join(file)), ..Spec::default() };
        let prompt = datasets::load(&spec).unwrap().prompts.into_iter().next().unwrap();
        (prompt.prompt_id, prompt.category)
    };
    let some = |text: &str| Some(text.to_string());
    assert_eq!(first("truthfulqa", "truthfulqa/TruthfulQA.csv"), ("0".into(), some("Misconceptions")));
    assert_eq!(first("simpleqa", "simpleqa/simple_qa_test_set.csv"), ("0".into(), some("Science and technology")));
    assert_eq!(
        first("simpleqa_verified", "simpleqa_verified/simpleqa_verified_first48.csv"),
        ("5".into(), some("Politics"))
    );
    assert_eq!(first("triviaqa", "triviaqa/triviaqa_sample.json"), ("tc_33".into(), None));
    assert_eq!(first("hotpotqa", "hotpotqa/hotpot_dev_v1_simplified.json"), ("0".into(), some("comparison")));
}

#[test]
#[ignore = "needs the official files: make test-data DATA=DIR"]
fn a_file_of_another_data_set_is_refused_with_its_columns() {
    let folder = folder();
    let spec = Spec { name: "alpaca".into(), path: Some(folder.join("truthfulqa/TruthfulQA.csv")), ..Spec::default() };
    let message = datasets::load(&spec).unwrap_err().to_string();
    assert!(
        message.contains("TruthfulQA.csv is in no layout of alpaca") && message.contains("Best Answer"),
        "{message}"
    );
    assert!(message.contains("instruction, input, output"), "{message}");
}

/// SGS of the deltas that the method's authors published for one closed model, as their scripts give them.
#[test]
#[ignore = "needs the official files: make test-data DATA=DIR"]
fn published_deltas_give_the_published_scores() {
    let folder = folder();
    let source = sago::import::Source {
        path: folder.join("reference/gpt54_alpaca"),
        model: Some("gpt-5.4".into()),
        dataset: Some("alpaca".into()),
        variant: None,
    };
    let run = tempfile::tempdir().unwrap();
    let import = sago::import::Import::new(sago::import::Layout::Published, vec![source]);
    import.carry_out(run.path()).unwrap();
    sago::query::analyze(run.path()).unwrap();
    assert_eq!(sago::query::check_contracts(run.path()).unwrap(), []);
    let session = sago::query::Session::open_run(run.path()).unwrap();
    let score = |sql: &str| {
        use arrow::array::AsArray;
        let rows = session.query(sql).unwrap();
        rows[0].column(0).as_primitive::<arrow::datatypes::Float64Type>().value(0)
    };
    for (axis, expected) in [
        ("bleu", 0.466_860),
        ("bert", 0.069_914),
        ("prob_generated", 0.000_146),
        ("ent_generated", 0.143_165),
        ("mirror", 0.157_543),
    ] {
        let found = score(&format!("select sgs from sgs_model where normalization = 'fixed' and axis = '{axis}'"));
        assert!((found - expected).abs() < 5e-7, "{axis}: {found}");
    }
    let without_length = "select avg(s) from (
            select n.prompt_id, sqrt(avg(n.delta * n.delta)) as s
            from normalized as n
            inner join measured_variants as v using (dataset, prompt_id, variant_id)
            where n.axis = 'mirror' and n.normalization = 'fixed' and v.subtype <> 'length'
            group by n.prompt_id
        )";
    let found = score(without_length);
    assert!((found - 0.019_288).abs() < 5e-7, "mirror without length: {found}");
}
