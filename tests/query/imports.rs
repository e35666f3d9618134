//! Imports: other people's files become runs whose figures are those computed by hand; what can't be used is refused
//! with its place.

use std::fs::write;
use std::path::{Path, PathBuf};

use sago::import::{Import, Layout, Responses, Source};
use sago::query::{check_contracts, sgs_table};
use sago::store::check::check_parts;
use sago::store::manifest::Manifest;

use crate::run::{Run, Value, close, numbers, scratch, values};

fn source(path: impl Into<PathBuf>) -> Source {
    Source { path: path.into(), ..Source::default() }
}

fn import(layout: Layout, files: &[&Path]) -> Import {
    Import::new(layout, files.iter().map(|file| source(*file)).collect())
}

/// A file in a new folder, with the folder, which goes when it is dropped.
fn file(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, content).unwrap();
    (folder, path)
}

/// What is said against an import, which must have written nothing.
fn refused(import: &Import) -> String {
    let out = tempfile::tempdir().unwrap();
    let run = out.path().join("run");
    let message = import.carry_out(&run).unwrap_err().to_string();
    assert!(!run.exists(), "{message}");
    message
}

fn texts(run: &Run, sql: &str) -> Vec<String> {
    let rows = values(&run.session().query(sql).unwrap());
    let text = |value: &Value| match value {
        Value::Null => "-".to_string(),
        Value::Number(x) => x.to_string(),
        Value::Text(text) => text.clone(),
    };
    rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect()
}

/// Two prompts, two strengths; entropies still have the baseline's 0.5 and -1 in them.
const SPACING: &str =
    "prompt_id,place,strength,delta_bleu,delta_bertscore_response,delta_log_prob,entropy_shift,delta_mirroring_rate
0,global,5,-30.0,-0.1,0.25,1.5,1.0
0,global,20.0,-40.0,-0.2,-0.5,-0.5,0.0
0,global,0,0.0,0.0,-0.0,0.5,0.0
1,global,0,0.0,0.0,-0.0,-1.0,0.0
1,global,5,-50.0,,0.5,,1.0
1,global,20.0,0.0,-0.3,0.0,2.0,
";

#[test]
fn files_a_style_give_the_scores_computed_by_hand() {
    let (folder, _) = file("spacing.csv", SPACING);
    let mut import = import(Layout::Published, &[folder.path()]);
    (import.model, import.dataset) = (Some("closed".into()), Some("d".into()));
    let run = Run::imported(&import).unwrap();
    check_parts(run.path()).unwrap();
    run.analyze();
    assert_eq!(check_contracts(run.path()).unwrap(), []);
    let session = run.session();
    let sgs = |axis: &str| {
        let sql = format!("select sgs from sgs_model where axis = '{axis}' and normalization = 'fixed'");
        numbers(&session, &sql)[0]
    };
    // bleu: sqrt((0.3^2 + 0.4^2) / 2) and sqrt((0.5^2 + 0) / 2) are equal
    assert!(close(sgs("bleu"), 0.125_f64.sqrt()));
    // bert: sqrt((0.1^2 + 0.2^2) / 2) and 0.3 alone: an empty cell is no row
    assert!(close(sgs("bert"), (0.025_f64.sqrt() + 0.3) / 2.0));
    // prob_generated, R 250: sqrt((0.25^2 + 0.5^2) / 2) and sqrt(0.5^2 / 2)
    assert!(close(sgs("prob_generated"), (0.156_25_f64.sqrt() + 0.125_f64.sqrt()) / 2.0 / 250.0));
    // ent_generated, R 10: 1.5 - 0.5 and -0.5 - 0.5, so 1; 2 - -1 alone, so 3
    assert!(close(sgs("ent_generated"), 0.2));
    // mirror: sqrt(1 / 2) and 1
    assert!(close(sgs("mirror"), (0.5_f64.sqrt() + 1.0) / 2.0));
    // The probability is turned round, to wording minus baseline.
    let delta = "select delta from deltas where axis = 'prob_generated' and prompt_id = '0' and variant_id = ";
    assert_eq!(numbers(&session, &format!("{delta}'spacing/global/20'")), [0.5]);
    let baselines =
        "select prompt_id, baseline_id, text from variants where variant_id = 'spacing/global/5' order by 1";
    assert_eq!(texts(&run, baselines), ["0 spacing/global/0 -", "1 spacing/global/0 -"]);
    assert_eq!(numbers(&session, "select count(*) from prompts"), [0.0]);
    let rows = Manifest::read(run.path()).unwrap().rows;
    assert_eq!((rows["given/deltas"], rows["variants"], rows["models"]), (27, 6, 1));
    let table = sgs_table(run.path()).unwrap();
    assert!(!table.contains("could not be made"), "{table}");
    let missing = "select axis, reason from coverage where axis in ('cos', 'chrf', 'bert') order by 1";
    assert_eq!(
        texts(&run, missing),
        ["bert 1 wordings are without text", "chrf the run has no text", "cos the run has no hidden states"]
    );
}

#[test]
fn a_given_table_that_changed_is_found() {
    let (folder, _) = file("spacing.csv", SPACING);
    let mut import = import(Layout::Published, &[folder.path()]);
    (import.model, import.dataset) = (Some("closed".into()), Some("d".into()));
    let run = Run::imported(&import).unwrap();
    // The same import again is the same run and writes nothing; another one is refused.
    let part = run.path().join("variants.parquet");
    let written = || part.metadata().unwrap().modified().unwrap();
    let first = written();
    let rows = import.carry_out(run.path()).unwrap().rows;
    assert_eq!((rows["given/deltas"], first), (27, written()));
    import.model = Some("other".into());
    let message = import.carry_out(run.path()).unwrap_err().to_string();
    assert!(message.contains("a different plan") && message.contains("\"closed\" there"), "{message}");
    write(run.path().join("given/deltas.parquet"), "short").unwrap();
    let message = check_parts(run.path()).unwrap_err().to_string();
    assert!(message.contains("given/deltas.parquet"), "{message}");
}

/// The same deltas in each format; the key of the wording in both ways.
const BY_ID: &str = "model,dataset,prompt_id,variant,axis,delta,value
org/m 1,d,p,baseline,bleu,0,1
org/m 1,d,p,own/x,bleu,-0.3,0.7
org/m 1,d,p,spacing/prefix/20.0,bleu,-0.4,
org/m 1,d,p,baseline,chrf,0,
org/m 1,d,p,own/x,chrf,,
";

#[test]
fn a_table_of_deltas_is_read_in_every_format() {
    let jsonl: String = BY_ID
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |text: &str| if text.is_empty() { "null".to_string() } else { text.to_string() };
            format!(
                "{{\"model\": {:?}, \"dataset\": \"d\", \"prompt_id\": \"p\", \"variant\": {:?}, \"axis\": {:?}, \
                 \"delta\": {}, \"value\": {}}}\n",
                cells[0],
                cells[3],
                cells[4],
                number(cells[5]),
                number(cells[6])
            )
        })
        .collect();
    let (folder, csv) = file("a.csv", BY_ID);
    write(folder.path().join("a.jsonl"), jsonl).unwrap();
    write(folder.path().join("a.tsv"), BY_ID.replace(',', "\t")).unwrap();
    let rows = scratch().query(&format!("select * from '{}'", csv.display())).unwrap();
    let parquet = std::fs::File::create(folder.path().join("a.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(parquet, rows[0].schema(), None).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    for ending in ["csv", "tsv", "jsonl", "parquet"] {
        let run = Run::imported(&import(Layout::Deltas, &[&folder.path().join(format!("a.{ending}"))])).unwrap();
        run.analyze();
        assert_eq!(check_contracts(run.path()).unwrap(), [], "{ending}");
        let found = texts(&run, "select model, variant_id, axis, value, delta from deltas order by axis, variant_id");
        assert_eq!(
            found,
            [
                "org-m-1 baseline bleu 1 0",
                "org-m-1 own/x bleu 0.7 -0.3",
                "org-m-1 spacing/prefix/20 bleu - -0.4",
                "org-m-1 baseline chrf - 0",
            ],
            "{ending}"
        );
        // sqrt((0.3^2 + 0.4^2) / 2)
        let sgs = numbers(&run.session(), "select sgs from sgs_model where axis = 'bleu' and normalization = 'fixed'");
        assert!(close(sgs[0], 0.125_f64.sqrt()), "{ending}");
        let kinds = "select variant_id, family, subtype, place, strength, level, baseline_id from variants order by 1";
        assert_eq!(
            texts(&run, kinds),
            [
                "baseline baseline baseline - - - baseline",
                "own/x own paraphrase global - x baseline",
                "spacing/prefix/20 surface_noise spacing prefix 20 20 baseline",
            ],
            "{ending}"
        );
    }
}

#[test]
fn columns_are_mapped_parts_name_wordings_and_baselines_are_added() {
    let text =
        "who,item,metric,kind,dose,change\na,7,bleu,spacing,5,-0.3\na,7,bleu,slang,,-0.4\nb,7,bleu,spacing,5,0\n";
    let (_folder, path) = file("mine.csv", text);
    let mut import = import(Layout::Deltas, &[&path]);
    for (ours, theirs) in [
        ("model", "who"),
        ("prompt_id", "item"),
        ("axis", "metric"),
        ("subtype", "kind"),
        ("strength", "dose"),
        ("delta", "change"),
    ] {
        import.columns.insert(ours.into(), theirs.into());
    }
    import.dataset = Some("d".into());
    let message = refused(&import);
    for part in ["model a, data set d, prompt 7", "mine.csv, line 2", "--add-baselines"] {
        assert!(message.contains(part), "{message}");
    }
    import.add_baselines = true;
    let run = Run::imported(&import).unwrap();
    run.analyze();
    assert_eq!(check_contracts(run.path()).unwrap(), []);
    let found = texts(&run, "select model, variant_id, delta from deltas order by 1, 2");
    let expected =
        ["a baseline 0", "a own/slang/global -0.4", "a spacing/global/5 -0.3", "b baseline 0", "b spacing/global/5 0"];
    assert_eq!(found, expected);
}

#[test]
fn what_a_table_of_deltas_gets_wrong_is_named_with_its_place() {
    let header = "model,dataset,prompt_id,variant,axis,delta\n";
    let good = "m,d,p,baseline,bleu,0\n";
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        (
            "a.csv",
            b"model,dataset,item,variant,axis,delta\nm,d,p,b,bleu,0\n".to_vec(),
            &["no column \"prompt_id\"", "a.csv, line 1", "model, dataset, item", "--column prompt_id=NAME"],
        ),
        ("a.csv", b"model,dataset,prompt_id,axis,delta\nm,d,p,bleu,0\n".to_vec(), &["variant", "subtype, place"]),
        ("a.csv", b"dataset,prompt_id,variant,axis,delta\nd,p,b,bleu,0\n".to_vec(), &["\"model\"", "--model"]),
        (
            "a.csv",
            format!("{header}{good}m,d,p,own/x,bleu,much\n").into_bytes(),
            &["\"delta\" is no finite number", "a.csv, line 3", "found: much"],
        ),
        ("a.csv", format!("{header}{good}m,d,p,own/x,bleu,nan\n").into_bytes(), &["line 3", "found: nan"]),
        ("a.csv", format!("{header}{good}m,d,p,own/x,rouge,1\n").into_bytes(), &["line 3", "rouge", "cos, bleu, bert"]),
        (
            "a.csv",
            format!("{header}{good}m,d,p,spacing/global/many,bleu,1\n").into_bytes(),
            &["line 3", "spacing/global/many"],
        ),
        ("a.csv", format!("{header}{good}m,d,,own/x,bleu,1\n").into_bytes(), &["line 3", "\"prompt_id\" is empty"]),
        (
            "a.csv",
            format!("{header}{good}\n{good}").into_bytes(),
            &["twice", "a.csv, line 4", "first on line 2", "prompt p, wording baseline, axis bleu"],
        ),
        (
            "a.csv",
            format!("{header}{good}m,d,q,own/x,bleu,1\n").into_bytes(),
            &["no baseline row for model m, data set d, prompt q", "line 3"],
        ),
        // Another model's baseline is none of this one's.
        ("a.csv", format!("{header}{good}n,d,p,own/x,bleu,1\n").into_bytes(), &["model n, data set d, prompt p"]),
        ("a.csv", header.as_bytes().to_vec(), &["a.csv has no rows"]),
        ("a.csv", Vec::new(), &["a.csv has no rows"]),
        ("a.csv", [header.as_bytes(), b"m,d,p,caf\xe9,bleu,0\n"].concat(), &["UTF-8", "line 2"]),
        (
            "a.csv",
            format!("{header}{good}m,d,p,\"own/x,bleu,1\nm,d,p,own/y,bleu,1\n").into_bytes(),
            &["never closed", "line 3"],
        ),
        ("a.jsonl", b"{\"model\": \"m\"}\n".to_vec(), &["no column \"prompt_id\"", "a.jsonl, line 1"]),
        (
            "a.jsonl",
            format!(
                "{}\n{}\n",
                r#"{"model": "m", "dataset": "d", "prompt_id": 1, "variant": "baseline", "axis": "bleu", "delta": 0}"#,
                r#"{"model": "m", "dataset": "d", "prompt_id": 1, "variant": "own/x", "axis": "bleu", "delta": [1]}"#
            )
            .into_bytes(),
            &["line 2", "[1]"],
        ),
        (
            "a.json",
            br#"[{"model": "m", "dataset": "d", "prompt_id": 1, "variant": "baseline", "axis": "bleu", "delta": "x"}]"#
                .to_vec(),
            &["(row 1)", "a.json"],
        ),
        ("a.txt", b"x".to_vec(), &["no known format"]),
    ];
    for (name, content, parts) in cases {
        let (_folder, path) = file(name, content);
        let message = refused(&import(Layout::Deltas, &[&path]));
        for part in *parts {
            assert!(message.contains(part), "{name}: no {part:?} in: {message}");
        }
    }
}

#[test]
fn what_published_files_get_wrong_is_named_with_its_place() {
    let long = "model,dataset,style,strength,place,prompt_id,delta_bleu\n";
    let good = "m,d,Spacing,0,global,0,0\n";
    let cases: &[(&str, String, &[&str])] = &[
        ("a.csv", format!("{long}{good}m,d,Slang,1,global,0,0\n"), &["line 3", "Slang", "politeness, spacing"]),
        ("a.csv", format!("{long}{good}m,d,Spacing,1,middle,0,0\n"), &["line 3", "middle", "prefix, suffix, global"]),
        ("a.csv", format!("{long}{good}m,d,Spacing,lots,global,0,0\n"), &["line 3", "lots"]),
        (
            "a.csv",
            format!("{long}{good}m,d,Spacing,5,prefix,0,0\n"),
            &["no baseline row for model m, data set d, prompt 0", "spacing/prefix/5"],
        ),
        ("a.csv", format!("{long}{good}m,d,spacing,0.0,global,0,0\n"), &["twice", "line 3", "first on line 2"]),
        ("a.csv", format!("{long}{good}m,d,Spacing,5,global,0,-7%\n"), &["line 3", "delta_bleu", "-7%"]),
        (
            "a.csv",
            "model,dataset,style,strength,place,prompt_id\nm,d,Spacing,0,global,0\n".into(),
            &["no column of deltas", "delta_bertscore_response"],
        ),
        ("mine.csv", "prompt_id,place,strength,delta_bleu\n0,global,0,0\n".into(), &["\"style\"", "letter_case.csv"]),
    ];
    for (name, content, parts) in cases {
        let (_folder, path) = file(name, content);
        let mut import = import(Layout::Published, &[&path]);
        if *name == "mine.csv" {
            (import.model, import.dataset) = (Some("m".into()), Some("d".into()));
        }
        let message = refused(&import);
        for part in *parts {
            assert!(message.contains(part), "{name}: no {part:?} in: {message}");
        }
    }
    let (_folder, path) = file("spacing.csv", SPACING);
    assert!(refused(&import(Layout::Published, &[&path])).contains("--model"));
    // The same rows in two files: both places.
    let (_other, again) = file("spacing.csv", SPACING);
    let mut twice = import(Layout::Published, &[&path, &again]);
    (twice.model, twice.dataset) = (Some("m".into()), Some("d".into()));
    let message = refused(&twice);
    let first = format!("first on line 2 of {}", path.display());
    assert!(message.contains(&first) && message.contains(&format!("{}, line 2", again.display())), "{message}");
}

/// Logs of three wordings, as lm-evaluation-harness writes them: scripts/golden_lm_eval.py.
fn logs(wordings: &[(&str, &str)]) -> Import {
    let of_wording = |(variant, folder): &(&str, &str)| Source {
        path: format!("tests/golden/lm_eval/{folder}").into(),
        variant: Some((*variant).into()),
        ..Source::default()
    };
    Import::new(Layout::LmEval, wordings.iter().map(of_wording).collect())
}

#[test]
fn logs_of_lm_eval_become_a_run_with_responses() {
    // The order of the files does not matter: the baseline is read first.
    let run =
        Run::imported(&logs(&[("politeness/prefix/-4", "rude"), ("baseline", "plain"), ("own/spaced", "spaced")]));
    let run = run.unwrap();
    check_parts(run.path()).unwrap();
    run.analyze();
    assert_eq!(check_contracts(run.path()).unwrap(), []);
    let session = run.session();
    assert_eq!(
        texts(&run, "select dataset, prompt_id, text, array_to_string(answers, ';') from prompts order by 1, 2")[1..],
        [
            "capitals 1 Q: Which planet is known as the Red Planet?\nA: Mars;the planet Mars",
            "capitals 2 Q: Who wrote the novel Dracula?\nA: Bram Stoker",
            "sky 0 Q: Is the sky blue?\nA: yes",
        ]
    );
    let of_sky = "select model, variant_id, response, logprobs from generations where dataset = 'sky' order by 2";
    assert_eq!(
        texts(&run, of_sky),
        ["acme__tiny-1b baseline yes -", "acme__tiny-1b own/spaced yes -", "acme__tiny-1b politeness/prefix/-4 no -",]
    );
    // sacrebleu 2.6: corpus_bleu and corpus_chrf of the two responses, / 100
    let scores = "select bleu, chrf from similarities
        where prompt_id = '0' and variant_id = 'own/spaced' and dataset = 'capitals' and repeat = 0";
    let rows = values(&session.query(scores).unwrap());
    let [Value::Number(bleu), Value::Number(chrf)] = rows[0][..] else { panic!("{rows:?}") };
    assert!(close(bleu, 0.451_801_001_804_924_4) && close(chrf, 0.824_729_303_211_010_8), "{bleu} {chrf}");
    // A document has two repeats; a line a filter is one document.
    assert_eq!(numbers(&session, "select count(*) from generations where repeat = 1"), [3.0]);
    assert_eq!(numbers(&session, "select count(*) from generations"), [15.0]);
    let refusal = "select prompt_id, variant_id from deltas where axis = 'refusal' and delta = 1";
    assert_eq!(texts(&run, refusal), ["2 politeness/prefix/-4"]);
    // Of the words: right are Paris, Mars, Stoker; under the rude wording Paris alone.
    let right = "select accuracy_baseline, accuracy_variants from accuracy
        where dataset = 'capitals' and measure = 'contains'";
    let rows = values(&session.query(right).unwrap());
    let [Value::Number(plain), Value::Number(reworded)] = rows[0][..] else { panic!("{rows:?}") };
    assert!(close(plain, 1.0) && close(reworded, 0.5), "{rows:?}");
    // What the logs do not say is NULL.
    let unknown = "select count(truncated), count(special_text) from generations";
    assert_eq!(texts(&run, unknown), ["0 0"]);
    assert_eq!(texts(&run, "select count(seed) from variants"), ["0"]);
    // Politeness is judged by the rule, own wordings are not.
    assert_eq!(texts(&run, "select distinct variant_id, method from judgements"), ["politeness/prefix/-4 rule"]);
    let reasons = "select axis, reason from coverage where dataset = 'sky' and axis in ('bert', 'prob') order by 1";
    assert_eq!(texts(&run, reasons), ["bert no encoder has scored the responses", "prob the run has no logits"]);
}

#[test]
fn a_filter_and_its_responses_can_be_chosen() {
    let mut import = logs(&[("baseline", "plain"), ("own/x", "rude")]);
    import
        .sources
        .iter_mut()
        .for_each(|s| s.path.push("acme__tiny-1b/samples_capitals_2026-01-31T12-00-00.000000.jsonl"));
    import.responses = Responses::Filtered;
    let responses = |import: &Import, wording: &str| -> Vec<Value> {
        let run = Run::imported(import).unwrap();
        let part = run.path().join("generations/model=acme__tiny-1b/dataset=capitals/part-00000.parquet");
        let part = part.display();
        let sql = format!("select response from '{part}' where variant_id = '{wording}' order by prompt_id");
        values(&scratch().query(&sql).unwrap()).into_iter().flatten().collect()
    };
    let text = |text: &str| Value::Text(text.to_string());
    // The filter "strict" keeps the last word.
    assert_eq!(responses(&import, "baseline"), [text("Paris"), text("Planet"), text("1897")]);
    import.filter = Some("none".into());
    assert_eq!(responses(&import, "own/x")[2], text(" I will not answer that."));
    import.filter = Some("loose".into());
    let message = refused(&import);
    assert!(message.contains("--filter loose") && message.contains("samples_capitals"), "{message}");
}

fn line(id: &str, question: &str, target: &str) -> String {
    format!(
        "{{\"doc_id\": {id}, \"target\": {target:?}, \"arguments\": {{\"gen_args_0\": {{\"arg_0\": {question:?}, \
         \"arg_1\": {{}}}}}}, \"resps\": [[\"A\"]], \"filtered_resps\": [\"A\"]}}\n"
    )
}

#[test]
fn documents_that_models_were_asked_in_other_words_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = import(Layout::LmEval, &[]);
    for (model, second) in [("a", "Two?"), ("b", "<s>Two?"), ("c", "Two?</s>")] {
        let path = folder.path().join(model).join("samples_t.jsonl");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        write(&path, line("\"q1\"", "One?", "x") + &line("7", second, "x")).unwrap();
        import.sources.push(Source { variant: Some("baseline".into()), ..source(path) });
    }
    let run = tempfile::tempdir().unwrap();
    let notes = import.carry_out(run.path()).unwrap().notes;
    let counted: Vec<&String> = notes.iter().filter(|note| note.starts_with("2 ")).collect();
    assert!(counted.len() == 1 && counted[0].contains("in other words"), "{notes:?}");
    let prompts = format!("select text, source_row from '{}' order by 1", run.path().join("prompts.parquet").display());
    let found = values(&scratch().query(&prompts).unwrap());
    let text = |text: &str| Value::Text(text.into());
    // A doc_id that is no number says nothing of the row.
    assert_eq!(found, [vec![text("One?"), Value::Null], vec![text("Two?"), Value::Number(7.0)]]);
}

#[test]
fn names_are_those_that_a_run_can_have() {
    let (_folder, path) = file("a.csv", BY_ID.replace("org/m 1", &"m".repeat(300)));
    let out = tempfile::tempdir().unwrap();
    let notes = import(Layout::Deltas, &[&path]).carry_out(out.path()).unwrap().notes;
    assert!(notes.iter().any(|note| note.ends_with(&format!("is named {} here", "m".repeat(100)))), "{notes:?}");
    let (_folder, path) = file("spacing.csv", SPACING);
    let mut unnamed = import(Layout::Published, &[&path]);
    (unnamed.model, unnamed.dataset) = (Some(String::new()), Some("d".into()));
    let message = refused(&unnamed);
    assert!(message.contains("a model without a name") && message.contains("--model NAME"), "{message}");
}

#[test]
fn what_logs_get_wrong_is_named_with_its_place() {
    let message = refused(&logs(&[("own/x", "plain")]));
    assert!(message.contains("--variant baseline=FILE"), "{message}");
    // A file and a folder that hold the same wording.
    let message = refused(&logs(&[("baseline", "plain"), ("baseline", "rude")]));
    assert!(message.contains("stands twice") && message.contains("line 1"), "{message}");
    let line = |id: u32, target: &str| line(&id.to_string(), "Q", target);
    let (_plain, plain) = file("samples_t.jsonl", line(0, "a"));
    let against = |content: String, parts: &[&str]| {
        let (_folder, other) = file("samples_t.jsonl", content);
        let mut import = import(Layout::LmEval, &[&plain, &other]);
        import.model = Some("m".into());
        for (source, id) in import.sources.iter_mut().zip(["baseline", "own/x"]) {
            source.variant = Some(id.into());
        }
        let message = refused(&import);
        for part in parts {
            assert!(message.contains(part), "no {part:?} in: {message}");
        }
    };
    against(line(0, "a") + &line(1, "b"), &["no baseline row for model m, data set t, prompt 1", "line 2"]);
    against(line(0, "b"), &["another target", "\"b\"", "\"a\"", "line 1"]);
    against(line(0, "a") + &line(0, "a"), &["twice", "line 2"]);
    against(line(0, "a") + "{\"doc_id\": 1,\n", &["broken JSON", "line 2"]);
    against(line(0, "a").replace("resps", "answers"), &["\"resps\"", "line 1", "no such field"]);
    against(String::new(), &["no rows"]);
}
