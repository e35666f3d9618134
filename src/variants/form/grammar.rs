//! Grammar: closed word classes of English, and lists that decide whether a rewrite is certain.
//!
//! In: nothing. Out: word lists in lower case.

pub(super) const BE: &[&str] = &["is", "are", "was", "were"];
pub(super) const DO: &[&str] = &["do", "does", "did"];
pub(super) const HAVE: &[&str] = &["has", "have", "had"];
pub(super) const MODAL: &[&str] = &["can", "could", "will", "would", "should", "may", "might", "must", "shall"];

/// Words that ask.
pub(super) const WH: &[&str] = &["who", "whom", "whose", "what", "which", "when", "where", "why", "how"];
/// Words that open a clause inside the sentence: what stands after them is not the main clause.
#[rustfmt::skip]
pub(super) const CLAUSE: &[&str] = &[
    "that", "who", "whom", "whose", "which", "where", "when", "why", "how", "what", "if", "because", "although",
    "though", "while", "whether", "since", "until", "unless", "before", "after", "so", "than", "whose",
];

#[rustfmt::skip]
pub(super) const PREPOSITIONS: &[&str] = &[
    "in", "on", "at", "by", "for", "from", "to", "of", "with", "without", "about", "against", "between", "among",
    "during", "before", "after", "under", "over", "into", "onto", "through", "throughout", "within", "across", "along",
    "around", "as", "behind", "below", "beneath", "beside", "beyond", "despite", "inside", "outside", "near", "off",
    "out", "per", "since", "than", "toward", "towards", "until", "up", "upon", "via", "down", "following", "according",
    "like", "prior", "due",
];

/// Prepositions that may close a question whose object was moved to its front ("What is it made of?").
#[rustfmt::skip]
pub(super) const STRANDED: &[&str] = &[
    "of", "for", "in", "from", "to", "with", "by", "on", "at", "about", "after", "against", "as", "into", "like",
    "under", "over", "through", "around", "between",
];

/// Words that open an adverbial before the question ("In 2015, who ...").
#[rustfmt::skip]
pub(super) const OPENERS: &[&str] = &[
    "in", "on", "at", "by", "for", "from", "of", "with", "among", "between", "during", "before", "after", "under",
    "within", "according", "as", "throughout", "since", "until", "besides", "apart", "aside", "out", "across", "prior",
    "following", "despite", "outside", "based", "given", "to", "over", "around", "about", "through", "behind", "like",
    "unlike", "alongside", "against", "upon",
];

#[rustfmt::skip]
pub(super) const DETERMINERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "his", "her", "its", "their", "our", "my", "your", "some",
    "any", "no", "every", "each", "all", "both", "another", "one", "two", "three", "four", "five", "six", "seven",
    "eight", "nine", "ten", "most", "more", "many", "several", "other", "first", "second", "last", "next", "new", "old",
];

pub(super) const PRONOUNS: &[&str] =
    &["i", "you", "he", "she", "it", "we", "they", "there", "someone", "somebody", "anyone", "everyone", "people"];

/// Adverbs that stand before a participle and go with it.
#[rustfmt::skip]
pub(super) const ADVERBS: &[&str] = &[
    "first", "originally", "officially", "finally", "initially", "recently", "ever", "also", "usually", "mostly",
    "commonly", "typically", "generally", "not", "never", "often", "always", "primarily", "formally", "actually",
    "currently", "formerly", "previously", "originally", "mainly", "now", "still", "best", "last", "publicly",
    "posthumously", "legally", "really", "likely", "already", "once", "later", "eventually", "traditionally",
    "famously", "widely", "sometimes",
];

/// Adjectives that a predicate may begin with ("Is the earth flat?").
#[rustfmt::skip]
pub(super) const ADJECTIVES: &[&str] = &[
    "good", "bad", "safe", "unsafe", "legal", "illegal", "possible", "impossible", "true", "false", "real", "round",
    "flat", "hot", "cold", "big", "small", "large", "dangerous", "toxic", "poisonous", "healthy", "unhealthy", "better",
    "worse", "smarter", "able", "unable", "necessary", "important", "different", "similar", "equal", "alive", "dead",
    "extinct", "famous", "rich", "poor", "young", "taller", "larger", "bigger", "smaller", "older", "younger", "faster",
    "longer", "stronger", "responsible", "available", "common", "rare", "blue", "green", "black", "white", "yellow",
    "harmful", "useful", "effective", "normal", "deaf", "blind", "immune", "visible", "edible", "native", "popular",
    "active", "inactive", "correct", "wrong", "contagious", "genetic", "mandatory", "worth", "eligible", "open",
    "closed",
];

/// Nouns that are a property of something and can't act: "the capital of X" is what is asked for, whole.
#[rustfmt::skip]
pub(super) const PROPERTIES: &[&str] = &[
    "name", "names", "title", "surname", "nickname", "capital", "population", "meaning", "definition", "purpose",
    "origin", "origins", "difference", "differences", "number", "date", "year", "month", "day", "color", "colour",
    "age", "height", "length", "width", "depth", "area", "size", "weight", "distance", "speed", "temperature", "symbol",
    "formula", "abbreviation", "acronym", "currency", "language", "nationality", "profession", "occupation",
    "birthplace", "birthday", "value", "sum", "product", "result", "answer", "role", "function", "functions",
    "significance", "importance", "cause", "causes", "effect", "effects", "impact", "advantage", "advantages",
    "disadvantages", "benefits", "benefit", "example", "examples", "synonym", "antonym", "term", "word", "way", "ways",
    "steps", "step", "type", "types", "kind", "kinds", "status", "genre", "subject", "topic", "theme", "genus",
    "species", "family", "order", "rank", "percentage", "percent", "amount", "cost", "price", "rate", "ratio",
    "frequency", "latitude", "longitude", "elevation", "altitude", "location", "address", "code", "motto", "slogan",
    "tagline", "anthem", "flag", "source", "sources", "reason", "reasons", "relationship", "similarity", "similarities",
    "characteristics", "features", "properties", "components", "elements", "parts", "stages", "phases", "principles",
    "symptoms", "signs", "consequences", "implications", "factors", "requirements", "rules", "total", "maximum",
    "minimum", "average", "score", "plot", "setting", "opposite", "plural", "etymology", "pronunciation", "tonnage",
    "displacement", "diameter", "circumference", "radius", "volume", "mass", "density", "magnitude", "duration",
    "gender", "denomination", "specialty", "abbreviations", "last-name", "pseudonym",
];

/// Things that are done rather than acted on: "Who did the voice of X?" has its verb in "did".
#[rustfmt::skip]
pub(super) const DONE: &[&str] = &[
    "voice", "voices", "music", "soundtrack", "score", "cover", "makeup", "artwork", "choreography", "vocals",
    "narration",
];
