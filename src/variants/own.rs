//! Own paraphrases: wordings that a user brings along.
//!
//! In: a CSV, TSV or JSONL file with a prompt key and a text a row. Out: [`Paraphrase`]s, and their [`Variant`]s of one prompt.
//! They run beside the built-in wordings or instead of them, measured against the prompt itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::{BASELINE, Place, Subtype, Variant, baseline};
use crate::datasets::Prompt;
use crate::datasets::table::{self, Format, Wanted};
use crate::error::InputError;
use crate::{Error, Result};

/// The columns of a file of paraphrases.
const COLUMNS: [&str; 7] = ["prompt_id", "text", "dataset", "family", "subtype", "place", "strength"];
/// Families that the program gives itself.
const BUILT_IN_FAMILIES: [&str; 4] = ["social_register", "surface_noise", "structural_rewriting", BASELINE];

/// One row of a file of paraphrases.
#[derive(Debug, Clone, PartialEq)]
pub struct Paraphrase {
    /// Name of the data set in the plan; None: any data set that has the prompt.
    pub dataset: Option<String>,
    /// Key of the prompt within its data set.
    pub prompt_id: String,
    /// The wording.
    pub text: String,
    /// `own` unless the file says otherwise.
    pub family: String,
    /// `paraphrase` unless the file says otherwise.
    pub subtype: String,
    /// `global` unless the file says otherwise.
    pub place: Place,
    /// Strength as the file writes it, a number or a word; None: paraphrases are numbered.
    pub level: Option<String>,
    /// Line in the file, from 1.
    pub line: u64,
}

/// Reads a file of paraphrases: CSV, TSV (a header, then rows) or JSONL (an object a line), told apart by the name's end.
///
/// Columns: `prompt_id` and `text`; optional `dataset`, `family`, `subtype`, `place`, `strength`. Empty cells count as absent.
///
/// # Errors
/// A file that can't be read, an unknown, missing or doubled column, a broken row, a quote that is never closed, an empty
/// text, a name that can't stand in an id, a built-in family or subtype, an unknown place, a strength that is not finite,
/// two rows with the same id: each names file, line and column.
pub fn read_paraphrases(path: &Path) -> Result<Vec<Paraphrase>> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let format = match extension.as_str() {
        "csv" => Format::Delimited(b','),
        "tsv" => Format::Delimited(b'\t'),
        "jsonl" | "ndjson" => Format::JsonLines,
        _ => {
            return Err(Error::input("can't tell how the paraphrases are laid out")
                .file(path)
                .found(format!("a name that ends in {extension:?}"))
                .expected(".csv, .tsv, .jsonl or .ndjson")
                .into());
        }
    };
    let paraphrases = rows(path, &format)?
        .into_iter()
        .map(|(line, cells)| checked(line, cells).map_err(|e| Error::from(e.file(path).line(line))))
        .collect::<Result<Vec<_>>>()?;
    // By prompt as the file names it, so that the message can name the file; `own` finds what is left.
    let mut taken = BTreeMap::new();
    for p in &paraphrases {
        take(&mut taken, (&p.dataset, &p.prompt_id), p).map_err(|e| Error::from(e.file(path)))?;
    }
    Ok(paraphrases)
}

/// What an id is made of, where there is a strength.
type Id<'a> = (&'a str, Place, String);

/// Notes the id of a paraphrase of `prompt` and its line.
fn take<'a, P: Ord>(
    taken: &mut BTreeMap<(P, Id<'a>), u64>,
    prompt: P,
    p: &'a Paraphrase,
) -> Result<(), Box<InputError>> {
    let Some(level) = &p.level else { return Ok(()) };
    match taken.insert((prompt, (&p.subtype, p.place, shortest(level))), p.line) {
        None => Ok(()),
        Some(first) => Err(Box::new(
            Error::input(format!("two paraphrases of prompt {:?} have the same id", p.prompt_id))
                .line(p.line)
                .key("strength")
                .found(format!("{}, {}, {level}, as on line {first}", p.subtype, p.place.as_str()))
                .fix("give them different strengths, or none: they are numbered then"),
        )),
    }
}

/// Cells of one row by column; only those that hold something.
type Cells = BTreeMap<String, String>;

/// The rows of a file, each with its line.
fn rows(path: &Path, format: &Format) -> Result<Vec<(u64, Cells)>> {
    let is_delimited = matches!(format, Format::Delimited(_));
    let (mut rows, mut known) = (Vec::new(), 0);
    table::scan(path, format, &Wanted::by(COLUMNS), &mut |columns, row| {
        let Some(line) = row.line else {
            let error = Error::input("a line of the paraphrases is no JSON object").file(path).line(1);
            return Err(error.found("a list").expected("one object a line").into());
        };
        // The header of a delimited file names the columns, else every row its own.
        let place = |error: InputError| Error::from(error.file(path).line(if is_delimited { 1 } else { line }));
        if columns.len() > known {
            check_columns(columns).map_err(|e| place(*e))?;
            known = columns.len();
        }
        if let Some(missing) = ["prompt_id", "text"].into_iter().find(|column| !row.fields.contains_key(*column)) {
            let owner = if is_delimited { "the file's header" } else { "the object" };
            let found = row.fields.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(place(Error::input(format!("{owner} has no column {missing:?}")).key(missing).found(found)));
        }
        let mut cells = Cells::new();
        for (column, value) in row.fields {
            let cell = match value {
                Value::Null => continue,
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                other => {
                    let error = Error::input("a cell of the paraphrases is neither text nor number").key(column);
                    return Err(place(error.found(other.to_string())));
                }
            };
            if !cell.is_empty() {
                cells.insert(column, cell);
            }
        }
        rows.push((line, cells));
        Ok(())
    })?;
    Ok(rows)
}

/// An unknown column is refused rather than ignored: a mistyped "strenght" would silently lose the doses.
fn check_columns(found: &[String]) -> Result<(), Box<InputError>> {
    match found.iter().find(|column| !COLUMNS.contains(&column.as_str())) {
        None => Ok(()),
        Some(unknown) => {
            let error = Error::input(format!("paraphrases have no column {unknown:?}")).found(found.join(", "));
            Err(Box::new(error.expected(COLUMNS.join(", "))))
        }
    }
}

fn checked(line: u64, mut cells: Cells) -> Result<Paraphrase, Box<InputError>> {
    let mut required = |column: &'static str| {
        cells.remove(column).filter(|cell| !cell.trim().is_empty()).ok_or_else(|| {
            Box::new(Error::input(format!("a paraphrase has no {column}")).key(column).found("an empty cell"))
        })
    };
    let prompt_id = required("prompt_id")?;
    let text = required("text")?;
    let mut name = |column: &'static str, default: Option<&str>| match cells.remove(column) {
        Some(cell) if is_slug(&cell) => Ok(Some(cell)),
        Some(cell) => Err(Box::new(
            Error::input(format!("a {column} must be able to stand in an id"))
                .key(column)
                .found(cell)
                .expected("letters, digits, '.', '_' and '-'"),
        )),
        None => Ok(default.map(str::to_string)),
    };
    let family = name("family", Some("own"))?.unwrap_or_default();
    let subtype = name("subtype", Some("paraphrase"))?.unwrap_or_default();
    let level = name("strength", None)?;
    let is = |name: &str, built_in: &str| name.eq_ignore_ascii_case(built_in);
    if BUILT_IN_FAMILIES.iter().any(|built_in| is(&family, built_in)) {
        let fix = format!("leave the column out (the family is then \"own\") or choose another name: own-{family}");
        let error = Error::input("paraphrases can't carry the name of a built-in family").key("family").found(family);
        return Err(Box::new(error.fix(fix)));
    }
    // They would be averaged with the built-in wordings of that name into one score.
    if is(&subtype, BASELINE) || Subtype::ALL.iter().any(|built_in| is(&subtype, built_in.as_str())) {
        let fix = format!("leave it out (the subtype is then \"paraphrase\") or choose another name: own-{subtype}");
        let error =
            Error::input("paraphrases can't carry the name of a built-in subtype").key("subtype").found(subtype);
        return Err(Box::new(error.fix(fix)));
    }
    if let Some(level) = level.as_ref().filter(|level| level.parse().is_ok_and(|x: f64| !x.is_finite())) {
        return Err(Box::new(
            Error::input("a strength must be finite")
                .key("strength")
                .found(level)
                .expected("a number, or a word of your own"),
        ));
    }
    let place = match cells.remove("place") {
        None => Place::Global,
        Some(place) => Place::ALL.into_iter().find(|p| p.as_str() == place).ok_or_else(|| {
            let all = Place::ALL.map(Place::as_str).join(", ");
            Box::new(Error::input("unknown place").key("place").found(place).expected(all))
        })?,
    };
    Ok(Paraphrase { dataset: cells.remove("dataset"), prompt_id, text, family, subtype, place, level, line })
}

fn is_slug(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// The prompt's own paraphrases as variants, in file order: ids are `own/<subtype>/<place>/<strength>`, or where there is
/// no strength a number that counts up from 1 within subtype and place, passing over numbers that are strengths.
///
/// # Errors
/// Two paraphrases of the prompt with the same subtype, place and strength; the message names both lines.
pub fn own(prompt: &Prompt, paraphrases: &[Paraphrase], seed: u64) -> Result<Vec<Variant>> {
    let mine: Vec<&Paraphrase> = paraphrases.iter().filter(|p| belongs(p, prompt)).collect();
    let mut taken = BTreeMap::new();
    for p in &mine {
        take(&mut taken, (), p).map_err(Error::Input)?;
    }
    let mut numbers: BTreeMap<(&str, Place), u64> = BTreeMap::new();
    let mut variants = Vec::with_capacity(mine.len());
    for p in &mine {
        let level = match &p.level {
            Some(level) => shortest(level),
            None => {
                let number = numbers.entry((&p.subtype, p.place)).or_insert(0);
                *number += 1;
                while taken.contains_key(&((), (p.subtype.as_str(), p.place, number.to_string()))) {
                    *number += 1;
                }
                number.to_string()
            }
        };
        variants.push(Variant {
            variant_id: format!("own/{}/{}/{level}", p.subtype, p.place.as_str()),
            family: p.family.clone(),
            subtype: p.subtype.clone(),
            place: Some(p.place.as_str().to_string()),
            strength: p.level.as_ref().and_then(|level| level.parse().ok()).filter(|x: &f64| x.is_finite()),
            level: Some(level),
            is_baseline: false,
            text: Some(p.text.clone()),
            rewriter: Some("own".to_string()),
            ..baseline(prompt, seed)
        });
    }
    Ok(variants)
}

/// The paraphrases that belong to none of the prompts: a caller should say so, since they will not run.
pub fn unmatched<'a>(prompts: &[Prompt], paraphrases: &'a [Paraphrase]) -> Vec<&'a Paraphrase> {
    let keys: BTreeSet<(&str, &str)> = prompts.iter().map(|p| (p.prompt_id.as_str(), p.dataset.as_str())).collect();
    let known = |p: &&Paraphrase| match &p.dataset {
        Some(dataset) => keys.contains(&(p.prompt_id.as_str(), dataset.as_str())),
        None => keys.iter().any(|(prompt_id, _)| *prompt_id == p.prompt_id),
    };
    paraphrases.iter().filter(|p| !known(p)).collect()
}

fn belongs(p: &Paraphrase, prompt: &Prompt) -> bool {
    p.prompt_id == prompt.prompt_id && p.dataset.as_ref().is_none_or(|dataset| *dataset == prompt.dataset)
}

/// A strength as it stands in ids: numbers as shortest decimals, words as they are.
fn shortest(level: &str) -> String {
    match level.parse::<f64>() {
        Ok(x) if x.is_finite() => x.to_string(),
        _ => level.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn prompt() -> Prompt {
        Prompt {
            dataset: "mine".to_string(),
            prompt_id: "7".to_string(),
            text: "Who wrote Hamlet?".to_string(),
            answers: vec![],
            category: None,
            source_row: 0,
            source_hash: String::new(),
        }
    }

    fn read(name: &str, content: &str) -> Result<Vec<Paraphrase>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        read_paraphrases(&path)
    }

    #[test]
    fn the_three_layouts_read_alike() {
        let csv = read("a.csv", "\u{feff}prompt_id,text,strength\n7,\"Hamlet, by whom?\",2.0\n").unwrap();
        let tsv = read("a.tsv", "strength\tprompt_id\ttext\n2.0\t7\tHamlet, by whom?\n").unwrap();
        let mut jsonl =
            read("a.jsonl", "\n{\"prompt_id\": 7, \"text\": \"Hamlet, by whom?\", \"strength\": 2.0}\n").unwrap();
        assert_eq!(csv, tsv);
        assert_eq!((csv[0].line, jsonl[0].line), (2, 2));
        jsonl[0].line = 2;
        assert_eq!(csv, jsonl);
        assert_eq!(
            (csv[0].family.as_str(), csv[0].subtype.as_str(), csv[0].place),
            ("own", "paraphrase", Place::Global)
        );
    }

    #[test]
    fn ids_are_strengths_or_running_numbers() {
        let rows = "prompt_id,text,subtype,place,strength,dataset\n7,a,,,,\n7,b,,,,mine\n7,c,,,2.0,\n7,d,slang,prefix,mild,\n7,e,,,,other\n8,f,,,,\n";
        let paraphrases = read("a.csv", rows).unwrap();
        let variants = own(&prompt(), &paraphrases, 1).unwrap();
        let ids: Vec<&str> = variants.iter().map(|v| v.variant_id.as_str()).collect();
        assert_eq!(
            ids,
            ["own/paraphrase/global/1", "own/paraphrase/global/3", "own/paraphrase/global/2", "own/slang/prefix/mild"]
        );
        assert_eq!(variants[2].strength, Some(2.0));
        assert_eq!((variants[3].strength, variants[3].level.as_deref()), (None, Some("mild")));
        assert!(
            variants
                .iter()
                .all(|v| v.baseline_id == "baseline" && v.rewriter.as_deref() == Some("own") && !v.is_baseline)
        );
        let left: Vec<&str> = unmatched(&[prompt()], &paraphrases).iter().map(|p| p.text.as_str()).collect();
        assert_eq!(left, ["e", "f"]);
    }

    #[test]
    fn the_same_id_twice_names_both_lines() {
        let message = read("a.csv", "prompt_id,text,strength\n7,a,2\n8,c,2\n7,b,2.0\n").unwrap_err().to_string();
        assert!(message.contains("a.csv, line 4") && message.contains("line 2"), "{message}");
        // Only the prompt shows that a row without a data set means the same one.
        let paraphrases = read("a.csv", "prompt_id,text,strength,dataset\n7,a,2,\n7,b,2.0,mine\n").unwrap();
        let message = own(&prompt(), &paraphrases, 1).unwrap_err().to_string();
        assert!(message.contains("line 3") && message.contains("line 2"), "{message}");
    }

    #[test]
    fn bad_files_say_where_and_what() {
        for (name, content, wanted) in [
            ("a.csv", "prompt_id,txt\n7,a\n", vec!["line 1", "txt", "prompt_id, text"]),
            ("a.csv", "text\na\n", vec!["line 1", "prompt_id"]),
            ("a.csv", "prompt_id,text\n7,\n", vec!["line 2", "text"]),
            ("a.csv", "prompt_id,text\n7,a,b\n", vec!["line 2"]),
            ("a.csv", "prompt_id,text\n", vec!["no rows"]),
            ("a.csv", "prompt_id,text,family\n7,a,surface_noise\n", vec!["line 2", "family", "surface_noise"]),
            ("a.csv", "prompt_id,text,subtype\n7,a,x/y\n", vec!["line 2", "subtype", "x/y"]),
            ("a.csv", "prompt_id,text,place\n7,a,middle\n", vec!["line 2", "place", "prefix, suffix, global"]),
            ("a.jsonl", "{\"prompt_id\": \"7\", \"text\": \"a\"}\n{\"prompt_id\"\n", vec!["line 2"]),
            ("a.jsonl", "{\"prompt_id\": \"7\", \"text\": [1]}\n", vec!["line 1", "text", "[1]"]),
            ("a.jsonl", "{\"prompt_id\": \"7\"}\n", vec!["line 1", "text"]),
            (
                "a.jsonl",
                "{\"prompt_id\": \"7\", \"text\": \"a\", \"text\": \"b\"}\n",
                vec!["line 1", "two fields \"text\""],
            ),
            (
                "a.jsonl",
                "{\"prompt_id\": \"7\", \"text\": \"a\"}\n{\"prompt_id\": \"8\", \"text\": \"a\", \"txt\": \"b\"}\n",
                vec!["line 2", "no column \"txt\"", "prompt_id, text"],
            ),
            ("a.jsonl", "\n", vec!["no rows"]),
            ("a.csv", "prompt_id,text,text\n7,a,b\n", vec!["line 1", "two columns \"text\""]),
            ("a.csv", "prompt_id,text\n7,\"a b c\n8,hello\n", vec!["line 2", "a quoted field is never closed"]),
            ("a.csv", "prompt_id,text,strength\n7,a,nan\n", vec!["line 2", "strength", "nan"]),
            ("a.csv", "prompt_id,text,strength\n7,a,-inf\n", vec!["line 2", "strength", "-inf"]),
            ("a.csv", "prompt_id,text,strength\n7,a,1e999\n", vec!["line 2", "strength", "1e999"]),
            ("a.csv", "prompt_id,text,subtype\n7,a,politeness\n", vec!["line 2", "subtype", "own-politeness"]),
            ("a.csv", "prompt_id,text,subtype\n7,a,Form\n", vec!["line 2", "subtype", "own-Form"]),
            ("a.csv", "prompt_id,text,subtype\n7,a,baseline\n", vec!["line 2", "subtype", "own-baseline"]),
            ("a.txt", "x", vec![".csv"]),
        ] {
            let message = read(name, content).unwrap_err().to_string();
            for part in wanted {
                assert!(message.contains(part), "{part:?} not in {message:?}");
            }
            assert!(message.contains(name), "{message}");
        }
        assert!(matches!(read_paraphrases(Path::new("/no/such/file.csv")), Err(Error::Io { .. })));
    }
}
