//! Behaviour of the variants through the library: purity, nesting, what is never touched, and rewrites checked by hand.

use std::collections::{BTreeMap, BTreeSet};

use sago::datasets::Prompt;
use sago::variants::{Grid, Level, Place, Subtype, Variant, make};

/// Prompts of every sort, odd ones among them.
const PROMPTS: [&str; 24] = [
    "Which river flows through Vienna?",
    "who wrote the first dictionary of english",
    "Write a short poem about the sea.",
    "Sort the numbers below.\n\n12, 7, 31, 5",
    "Translate the sentence into French.\n\nWhere does the train to Lyon leave from?",
    "Explain what `for i in range(3): print(i)` does.",
    "Fix the function:\n```python\ndef add(a, b):\n    return a - b\n```\nand say what was wrong.",
    "Fill in {first name} and {{ user.city }} and <last name> in [THE TEXT].",
    "See https://example.org/a?b=c&d=e for details and sum it up.",
    "Compute 12 * (3 + 4) for me.",
    "Was Ada Lovelace born in 1815?",
    "Hello",
    "",
    " ",
    "\n\n",
    "🦀🚀 what do these mean 🙂?",
    "什么是光合作用？",
    "ما هي عاصمة فرنسا؟",
    "Straße, naïve café, ΟΔΟΣ οδός, ıİ",
    "NASA",
    "12 34 56",
    "a\tb\r\nc",
    "<|im_end|> What is this?",
    "                                                                                                    ",
];

fn prompt(text: &str) -> Prompt {
    Prompt {
        dataset: "set".to_string(),
        prompt_id: "p1".to_string(),
        text: text.to_string(),
        answers: vec![],
        category: None,
        source_row: 0,
        source_hash: String::new(),
    }
}

fn all(text: &str) -> BTreeMap<String, Variant> {
    make(&prompt(text), &Grid::paper(), 7).into_iter().map(|v| (v.variant_id.clone(), v)).collect()
}

fn text_of<'a>(variants: &'a BTreeMap<String, Variant>, id: &str) -> Option<&'a str> {
    variants.get(id).unwrap_or_else(|| panic!("no {id}")).text.as_deref()
}

/// Whether `small` is what is left of `large` when some characters are taken out.
fn is_subsequence(small: &str, large: &str) -> bool {
    let mut rest = large.chars();
    small.chars().all(|c| rest.any(|d| d == c))
}

#[test]
fn every_cell_has_a_row_and_ids_are_unique() {
    for text in PROMPTS {
        let rows = make(&prompt(text), &Grid::paper(), 7);
        assert_eq!(rows.iter().filter(|v| !v.is_baseline).count(), 81, "{text:?}");
        let ids: BTreeSet<&str> = rows.iter().map(|v| v.variant_id.as_str()).collect();
        assert_eq!(ids.len(), rows.len());
        assert_eq!(rows[0].variant_id, "baseline");
        assert_eq!(rows[0].text.as_deref(), Some(text));
        let baselines = rows.iter().take_while(|v| v.is_baseline).count();
        assert_eq!(baselines, rows.iter().filter(|v| v.is_baseline).count(), "baselines first");
        for v in &rows {
            assert_eq!(v.is_valid, v.text.is_some(), "{text:?} {}", v.variant_id);
            assert_eq!(v.is_valid, v.invalid_reason.is_none());
            let baseline = rows.iter().find(|b| b.variant_id == v.baseline_id).unwrap();
            assert!(baseline.is_baseline);
            assert!(v.text.is_none() || baseline.text.is_some(), "{}", v.variant_id);
            assert_eq!((v.seed, v.dataset.as_str(), v.prompt_id.as_str()), (7, "set", "p1"));
        }
    }
}

#[test]
fn ids_read_as_the_tables_promise() {
    let rows = all("Which river flows through Vienna?");
    for id in
        ["spacing/global/20", "politeness/prefix/-4", "length/global/0.25", "length/global/2", "form/global/imperative"]
    {
        assert!(rows.contains_key(id), "{id}");
    }
    let row = &rows["casing/suffix/75"];
    assert_eq!((row.family.as_str(), row.subtype.as_str()), ("surface_noise", "casing"));
    assert_eq!((row.place.as_deref(), row.strength, row.level.as_deref()), (Some("suffix"), Some(75.0), Some("75")));
    let row = &rows["form/global/imperative"];
    assert_eq!(
        (row.family.as_str(), row.strength, row.level.as_deref()),
        ("structural_rewriting", None, Some("imperative"))
    );
    assert_eq!(rows["politeness/global/2"].family, "social_register");
    assert_eq!(rows["baseline"].place, None);
}

#[test]
fn a_variant_is_the_same_whatever_else_is_made() {
    for text in PROMPTS {
        let whole = all(text);
        for subtype in Subtype::ALL {
            for v in make(&prompt(text), &Grid::paper().only(&[subtype]), 7) {
                assert_eq!(Some(&v), whole.get(&v.variant_id), "{text:?}");
            }
        }
        for v in make(&prompt(text), &Grid::paper(), 7) {
            if let Some(same) = whole.get(&v.variant_id) {
                assert_eq!(&v, same);
            }
        }
        let single =
            Grid::new(BTreeMap::from([(Subtype::Spacing, vec![Level::from(20.0)])]), vec![Place::Global]).unwrap();
        assert_eq!(make(&prompt(text), &single, 7).last(), whole.get("spacing/global/20"));
    }
}

#[test]
fn seed_data_set_and_prompt_id_all_matter() {
    let text = "What do the seven long rivers of the old continent carry to the sea every spring";
    let base = make(&prompt(text), &Grid::paper().only(&[Subtype::Spacing]), 7);
    let seeded = make(&prompt(text), &Grid::paper().only(&[Subtype::Spacing]), 8);
    let other_id =
        make(&Prompt { prompt_id: "p2".into(), ..prompt(text) }, &Grid::paper().only(&[Subtype::Spacing]), 7);
    let other_set =
        make(&Prompt { dataset: "set2".into(), ..prompt(text) }, &Grid::paper().only(&[Subtype::Spacing]), 7);
    let global = |rows: &[Variant]| rows.iter().find(|v| v.variant_id == "spacing/global/20").unwrap().text.clone();
    for changed in [seeded, other_id, other_set] {
        assert_ne!(global(&base), global(&changed));
    }
}

#[test]
fn noise_is_nested_and_taking_it_away_gives_the_prompt() {
    for text in PROMPTS {
        let rows = all(text);
        for place in ["prefix", "suffix", "global"] {
            for (subtype, strengths) in [("spacing", [1, 5, 20, 50, 100]), ("punctuation", [1, 3, 5, 10, 20])] {
                let mut below = text.to_string();
                for n in strengths {
                    let noisy = text_of(&rows, &format!("{subtype}/{place}/{n}")).unwrap();
                    assert_eq!(noisy.chars().count(), text.chars().count() + n, "{text:?} {subtype} {place} {n}");
                    assert!(is_subsequence(&below, noisy), "{below:?} {noisy:?}");
                    assert_eq!(noisy.matches('?').count(), text.matches('?').count());
                    below = noisy.to_string();
                }
                let ends = match place {
                    "prefix" => below.ends_with(text),
                    "suffix" => below.starts_with(text),
                    _ => true,
                };
                assert!(ends, "{subtype} {place}");
            }
            let spaced = text_of(&rows, &format!("spacing/{place}/100")).unwrap();
            let words = |s: &str| s.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            assert_eq!(words(spaced), words(text));
        }
    }
}

#[test]
fn casing_is_nested_and_changes_nothing_but_case() {
    for text in PROMPTS {
        let rows = all(text);
        for place in ["prefix", "suffix", "global"] {
            let mut before: BTreeSet<usize> = BTreeSet::new();
            for percent in [10, 25, 50, 75, 100] {
                let Some(cased) = text_of(&rows, &format!("casing/{place}/{percent}")) else { continue };
                assert_eq!(cased.to_lowercase(), text.to_lowercase());
                let changed: BTreeSet<usize> = text
                    .chars()
                    .zip(cased.chars())
                    .enumerate()
                    .filter(|(_, (a, b))| a != b)
                    .map(|(at, _)| at)
                    .collect();
                assert!(!changed.is_empty() && changed.is_superset(&before), "{text:?} {place} {percent}");
                let half = text.chars().count() / 2;
                assert!(changed.iter().all(|&at| match place {
                    "prefix" => at < half,
                    "suffix" => at >= half,
                    _ => true,
                }));
                before = changed;
            }
        }
    }
}

#[test]
fn protected_parts_stay_whole_in_everything_but_casing() {
    for (text, parts) in [
        (PROMPTS[5], vec!["`for i in range(3): print(i)`"]),
        (PROMPTS[6], vec!["```python\ndef add(a, b):\n    return a - b\n```\n"]),
        (PROMPTS[7], vec!["{first name}", "{{ user.city }}", "<last name>", "[THE TEXT]"]),
        (PROMPTS[8], vec!["https://example.org/a?b=c&d=e "]),
        (PROMPTS[9], vec!["12 * (3 + 4)"]),
        (PROMPTS[22], vec!["<|im_end|>"]),
    ] {
        for v in make(&prompt(text), &Grid::paper(), 7) {
            let Some(wording) = v.text.filter(|_| v.subtype != "casing") else { continue };
            for part in &parts {
                assert!(wording.contains(part.trim_end_matches(' ')), "{part:?} in {} {wording:?}", v.variant_id);
                // The mark behind an address would become part of it.
                assert!(
                    v.place.as_deref() != Some("global")
                        || v.subtype == "politeness"
                        || wording.contains(part.trim_end())
                );
            }
        }
    }
}

#[test]
fn framing_keeps_the_prompt_word_for_word() {
    for text in PROMPTS {
        for v in make(&prompt(text), &Grid::paper().only(&[Subtype::Politeness]), 7) {
            let wording = v.text.unwrap();
            assert!(wording.contains(text) && (v.is_baseline || wording != text));
        }
    }
}

/// Question, and its instruction; None where refusing is right.
const IMPERATIVES: [(&str, Option<&str>); 66] = [
    // The asking word is the subject: nothing moves.
    ("Who painted the ceiling?", Some("Tell me who painted the ceiling.")),
    ("who sang it first", Some("tell me who sang it first")),
    ("What causes thunder?", Some("Tell me what causes thunder.")),
    ("Which team won the cup in 1998?", Some("Tell me which team won the cup in 1998.")),
    ("Who is singing at the gala?", Some("Tell me who is singing at the gala.")),
    ("Who was elected mayor of Graz?", Some("Tell me who was elected mayor of Graz.")),
    ("Which metal is used in most coins?", Some("Tell me which metal is used in most coins.")),
    ("Which actor is well known for slapstick?", Some("Tell me which actor is well known for slapstick.")),
    ("Which country has won the most medals?", Some("Tell me which country has won the most medals.")),
    ("How many people live in Oslo?", Some("Tell me how many people live in Oslo.")),
    ("Which is heavier, gold or lead?", Some("Tell me which is heavier, gold or lead.")),
    ("Who was the first woman on the summit?", Some("Tell me who was the first woman on the summit.")),
    // "do" goes, the verb is inflected.
    ("Where did the fleet land?", Some("Tell me where the fleet landed.")),
    ("When did Maria Rossi write the novel?", Some("Tell me when Maria Rossi wrote the novel.")),
    ("What does a cooper make?", Some("Tell me what a cooper makes.")),
    ("What do bees eat in winter?", Some("Tell me what bees eat in winter.")),
    ("In what year did the empire fall?", Some("Tell me in what year the empire fell.")),
    ("When did the siege of the town begin?", Some("Tell me when the siege of the town began.")),
    ("How do I remove a stain?", Some("Tell me how to remove a stain.")),
    ("How many moons does the planet have?", Some("Tell me how many moons the planet has.")),
    ("who did the voice of the dragon", Some("tell me who did the voice of the dragon")),
    ("when did the clocks start and stop", None),
    ("When did the record label glorp?", None),
    // Forms of "be".
    ("What is the capital of Peru?", Some("Tell me the capital of Peru.")),
    ("What was the name of the ship that sank?", Some("Tell me what the name was of the ship that sank.")),
    ("What is an isthmus?", Some("Tell me what an isthmus is.")),
    ("What are some ways to save water?", Some("Tell me some ways to save water.")),
    ("What is the bridge made of?", Some("Tell me what the bridge is made of.")),
    ("Who is Marie Dupont?", Some("Tell me who Marie Dupont is.")),
    ("Who was the castle named after?", Some("Tell me who the castle was named after.")),
    ("When was the bridge over the Inn built?", Some("Tell me when the bridge over the Inn was built.")),
    ("Where is the tomb of the queen located?", Some("Tell me where the tomb of the queen is located.")),
    ("Where is Mount Etna?", Some("Tell me where Mount Etna is.")),
    ("How tall is the statue?", Some("Tell me how tall the statue is.")),
    ("Why is the sky blue?", Some("Tell me why the sky is blue.")),
    ("How many islands are there in the bay?", Some("Tell me how many islands there are in the bay.")),
    ("What colour is the flag of Chad?", Some("Tell me what colour the flag of Chad is.")),
    ("when was the last time they won", Some("tell me when the last time they won was")),
    ("When is the next film being released?", Some("Tell me when the next film is being released.")),
    ("Which court was politician Jan Berg a judge at from 1878 to 1881?", None),
    ("What is the king of Spain doing in the photo he signed and framed?", None),
    // Yes or no.
    ("Is Mars a planet?", Some("Tell me whether Mars is a planet.")),
    ("Is the earth flat?", Some("Tell me whether the earth is flat.")),
    ("Are Lima and Quito both capitals?", Some("Tell me whether Lima and Quito are both capitals.")),
    ("Was the treaty signed in Paris?", Some("Tell me whether the treaty was signed in Paris.")),
    ("Do owls hunt by day?", Some("Tell me whether owls hunt by day.")),
    ("Did Leif Olsen cross the sea?", Some("Tell me whether Leif Olsen crossed the sea.")),
    ("Can people live on the moon?", Some("Tell me whether people can live on the moon.")),
    ("Is it legal to pick mushrooms?", Some("Tell me whether it is legal to pick mushrooms.")),
    ("Isn't it late?", None),
    ("Are the two words below synonyms?", None),
    // Adverbials, conditions, contractions, several sentences.
    ("In 2011, who led the party?", Some("Tell me who, in 2011, led the party.")),
    ("If it rains, what happens?", Some("Tell me what happens if it rains.")),
    ("In 2011, which South Asian country banned it?", Some("Tell me which South Asian country, in 2011, banned it.")),
    ("What's next for the town?", Some("Tell me what is next for the town.")),
    ("The lake froze over. Who crossed it?", Some("The lake froze over. Tell me who crossed it.")),
    ("Who is it? What does it want?", Some("Tell me who it is. Tell me what it wants.")),
    ("Which word fits?\n\nThe cat ___ on the mat.", Some("Tell me which word fits.\n\nThe cat ___ on the mat.")),
    // Asked last.
    ("The poet Ana Lima was born in what year?", Some("Tell me in what year the poet Ana Lima was born.")),
    ("The drug is made by the firm that has its seat in what city?", None),
    ("The harbour is famous as what?", None),
    ("Which club was a young keeper sacked from in 2009?", None),
    ("What was the name given to the ship?", None),
    ("In the film, the actor wrote a song, who sang it?", None),
    // A request in the form of a question.
    ("Could you please explain gravity?", Some("Explain gravity.")),
    ("who wrote it and what is its title", None),
];

#[test]
fn questions_become_instructions_or_are_refused() {
    for (question, wanted) in IMPERATIVES {
        let rows = all(question);
        let row = &rows["form/global/imperative"];
        assert_eq!(row.text.as_deref(), wanted, "{question:?} {:?}", row.invalid_reason);
        assert_eq!(row.baseline_id, "baseline", "a question is its own baseline: {question:?}");
        assert!(!rows.contains_key("form/global/interrogative"));
        assert_eq!(row.rewriter.as_deref(), Some("rules"));
    }
}

/// Instruction, and its question.
const INTERROGATIVES: [(&str, &str); 16] = [
    ("Write a poem about rain.", "Could you write a poem about rain?"),
    ("Name three rivers", "Could you name three rivers?"),
    ("Please explain tides.", "Could you please explain tides?"),
    ("Briefly describe Rome.", "Could you briefly describe Rome?"),
    ("list all the moons of jupiter", "could you list all the moons of jupiter?"),
    ("Given two words, form a sentence.", "Given two words, could you form a sentence?"),
    (
        "Using the data below, compute the mean.\n\n3, 4, 5",
        "Using the data below, could you compute the mean?\n\n3, 4, 5",
    ),
    ("Rewrite the following sentence:\n\nHe go home.", "Could you rewrite the following sentence?\n\nHe go home."),
    ("Correct the following sentence: He go home.", "Could you correct the following sentence? He go home."),
    ("Translate \"How are you?\" into Dutch.", "Could you translate \"How are you?\" into Dutch?"),
    (
        "Sum up the text. Use five words.\n\nA cat sat.",
        "Could you sum up the text? Could you use five words?\n\nA cat sat.",
    ),
    ("Answer this question: Who wrote it?", "Could you answer this question? Who wrote it?"),
    ("A train leaves at noon. Calculate its speed.", "A train leaves at noon. Could you calculate its speed?"),
    ("The cat sat.\n\nTranslate the sentence above.", "The cat sat.\n\nCould you translate the sentence above?"),
    ("Explain what `x = 1` does.", "Could you explain what `x = 1` does?"),
    ("Tell me about your day!", "Could you tell me about your day?"),
];

#[test]
fn instructions_get_a_question_as_their_baseline() {
    for (instruction, wanted) in INTERROGATIVES {
        let rows = all(instruction);
        let baseline = &rows["form/global/interrogative"];
        assert_eq!(baseline.text.as_deref(), Some(wanted), "{instruction:?} {:?}", baseline.invalid_reason);
        assert!(
            baseline.is_baseline && baseline.baseline_id == "form/global/interrogative" && baseline.subtype == "form"
        );
        let row = &rows["form/global/imperative"];
        assert_eq!((row.text.as_deref(), row.baseline_id.as_str()), (Some(instruction), "form/global/interrogative"));
    }
}

#[test]
fn what_is_neither_is_refused_with_a_reason() {
    for text in [
        "The weather is fine today.",
        "list of kings of france",
        "only player with two titles",
        "Answer keys are on the table.",
        "什么是光合作用？",
        "",
    ] {
        let rows = all(text);
        for id in ["form/global/interrogative", "form/global/imperative"] {
            let row = &rows[id];
            assert!(row.text.is_none() && !row.is_valid && row.invalid_reason.is_some(), "{text:?} {:?}", row.text);
        }
    }
}

/// Prompt, multiple, and the shortened wording; None where content would be lost.
const SHORTER: [(&str, f64, Option<&str>); 22] = [
    ("What is the capital of France?", 0.5, Some("Capital of France?")),
    ("What is the capital of France?", 0.25, Some("France's capital?")),
    ("What is the largest island in the Baltic?", 0.5, Some("Largest island in Baltic?")),
    ("Who was the first woman on the summit?", 0.5, Some("First woman on summit?")),
    ("Why is the sky blue?", 0.5, Some("Why sky blue?")),
    ("How were the hills formed?", 0.5, Some("How hills formed?")),
    ("How many legs are there on a spider?", 0.5, Some("How many legs on spider?")),
    ("Please describe the role of a judge", 0.5, Some("Describe role of judge")),
    ("Generate a list of the top 5 tips for a beginner.", 0.5, Some("List top 5 tips for beginner.")),
    ("Name a sport which is played on the beach.", 0.5, Some("Name sport played on beach.")),
    ("what is the origin of the name smith", 0.5, Some("origin of the name smith")),
    ("Could you please explain the tides?", 0.5, Some("Explain the tides.")),
    ("What is the role of the \"Lord of the Flies\" here?", 0.5, None),
    ("Who wrote Hamlet?", 0.5, None),
    ("Who wrote Hamlet?", 0.25, None),
    ("Which king of Spain sold six ships to Portugal in 1588?", 0.5, None),
    ("Do not use the word never in a sentence.", 0.25, None),
    ("Categorize the following as a fruit or a root.\n\nCarrot", 0.25, None),
    ("What is the king of Spain known for?", 0.5, None),
    ("what is the song in the hall of the kings about", 0.5, None),
    ("Explain `x = f(1, 2)` to a child of five in plain words.", 0.25, None),
    ("什么是光合作用？", 0.5, None),
];

#[test]
fn prompts_are_shortened_faithfully_or_refused() {
    for (text, multiple, wanted) in SHORTER {
        let rows = all(text);
        let row = &rows[&format!("length/global/{multiple}")];
        assert_eq!(row.text.as_deref(), wanted, "{text:?} {multiple} {:?}", row.invalid_reason);
    }
}

#[test]
fn lengths_are_within_a_quarter_of_the_target() {
    for text in PROMPTS.into_iter().chain(IMPERATIVES.map(|(q, _)| q)).chain(INTERROGATIVES.map(|(i, _)| i)) {
        let words = text.split_whitespace().count() as f64;
        for v in make(&prompt(text), &Grid::paper().only(&[Subtype::Length]), 7).into_iter().skip(1) {
            let Some(wording) = v.text else { continue };
            let target = v.strength.unwrap() * words;
            let reached = wording.split_whitespace().count() as f64;
            assert!(
                (reached - target).abs() <= (0.25 * target).max(0.5),
                "{text:?} {reached} of {target}: {wording:?}"
            );
            assert!(v.strength < Some(1.0) || wording.ends_with(text));
        }
    }
}

#[test]
fn no_text_makes_it_fail() {
    // Pieces that the rules look for, in every order of three.
    let pieces = [
        "who", "What is", "did the", "?", ",", "\"", "`", "(", "in which", "and", "🙂", "'s", ":", "\n\n", "Write",
        "ß", ".", "{", "1998", "not",
    ];
    for a in pieces {
        for b in pieces {
            for c in pieces {
                let text = format!("{a} {b} {c}");
                assert_eq!(
                    make(&prompt(&text), &Grid::paper(), 1).iter().filter(|v| !v.is_baseline).count(),
                    Grid::paper().len()
                );
            }
        }
    }
}

#[test]
fn the_page_of_wordings_is_what_the_program_makes() {
    let (page, text) = sago::variants::page().unwrap();
    let there =
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap_or_default();
    let line = there.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(there == text, "{page} is not what the program makes (line {line:?}): run `make dictionary`");
    // A row of each of the 81 wordings of the grid.
    assert_eq!(text.lines().filter(|line| line.starts_with("| `")).count(), 81);
}
