// Compare: a baseline and a wording side by side.
//
// In: two texts. Out: their words with what was taken out and put in marked; or tokens shaded by probability.

/// The two texts as `{before, after}`, each a list of nodes.
function marked(before, after) {
  // A pair of long texts that have little in common takes long: after half a second they are shown as they are.
  const parts = Diff.diffWordsWithSpace(before, after, { timeout: 500 });
  if (!parts) return { before: [before], after: [after], tooLong: true };
  const nodes = (leave, tag) => parts.filter((part) => !part[leave])
    .map((part) => (part.added || part.removed ? element(tag, {}, part.value) : part.value));
  return { before: nodes("added", "del"), after: nodes("removed", "ins"), tooLong: false };
}

/// A text with each token shaded: the stronger, the less probable. `tokens`: lengths and log-probabilities.
function shaded(text, [lengths, logprobs]) {
  let from = 0;
  return lengths.map((length, i) => {
    const piece = text.slice(from, from + length);
    from += length;
    if (length === 0) return null;
    if (logprobs[i] === null) return element("span", { class: "token unknown", title: "no probability" }, piece);
    const probability = Math.exp(logprobs[i]);
    const title = `probability ${probability.toPrecision(2)}`;
    return element("span", { class: "token", title, style: `--doubt: ${((1 - probability) * 100).toFixed(0)}%` }, piece);
  });
}

/// The same as numbers, for those who can't point at a token.
function tokenTable(title, text, [lengths, logprobs]) {
  let from = 0;
  const rows = lengths.map((length, i) => {
    const piece = text.slice(from, from + length);
    from += length;
    return [i + 1, JSON.stringify(piece), logprobs[i] === null ? null : Number(Math.exp(logprobs[i]).toPrecision(2))];
  });
  return element("details", {}, element("summary", {}, `Tokens of ${title}`), table({ caption: `Tokens of the response, ${title}`, head: ["place", "token", "probability"], rows }));
}

/// One side: what it is, its prompt and its response.
function side(title, prompt, response, notes) {
  const block = (name, content) => [element("h4", {}, name), element("div", { class: "text", tabindex: "0", role: "group", dir: "auto", "aria-label": `${title}: ${name}` }, content)];
  return element("div", { class: "side" }, element("h3", {}, title), block("prompt", prompt), block("response", response), notes.map((text) => element("p", { class: "small" }, text)));
}
