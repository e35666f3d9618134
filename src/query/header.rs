//! Header: what a model's SQL says about itself in its first comment.
//!
//! In: the SQL. Out: sentence, grain, reads, formula, source, and the remarks below them.

/// The first comment of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// What the table is, in one sentence.
    pub(super) sentence: String,
    /// The entries by name, in their order; several lines where the SQL has several.
    pub(super) entries: Vec<(String, Vec<String>)>,
    /// Paragraphs that follow.
    pub(super) remarks: Vec<String>,
}

/// Entries of a header.
const ENTRIES: [&str; 4] = ["grain", "reads", "formula", "source"];

impl Header {
    /// Reads the header of the model `name`.
    pub(super) fn of(name: &str, sql: &str) -> Header {
        let lines: Vec<&str> = sql.lines().map_while(|line| line.strip_prefix("--")).collect();
        let mut header = Header::default();
        for (number, paragraph) in lines.split(|line| line.trim().is_empty()).filter(|p| !p.is_empty()).enumerate() {
            if number == 0 {
                let text = joined(paragraph);
                header.sentence = text.strip_prefix(&format!("{name}: ")).map_or(text.clone(), str::to_string);
                continue;
            }
            let mut remark = Vec::new();
            for line in paragraph {
                let (first, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
                if ENTRIES.contains(&first) && line.starts_with(&format!(" {first}")) {
                    header.entries.push((first.to_string(), vec![rest.trim().to_string()]));
                } else if line.starts_with("   ")
                    && remark.is_empty()
                    && let Some((_, lines)) = header.entries.last_mut()
                {
                    lines.push(line.trim().to_string());
                } else {
                    remark.push(*line);
                }
            }
            if !remark.is_empty() {
                header.remarks.push(joined(&remark));
            }
        }
        header
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_entry_by_entry() {
        let sql = "-- m: what it\n-- is.\n--\n-- grain    a, b\n-- reads    x,\n--          y\n-- formula  s = 1\n--\n\
                   -- A remark\n-- goes on.\n\nselect 1 -- grain no";
        let header = Header::of("m", sql);
        let entry = |name: &str, lines: &[&str]| (name.to_string(), lines.iter().map(ToString::to_string).collect());
        assert_eq!(header.sentence, "what it is.");
        assert_eq!(
            header.entries,
            [entry("grain", &["a, b"]), entry("reads", &["x,", "y"]), entry("formula", &["s = 1"])]
        );
        assert_eq!(header.remarks, ["A remark goes on."]);
    }
}
