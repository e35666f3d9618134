//! Verbs: which words can be verbs, and their past and third person.
//!
//! In: a word in lower case. Out: what it can be, and its forms; None for words that are not listed, so that callers refuse.

/// Base, past, participle.
const IRREGULAR: &[(&str, &str, &str)] = &[
    ("become", "became", "become"),
    ("begin", "began", "begun"),
    ("bear", "bore", "born"),
    ("beat", "beat", "beaten"),
    ("bend", "bent", "bent"),
    ("bind", "bound", "bound"),
    ("bite", "bit", "bitten"),
    ("blow", "blew", "blown"),
    ("break", "broke", "broken"),
    ("breed", "bred", "bred"),
    ("bring", "brought", "brought"),
    ("build", "built", "built"),
    ("buy", "bought", "bought"),
    ("catch", "caught", "caught"),
    ("choose", "chose", "chosen"),
    ("come", "came", "come"),
    ("cut", "cut", "cut"),
    ("deal", "dealt", "dealt"),
    ("dig", "dug", "dug"),
    ("do", "did", "done"),
    ("draw", "drew", "drawn"),
    ("drink", "drank", "drunk"),
    ("drive", "drove", "driven"),
    ("eat", "ate", "eaten"),
    ("fall", "fell", "fallen"),
    ("feed", "fed", "fed"),
    ("feel", "felt", "felt"),
    ("fight", "fought", "fought"),
    ("find", "found", "found"),
    ("flee", "fled", "fled"),
    ("fly", "flew", "flown"),
    ("forget", "forgot", "forgotten"),
    ("freeze", "froze", "frozen"),
    ("get", "got", "gotten"),
    ("give", "gave", "given"),
    ("go", "went", "gone"),
    ("grow", "grew", "grown"),
    ("have", "had", "had"),
    ("hear", "heard", "heard"),
    ("hide", "hid", "hidden"),
    ("hit", "hit", "hit"),
    ("hold", "held", "held"),
    ("hurt", "hurt", "hurt"),
    ("keep", "kept", "kept"),
    ("know", "knew", "known"),
    ("lay", "laid", "laid"),
    ("lead", "led", "led"),
    ("leave", "left", "left"),
    ("lend", "lent", "lent"),
    ("let", "let", "let"),
    ("light", "lit", "lit"),
    ("lose", "lost", "lost"),
    ("make", "made", "made"),
    ("mean", "meant", "meant"),
    ("meet", "met", "met"),
    ("overcome", "overcame", "overcome"),
    ("overthrow", "overthrew", "overthrown"),
    ("pay", "paid", "paid"),
    ("put", "put", "put"),
    ("quit", "quit", "quit"),
    ("read", "read", "read"),
    ("rebuild", "rebuilt", "rebuilt"),
    ("ride", "rode", "ridden"),
    ("ring", "rang", "rung"),
    ("rise", "rose", "risen"),
    ("run", "ran", "run"),
    ("say", "said", "said"),
    ("see", "saw", "seen"),
    ("seek", "sought", "sought"),
    ("sell", "sold", "sold"),
    ("send", "sent", "sent"),
    ("set", "set", "set"),
    ("shake", "shook", "shaken"),
    ("shine", "shone", "shone"),
    ("shoot", "shot", "shot"),
    ("show", "showed", "shown"),
    ("shut", "shut", "shut"),
    ("sing", "sang", "sung"),
    ("sink", "sank", "sunk"),
    ("sit", "sat", "sat"),
    ("sleep", "slept", "slept"),
    ("speak", "spoke", "spoken"),
    ("spend", "spent", "spent"),
    ("spread", "spread", "spread"),
    ("split", "split", "split"),
    ("stand", "stood", "stood"),
    ("steal", "stole", "stolen"),
    ("stick", "stuck", "stuck"),
    ("strike", "struck", "struck"),
    ("swear", "swore", "sworn"),
    ("sweep", "swept", "swept"),
    ("swim", "swam", "swum"),
    ("take", "took", "taken"),
    ("teach", "taught", "taught"),
    ("tear", "tore", "torn"),
    ("tell", "told", "told"),
    ("think", "thought", "thought"),
    ("throw", "threw", "thrown"),
    ("undergo", "underwent", "undergone"),
    ("understand", "understood", "understood"),
    ("wake", "woke", "woken"),
    ("wear", "wore", "worn"),
    ("win", "won", "won"),
    ("withdraw", "withdrew", "withdrawn"),
    ("write", "wrote", "written"),
];

/// Regular verbs that are hardly ever nouns or adjectives.
const PLAIN: &str = "abandon abolish accept achieve acquire adapt add adopt advocate agree allow announce annul appear apply \
appoint argue arrest arrive ask assassinate assist assume attend attract believe belong betray borrow bury capture carry \
celebrate choreograph clean climb collaborate collapse collect colonize combine commit compare compete complete compose \
conclude confess confirm connect conquer consider consist construct consume contain continue contribute convert convince cook \
create curate cut declare decide decline dedicate defeat defend define deliver depart depend depict derive describe deserve \
destroy determine develop die differ disappear discover discuss dissolve divorce donate drown earn edit elect embark emerge \
emigrate employ enable enact encourage enlist enroll enter erupt escape establish evolve examine exist expand expect expel \
explain explode explore express extend fail flourish follow gain gather graduate happen hate heal hire identify ignore imagine \
immigrate implement imply import improve include incorporate indicate induce inherit inspire install intend introduce invade \
invent invest investigate invite involve kill learn listen locate maintain manage manufacture marry mention migrate move \
negotiate nominate obtain occupy occur operate oppose originate participate perform persuade portray possess prefer prepare \
preserve preside prevent produce promote propose protect prove provide publish purchase pursue qualify react realize receive \
recognize recommend recover refer refuse regain reject relate relocate rely remain remarry remember remove rename renew \
renounce replace represent require resemble reside resign respond retain retire reveal save secede select separate serve settle \
solve start stop succeed suffer suggest supply surpass survive threaten transfer translate transmit turn unify unite unveil \
visit vote want weigh wish work worship live look play open use call change end begin";

/// Regular verbs that are as often nouns or adjectives: "the record", "a match".
const AMBIGUOUS: &str = "act age aim air answer attack attempt award ban base battle block cause charge chase claim coach command \
contract control cover crash cross crown cure damage dance date debut demand design direct double drain drop experience export \
face favor feature file fill film finish fire fit fix flow force form found guard guess guide head help host hunt impact increase \
influence issue join jump kick kiss land last launch leak lift like limit link list load love lower march mark mass match matter \
measure merge miss murder name need note notice number offer order organize own pass patent paint pick pioneer place plan point \
practice premiere present print promise pull push race raise rank reach record reduce reign release report request rescue rest \
result return review rhyme rule sail sample score share shift sign smell smoke sound sponsor star state stay step store study \
support surrender switch talk target taste test tie tour trade train travel treat try type value wait walk warn wash watch \
whistle wonder worry wrap yield";

/// Of the irregular and plain verbs, those that are nouns or adjectives too.
#[rustfmt::skip]
const ALSO_NOUNS: &[&str] = &[
    "beat", "bear", "bend", "bite", "blow", "break", "catch", "cut", "deal", "draw", "drink", "drive", "fall", "feed",
    "feel", "fight", "find", "fly", "hit", "hold", "hurt", "lead", "leave", "light", "mean", "meet", "read", "ride",
    "ring", "rise", "run", "set", "shake", "shoot", "show", "sink", "sleep", "split", "spread", "stand", "stick",
    "strike", "swim", "swear", "tear", "throw", "wake", "win", "clean", "cook", "decline", "defeat", "import",
    "advocate", "move", "purchase", "separate", "start", "stop", "supply", "transfer", "turn", "visit", "vote", "wish",
    "work", "live", "look", "play", "open", "use", "call", "change", "end", "elect", "complete", "worship", "gain",
    "hire", "kill", "escape", "do", "have", "get", "go", "make",
];

/// Of [`ALSO_NOUNS`], verbs all the same unless an article stands before them.
const MOSTLY_VERBS: &[&str] =
    &["do", "have", "get", "go", "make", "kill", "escape", "gain", "hire", "start", "stop", "leave", "win"];

/// Verbs whose last consonant doubles.
#[rustfmt::skip]
const DOUBLING: &[&str] = &[
    "ban", "commit", "drop", "expel", "fit", "occur", "patrol", "plan", "prefer", "refer", "star", "step", "stop",
    "transfer", "transmit", "wrap", "wed", "compel", "admit", "control",
];

/// Whether it can stand as a verb's base form.
pub(in crate::variants) fn is_base(word: &str) -> bool {
    word == "be" || IRREGULAR.iter().any(|(base, ..)| *base == word) || is_regular(word)
}

fn is_regular(word: &str) -> bool {
    PLAIN.split(' ').chain(AMBIGUOUS.split(' ')).any(|verb| verb == word)
}

/// Whether a base form is a noun or adjective as well.
pub(super) fn is_ambiguous(word: &str) -> bool {
    !MOSTLY_VERBS.contains(&word) && (ALSO_NOUNS.contains(&word) || AMBIGUOUS.split(' ').any(|verb| verb == word))
}

/// The past of a listed verb.
pub(super) fn past(word: &str) -> Option<String> {
    if let Some((_, past, _)) = IRREGULAR.iter().find(|(base, ..)| *base == word) {
        return Some((*past).to_string());
    }
    is_regular(word).then(|| regular_past(word))
}

fn regular_past(word: &str) -> String {
    if word.ends_with('e') {
        format!("{word}d")
    } else if let Some(stem) = consonant_y(word) {
        format!("{stem}ied")
    } else if DOUBLING.contains(&word) {
        let last: String = word.chars().rev().take(1).collect();
        format!("{word}{last}ed")
    } else {
        format!("{word}ed")
    }
}

/// The third person singular of a listed verb.
pub(super) fn third_person(word: &str) -> Option<String> {
    if word == "be" || !is_base(word) {
        return None;
    }
    Some(if word == "have" {
        "has".to_string()
    } else if let Some(stem) = consonant_y(word) {
        format!("{stem}ies")
    } else if ["s", "sh", "ch", "x", "z", "o"].iter().any(|end| word.ends_with(end)) {
        format!("{word}es")
    } else {
        format!("{word}s")
    })
}

fn consonant_y(word: &str) -> Option<&str> {
    let stem = word.strip_suffix('y')?;
    (!stem.ends_with(['a', 'e', 'o', 'u'])).then_some(stem)
}

/// Words in -ed that are no participles.
#[rustfmt::skip]
const NO_PARTICIPLES: &[&str] = &[
    "bed", "red", "need", "seed", "speed", "breed", "feed", "indeed", "hundred", "sacred", "naked", "wicked", "shed",
    "sled", "weed", "deed", "exceed", "proceed", "succeed", "embed", "united", "limited", "ted", "fred", "mohammed",
    "ahmed", "med", "reed", "creed", "greed", "alfred", "manfred", "sped", "newlywed", "moped", "quadruped",
    "watershed", "bloodshed", "kindred", "crooked", "rugged", "beloved", "aged",
];

/// Participles of verbs that are listed nowhere else here.
#[rustfmt::skip]
const FURTHER_PARTICIPLES: &[&str] = &[
    "shown", "known", "worn", "sewn", "sawn", "knit", "hung", "forbidden", "forgiven", "overheard", "cast", "broadcast",
    "slain", "bred", "burnt", "learnt", "spelt", "sworn", "unknown", "thrown", "proven", "dubbed", "hurt", "shed",
    "laid", "misled", "spun", "woven", "wound", "swept",
];

/// Whether it can be a past participle ("built", "located").
pub(super) fn is_participle(word: &str) -> bool {
    IRREGULAR.iter().any(|(.., participle)| *participle == word)
        || FURTHER_PARTICIPLES.contains(&word)
        || word.len() > 3 && word.ends_with("ed") && !NO_PARTICIPLES.contains(&word)
}

/// Verbs without a passive: their -ed form is a past, so a clause of its own.
#[rustfmt::skip]
const NO_PASSIVE: &[&str] = &[
    "died", "happened", "occurred", "arrived", "appeared", "disappeared", "existed", "lived", "remained", "emerged",
    "resigned", "retired", "belonged", "debuted", "graduated", "collapsed", "erupted", "resided", "reigned", "starred",
    "premiered", "participated", "competed", "survived", "succeeded", "failed", "wanted", "helped",
];

/// Whether it is a past that can't be a participle too ("wrote", "died"): the sign of another clause.
pub(super) fn is_past_only(word: &str) -> bool {
    NO_PASSIVE.contains(&word)
        || IRREGULAR.iter().any(|(_, past, _)| *past == word)
            && !IRREGULAR.iter().any(|(_, _, participle)| *participle == word)
            && word != "did"
            && word != "saw"
            && word != "rose"
            && word != "bore"
            && word != "fell"
}

/// Nouns in -ing of listed verbs.
#[rustfmt::skip]
const NOUNS_IN_ING: &[&str] = &[
    "building", "meaning", "painting", "setting", "meeting", "ending", "opening", "beginning", "feeling", "training",
    "recording", "reading", "writing", "spelling", "shooting", "ranking", "ruling", "landing", "feeding", "drawing",
    "bearing", "binding", "saying", "finding", "acting", "dating", "fighting",
    "crossing", "warning", "fishing", "closing", "casting", "clothing", "king", "wing",
];

/// Whether it is the -ing form of a listed verb and not commonly a noun.
pub(super) fn is_progressive(word: &str) -> bool {
    let Some(stem) = word.strip_suffix("ing") else { return false };
    let mut chars = stem.chars().rev();
    let doubled = matches!((chars.next(), chars.next()), (Some(a), Some(b)) if a == b);
    let undoubled = stem.get(..stem.len().saturating_sub(1)).unwrap_or("");
    !NOUNS_IN_ING.contains(&word) && (is_base(stem) || is_base(&format!("{stem}e")) || doubled && is_base(undoubled))
}

/// Whether a relative clause with this word as its predicate can lose "which is": "(which was) written by".
pub(in crate::variants) fn reduces(word: &str) -> bool {
    is_participle(word) && !is_past_only(word) || is_progressive(word)
}

/// Verbs that ask for something to be done with words or figures: how instructions begin.
const INSTRUCTIONS: &str = "add adjust analyse analyze annotate answer apply argue arrange ask assess assign brainstorm build calculate \
categorise categorize change check choose cite clarify classify come collect combine comment compare compile complete compose compute conduct \
condense construct consider continue contrast convert correct count craft create critique debate decide deduce define delete demonstrate derive \
describe design detect determine develop devise diagnose differentiate discuss distinguish divide draft draw edit elaborate eliminate employ \
enumerate estimate evaluate examine expand explain explore express extract figure fill filter find fix follow forecast form format formulate \
generate give group guess highlight hypothesize identify illustrate imagine implement improve include incorporate indicate infer insert \
interpret introduce invent investigate judge justify keep label list locate look make map match measure mention minimize modify multiply name \
offer optimize order organise organize outline output paraphrase parse pick plan plot predict prepare present print produce pronounce propose \
prove provide put quote rank rate read rearrange recall recite recommend recreate reduce refer reformat reformulate remove rename render \
reorder reorganize repeat rephrase replace report represent research respond restate restructure retell return reverse review revise rewrite \
round say score search select separate share show simplify simulate sketch solve sort specify split spell state structure subtract suggest sum \
summarise summarize supply synthesize take tell think trace transcribe transform translate turn type unscramble update use utilize validate \
verify visualize write re-write re-arrange re-tell re-order re-phrase compress train synchronize pretend manipulate entertain troubleshoot \
append serve download send learn alter punctuate correct calculate capitalize combine assume act play research compile craft shorten lengthen \
paraphrase inspect invent reply role-play";

/// Whether instructions begin with it.
pub(in crate::variants) fn is_instruction(word: &str) -> bool {
    INSTRUCTIONS.split(' ').any(|verb| verb == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_listed_verbs() {
        for (base, wanted) in [
            ("go", "went"),
            ("take", "took"),
            ("die", "died"),
            ("marry", "married"),
            ("play", "played"),
            ("stop", "stopped"),
            ("refer", "referred"),
            ("visit", "visited"),
            ("found", "founded"),
        ] {
            assert_eq!(past(base).as_deref(), Some(wanted));
        }
        for (base, wanted) in [
            ("go", "goes"),
            ("marry", "marries"),
            ("play", "plays"),
            ("have", "has"),
            ("watch", "watches"),
            ("stand", "stands"),
        ] {
            assert_eq!(third_person(base).as_deref(), Some(wanted));
        }
        assert_eq!((past("lie"), past("table"), third_person("be")), (None, None, None));
    }

    #[test]
    fn what_a_word_can_be() {
        assert!(["built", "located", "born", "written", "won"].iter().all(|w| is_participle(w)));
        assert!(!["united", "red", "went", "hundred"].iter().any(|w| is_participle(w)));
        assert!(["went", "died", "began", "wrote"].iter().all(|w| is_past_only(w)));
        assert!(!["built", "won", "located"].iter().any(|w| is_past_only(w)));
        assert!(["playing", "making", "running"].iter().all(|w| is_progressive(w)));
        assert!(!["king", "building", "thing", "evening"].iter().any(|w| is_progressive(w)));
    }
}
