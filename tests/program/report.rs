//! `sago report`: one page, the same bytes each time, with what it is told to leave out left out.

use std::collections::HashSet;
use std::fs;

use resvg::tiny_skia::Pixmap;
use resvg::usvg::fontdb::Database;
use resvg::usvg::roxmltree::Document;

use super::whole_job::study;
use super::{output, rows, text};

#[test]
fn a_page_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let run = dir.path().join("run").to_string_lossy().into_owned();
    assert!(output(&["run", &file, "--out", &run, "--quiet"]).status.success());
    let page = |arguments: &[&str]| {
        let done = output(&[&["report", &run], arguments].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        fs::read_to_string(text(&done.stdout).trim_end()).unwrap()
    };

    let whole = page(&[]);
    assert!(dir.path().join("run/report/index.html").is_file());
    assert!(whole.starts_with("<!doctype html>") && whole.ends_with("</html>\n"));
    assert!(whole.contains("default-src 'none'") && whole.contains("id=\"texts-1\""));
    let other = dir.path().join("other").to_string_lossy().into_owned();
    assert!(whole == page(&["--out", &other]), "the same run gave another page");
    assert!(output(&["verify", &run]).status.success(), "a report must not make a run look damaged");

    assert!(!page(&["--without-prompts"]).contains("id=\"texts-"));
    let size = format!("{}B", whole.len() - 1);
    assert!(page(&["--max-size", &size]).len() < whole.len());
    let small = output(&["report", &run, "--max-size", "1KiB"]);
    assert_eq!(small.status.code(), Some(2));
    assert!(text(&small.stderr).contains("key: --max-size"), "{}", text(&small.stderr));

    let no_model = output(&["report", &run, "--tokenizer", "other=x.gguf"]);
    assert_eq!(no_model.status.code(), Some(2));
    assert!(text(&no_model.stderr).contains("there is no model other in the run"), "{}", text(&no_model.stderr));
    let several = output(&["report", &run, &run]);
    assert_eq!(several.status.code(), Some(2));
    assert!(text(&several.stderr).contains("--out DIR"), "{}", text(&several.stderr));

    fs::remove_dir_all(dir.path().join("run/analysis")).unwrap();
    let stale = output(&["report", &run]);
    assert_eq!(stale.status.code(), Some(2));
    assert!(text(&stale.stderr).contains("sago analyze"), "{}", text(&stale.stderr));
    fs::remove_file(dir.path().join("run/prompts.parquet")).unwrap();
    let damaged = output(&["report", &run]);
    assert_eq!(damaged.status.code(), Some(2));
    assert!(text(&damaged.stderr).contains("the run is damaged"), "{}", text(&damaged.stderr));
}

#[test]
fn figures_and_tables_as_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let path = dir.path().join("run");
    let run = path.to_string_lossy().into_owned();
    assert!(output(&["run", &file, "--out", &run, "--quiet"]).status.success());
    // Without a font there is no PNG, and an error that says what to install.
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let kinds = if fonts.is_empty() {
        let refused = output(&["report", &run, "--figures", "png"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains("fonts-liberation"), "{}", text(&refused.stderr));
        "svg,tex"
    } else {
        "svg,png,tex"
    };
    let done = output(&["report", &run, "--figures", kinds]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let folder = path.join("report/figures");
    assert_eq!(text(&done.stdout).lines().last(), Some(folder.to_string_lossy().as_ref()));
    assert!(text(&done.stderr).contains("note: ranks is not written: "), "{}", text(&done.stderr));
    assert!(!folder.join("ranks.svg").exists());

    // The picture: the model, and each score of the heat map as SQL gives it.
    let svg = fs::read_to_string(folder.join("sgs.svg")).unwrap();
    let xml = Document::parse(&svg).unwrap();
    let written: Vec<&str> = xml.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).collect();
    assert!(written.contains(&"smol"), "{written:?}");
    let sql = "select m.axis, round(m.sgs, 4) as sgs from sgs_model as m inner join axes as a on a.axis = m.axis and a.is_main \
               where m.normalization = 'fixed' and m.sgs >= 0.001";
    let scores = rows(&path, sql);
    assert!(scores.lines().count() > 2, "{scores}");
    let tex = fs::read_to_string(folder.join("sgs.tex")).unwrap();
    for (axis, score) in scores.lines().skip(1).filter_map(|row| row.split_once(',')) {
        let score = format!("{:.4}", score.parse::<f64>().unwrap());
        assert!(written.iter().any(|text| text.starts_with(&score)), "{axis} {score}: {written:?}");
        assert!(tex.contains(&format!("smol & all data sets & {axis} & {score} & ")), "{axis} {score}: {tex}");
    }
    assert!(tex.starts_with("\\begin{table}") && tex.ends_with("\\end{table}\n"));
    let table = fs::read_to_string(folder.join("scores-table.tex")).unwrap();
    assert!(table.contains("smol & all data sets & 0."), "{table}");
    assert!(folder.join("significance.tex").is_file() && folder.join("coverage.tex").is_file());
    // Another axis than the one that is shown at first; and every SVG is XML.
    assert!(folder.join("dose-ent.svg").is_file());
    for file in fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "svg") {
            let svg = fs::read_to_string(&file).unwrap();
            Document::parse(&svg).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
    }

    let width = xml.root_element().attribute("width").unwrap().parse::<f32>().unwrap();
    if kinds.contains("png") {
        let image = Pixmap::decode_png(&fs::read(folder.join("sgs.png")).unwrap()).unwrap();
        assert_eq!(image.width(), (width * 3.0) as u32);
        let colours: HashSet<_> = image.pixels().iter().map(|p| (p.red(), p.green(), p.blue())).collect();
        assert!(colours.len() > 50, "the picture is blank: {} colours", colours.len());
    }

    let other = dir.path().join("other");
    let out = other.to_string_lossy().into_owned();
    assert!(output(&["report", &run, "--figures", kinds, "--figures", "svg", "--out", &out]).status.success());
    let names = |folder: &std::path::Path| {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert!(names(&folder).len() > 30 && names(&folder) == names(&other.join("figures")));
    for name in names(&folder) {
        let same = fs::read(folder.join(&name)).unwrap() == fs::read(other.join("figures").join(&name)).unwrap();
        assert!(same, "the same run gave another {}", name.display());
    }
    assert!(output(&["verify", &run]).status.success(), "figures must not make a run look damaged");

    let unknown = output(&["report", &run, "--figures", "svg,pdf"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("svg, png, tex"), "{}", text(&unknown.stderr));
    // A file stands where the folder should be.
    fs::create_dir(dir.path().join("taken")).unwrap();
    fs::write(dir.path().join("taken/figures"), "").unwrap();
    let taken = output(&["report", &run, "--figures", "tex", "--out", &dir.path().join("taken").to_string_lossy()]);
    assert_eq!(taken.status.code(), Some(2), "{}", text(&taken.stderr));
}

#[test]
fn tokens_are_cut_where_the_tokenizer_says() {
    let dir = tempfile::tempdir().unwrap();
    let file = study(dir.path(), "").to_string_lossy().into_owned();
    let run = dir.path().join("run").to_string_lossy().into_owned();
    assert!(output(&["run", &file, "--out", &run, "--quiet"]).status.success());
    let models = std::env::var("SAGO_CACHE").ok().map(std::path::PathBuf::from).unwrap_or_else(|| {
        let cache = std::env::var("XDG_CACHE_HOME").ok().map(std::path::PathBuf::from);
        let home = || std::path::PathBuf::from(std::env::var("HOME").unwrap_or_default()).join(".cache");
        cache.unwrap_or_else(home).join("sago")
    });
    let model = models.join("models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf");
    let with = output(&["report", &run, "--tokenizer", &format!("smol={}", model.display())]);
    assert!(with.status.success(), "{}", text(&with.stderr));
    let shaded = fs::metadata(text(&with.stdout).trim_end()).unwrap().len();
    let plain = output(&["report", &run]);
    assert!(shaded > fs::metadata(text(&plain.stdout).trim_end()).unwrap().len(), "the page holds no tokens");
    let wrong = output(&["report", &run, "--tokenizer", &format!("smol={}", dir.path().join("prompts.csv").display())]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stderr));
}
