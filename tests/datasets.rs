//! Data sets from outside: the hub's layouts, a user's own files, and what bad files are told.
//!
//! The hub's layouts are in `tests/golden/hub`, as pyarrow and pandas write them (`scripts/make_hub_layouts.py`).

use std::path::{Path, PathBuf};

use sago::datasets::{self, Columns, ListForm, Loaded, Origin, Prompt, Spec};

const QUOTED: &str = "It's \"both\", really";

fn load(name: &str, path: &Path, columns: Columns) -> sago::Result<Loaded> {
    datasets::load(&Spec { name: name.into(), path: Some(path.into()), columns })
}

/// A prompt as (id, text, answers, category).
type Seen<'a> = (&'a str, &'a str, Vec<&'a str>, Option<&'a str>);

fn seen(prompts: &[Prompt]) -> Vec<Seen<'_>> {
    fn one(p: &Prompt) -> Seen<'_> {
        (&p.prompt_id, &p.text, p.answers.iter().map(String::as_str).collect(), p.category.as_deref())
    }
    prompts.iter().map(one).collect()
}

#[test]
fn every_hub_layout_loads_from_parquet_and_from_csv() {
    let expected: [(&str, &str, &str, Vec<Seen<'_>>); 7] = [
        (
            "truthfulqa",
            "truthfulqa",
            "hub",
            vec![
                ("0", "Is honey ever vegan?", vec!["No; bees make it", "No", QUOTED], Some("Food")),
                ("1", "May one whistle?", vec!["Yes"], Some("Law")),
            ],
        ),
        (
            "natural_questions",
            "natural_questions",
            "open",
            vec![
                ("0", "who keeps the lamp lit", vec!["the keeper", "keeper"], None),
                ("1", "how tall is the tower", vec!["30 m"], None),
            ],
        ),
        (
            "natural_questions",
            "natural_questions_full",
            "full",
            vec![
                ("797", "who keeps the lamp lit", vec!["the keeper", "keeper"], None),
                ("798", "is the lamp lit", vec![], None),
            ],
        ),
        (
            "alpaca",
            "alpaca",
            "instructions",
            vec![("0", "Name a colour.", vec!["Green"], None), ("1", "Add the numbers.\n\n1, 2", vec!["3"], None)],
        ),
        (
            "simpleqa_verified",
            "simpleqa_verified",
            "hub",
            vec![
                ("5", "In what year was the lamp lit?", vec!["1877"], Some("History")),
                ("81", "Who lit it?", vec!["[A. Keeper]"], Some("Other")),
            ],
        ),
        (
            "triviaqa",
            "triviaqa",
            "hub",
            vec![
                ("tc_1", "What lights a coast?", vec!["Lighthouse", "Light house", QUOTED], None),
                ("tc_2", "Who keeps it?", vec!["The keeper", "Keeper"], None),
            ],
        ),
        (
            "hotpotqa",
            "hotpotqa",
            "questions",
            vec![
                ("5a8b", "Is the lamp older than the tower?", vec!["no"], Some("comparison")),
                ("5a8c", "Who built the tower of the lamp?", vec!["A. Mason"], Some("bridge")),
            ],
        ),
    ];
    for (name, file, layout, prompts) in expected {
        for extension in ["parquet", "csv"] {
            let path = PathBuf::from(format!("tests/golden/hub/{file}.{extension}"));
            let loaded = load(name, &path, Columns::default()).unwrap();
            assert_eq!(seen(&loaded.prompts), prompts, "{file}.{extension}");
            assert!(
                matches!(&loaded.origin, Origin::File { layout: l, .. } if l == layout),
                "{file}.{extension}: {:?}",
                loaded.origin
            );
            assert_eq!(loaded.repeated, u64::from(file == "triviaqa"), "{file}.{extension}");
            assert_eq!(loaded.descriptor.unwrap().name, name);
        }
    }
}

#[test]
fn a_descriptors_sample_is_the_same_from_either_format() {
    for file in ["alpaca", "truthfulqa"] {
        let draw = |extension| {
            let loaded =
                load(file, &PathBuf::from(format!("tests/golden/hub/{file}.{extension}")), Columns::default()).unwrap();
            datasets::sample(loaded.prompts, 1, 5).unwrap()
        };
        assert_eq!(draw("csv"), draw("parquet"), "{file}");
    }
}

/// A folder with one file.
fn file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn columns(prompt: &str) -> Columns {
    Columns { prompt: Some(prompt.into()), ..Columns::default() }
}

#[test]
fn a_users_own_file_runs_in_any_text_format_with_a_mapping() {
    let mapping = Columns {
        prompt: Some("q.text".into()),
        input: Some("extra".into()),
        answers: Some("gold".into()),
        answers_as: Some(ListForm::Joined),
        id: Some("key".into()),
        category: Some("kind".into()),
    };
    let rows = [
        ("own.csv", "key,q.text,extra,gold,kind\na,Why?,,because; so,x\nb,Add.,\"1, 2\",,\n"),
        ("own.tsv", "key\tq.text\textra\tgold\tkind\na\tWhy?\t\tbecause; so\tx\nb\tAdd.\t1, 2\t\t\n"),
        (
            "own.jsonl",
            "{\"key\": \"a\", \"q\": {\"text\": \"Why?\"}, \"gold\": [\"because\", \"so\"], \"kind\": \"x\"}\n{\"key\": \"b\", \"q\": {\"text\": \"Add.\"}, \"extra\": \"1, 2\"}\n",
        ),
        (
            "own.json",
            "{\"rows\": [{\"key\": \"a\", \"q\": {\"text\": \"Why?\"}, \"extra\": null, \"gold\": \"because; so\", \"kind\": \"x\"}, {\"key\": \"b\", \"q\": {\"text\": \"Add.\"}, \"extra\": \"1, 2\", \"gold\": null}]}",
        ),
    ];
    for (name, text) in rows {
        let (_folder, path) = file(name, text);
        let loaded = load("mine", &path, mapping.clone()).unwrap();
        assert_eq!(
            seen(&loaded.prompts),
            [("a", "Why?", vec!["because", "so"], Some("x")), ("b", "Add.\n\n1, 2", vec![], None)],
            "{name}"
        );
        assert_eq!(loaded.prompts[1].dataset, "mine");
        assert!(loaded.descriptor.is_none());
    }
}

#[test]
fn a_prompt_column_is_recognized_only_where_one_name_says_so() {
    let (_folder, path) = file("own.csv", "nr,Question,answer\n1,Why?,so\n");
    assert_eq!(load("mine", &path, Columns::default()).unwrap().prompts[0].text, "Why?");
    let (_folder, path) = file("own.jsonl", "{\"instruction\": \"Add.\", \"input\": \"1, 2\"}\n");
    assert_eq!(load("mine", &path, Columns::default()).unwrap().prompts[0].text, "Add.\n\n1, 2");
    for text in ["id,text,question\n1,a,b\n", "id,body\n1,a\n"] {
        let (_folder, path) = file("own.csv", text);
        let message = load("mine", &path, Columns::default()).unwrap_err().to_string();
        let header = text.lines().next().unwrap().replace(',', ", ");
        assert!(
            message.contains("which column of own.csv holds the prompts?") && message.contains(&header),
            "{message}"
        );
        assert!(message.contains("say `prompt = "), "{message}");
    }
}

#[test]
fn a_mapping_goes_before_a_descriptors_layout_or_adds_to_it() {
    let (_folder, path) = file("own.csv", "nr,problem,answer,topic\n7,Who?,\"['a', 'b']\",t\n");
    let loaded = load("simpleqa_verified", &path, columns("problem")).unwrap();
    assert_eq!(seen(&loaded.prompts), [("0", "Who?", vec![], None)]);
    let more = Columns { id: Some("nr".into()), answers: Some("answer".into()), ..Columns::default() };
    let loaded = load("simpleqa_verified", &path, more).unwrap();
    assert_eq!(seen(&loaded.prompts), [("7", "Who?", vec!["a", "b"], Some("t"))]);
}

#[test]
fn a_missing_column_is_told_with_those_there_are_and_what_to_write() {
    let (_folder, path) = file("prompts.csv", "id,text,answer\n1,Why?,so\n");
    let message = load("mine", &path, columns("question")).unwrap_err().to_string();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines[0], "prompts.csv has no column \"question\"");
    assert!(lines[1].ends_with("prompts.csv, line 1"), "{message}");
    assert_eq!(lines[2], "  found: id, text, answer");
    assert_eq!(lines[3], "  say `prompt = \"text\"` under [[dataset]]");
    let mapping = Columns { answers: Some("answers".into()), ..columns("text") };
    let message = load("mine", &path, mapping).unwrap_err().to_string();
    assert!(message.contains("no column \"answers\"") && message.contains("say `answers = \"answer\"`"), "{message}");

    let mapping = Columns { answers_as: Some(ListForm::Python), ..columns("text") };
    let message = load("mine", &path, mapping).unwrap_err().to_string();
    assert!(message.contains("how its answers stand, but not where"), "{message}");

    let (_folder, path) = file("prompts.jsonl", "{\"q\": {\"text\": \"Why?\"}}\n");
    let message = load("mine", &path, columns("q.question")).unwrap_err().to_string();
    assert!(message.contains("column \"q\" of prompts.jsonl has no field \"q.question\""), "{message}");
    let message =
        load("mine", Path::new("tests/golden/hub/alpaca.parquet"), columns("question")).unwrap_err().to_string();
    assert!(
        message.contains("alpaca.parquet has no column \"question\"") && message.contains("found: instruction, input"),
        "{message}"
    );
}

#[test]
fn bad_files_are_told_with_file_and_line() {
    let jsonl = format!("{}{{\"prompt\": \n{}", "{\"prompt\": \"a\"}\n".repeat(6), "{\"prompt\": \"a\"}\n");
    let cases: [(&str, &str, &[&str]); 7] = [
        ("broken.jsonl", &jsonl, &["broken.jsonl: broken JSON", "line 7"]),
        ("broken.json", "[{\"prompt\": \"a\"},\n{\"prompt\": }]", &["broken.json: broken JSON", "line 2"]),
        ("empty.csv", "prompt\n", &["empty.csv has no rows"]),
        ("empty.jsonl", "", &["empty.jsonl has no rows"]),
        ("ragged.csv", "id,prompt\n1,a\n2,b,c\n", &["ragged.csv", "line 3", "3 fields"]),
        ("blank.csv", "id,prompt\n1,a\n2,\" \"\n", &["blank.csv: row 1 (counted from 0) has a blank prompt", "line 3"]),
        (
            "number.jsonl",
            "{\"prompt\": \"a\"}\n{\"prompt\": 5}\n",
            &["number.jsonl: row 1", "a number where text is wanted", "line 2"],
        ),
    ];
    for (name, text, wanted) in cases {
        let (_folder, path) = file(name, text);
        let message = load("mine", &path, columns("prompt")).unwrap_err().to_string();
        for part in wanted {
            assert!(message.contains(part), "{name}: {message}");
        }
    }
    let message = load("mine", Path::new("nowhere/prompts.csv"), columns("prompt")).unwrap_err().to_string();
    assert!(message.contains("nowhere/prompts.csv") && message.contains("No such file"), "{message}");
}

#[test]
fn starter_prompts_come_where_no_file_is_given_and_say_so() {
    for descriptor in datasets::descriptors().unwrap().iter().filter(|d| d.study) {
        let loaded = datasets::load(&Spec { name: descriptor.name.clone(), ..Spec::default() }).unwrap();
        assert!(matches!(&loaded.origin, Origin::Starter { sha256 } if sha256.len() == 64));
        assert!(loaded.prompts.iter().all(|p| p.dataset == descriptor.name && p.prompt_id.starts_with("starter-")));
        let message = datasets::sample(loaded.prompts, 21, 1).unwrap_err().to_string();
        assert!(message.contains("21 prompts are asked for") && message.contains("has 20"), "{message}");
    }
}

#[test]
fn without_a_file_other_names_and_mappings_are_refused() {
    let refused = |name: &str, columns: Columns| {
        datasets::load(&Spec { name: name.into(), path: None, columns }).unwrap_err().to_string()
    };
    let message = refused("mine", Columns::default());
    assert!(
        message.contains("no built-in data set \"mine\"") && message.contains("hotpotqa") && message.contains("path ="),
        "{message}"
    );
    let message = refused("simpleqa", Columns::default());
    assert!(message.contains("simpleqa has no starter prompts") && message.contains("path"), "{message}");
    let message = refused("alpaca", columns("prompt"));
    assert!(message.contains("alpaca maps columns of no file"), "{message}");
}

#[test]
fn a_mapping_is_toml_and_refuses_keys_it_does_not_know() {
    let columns: Columns = toml::from_str("prompt = \"q.text\"\nanswers = \"a\"\nanswers_as = \"joined\"").unwrap();
    assert_eq!(columns.answers_as, Some(ListForm::Joined));
    let message = toml::from_str::<Columns>("promt = \"q\"").unwrap_err().to_string();
    assert!(message.contains("promt") && message.contains("`prompt`"), "{message}");
}
