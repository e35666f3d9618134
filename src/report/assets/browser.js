// Browser: every wording beside its baseline, the one that moved most first.
//
// In: packets of texts, one of wordings a data set and one of responses a model and data set, opened when they are asked
// for. Out: a list of wordings and the chosen one beside its baseline.

function promptBrowser(page) {
  const how = "Choose a model, a data set and a prompt; the list shows its wordings, the one whose behaviour moved most on the chosen axis first, and the chosen one stands beside its baseline with the differences marked.";
  const models = page.runs.flatMap((run, i) => {
    const texts = page.texts.find((texts) => texts.run === i);
    const names = distinct((texts?.packets ?? []).map((packet) => packet.model)).filter((name) => name !== null);
    return names.map((model) => ({ run: i, model, text: page.several ? `${model} (${run.name})` : model }));
  });
  if (page.texts.length === 0) return tableSection("prompts", "Prompts and responses", how, note("This page was made without prompts (--without-prompts)."));
  const limits = page.texts.filter((texts) => texts.left_out > 0).map((texts) => note(
    `${page.several ? `${page.runs[texts.run].name}: ` : ""}${texts.left_out} of ${count(texts.prompts, "prompt", "prompts")} were left out because the page would have been larger than allowed; `
    + `kept are those of each data set whose behaviour moved most${texts.ordered_by ? ` on ${texts.ordered_by}` : ""}, mean over models. All are in the run: sago sql RUN, tables variants, generations and deltas; --max-size allows more.`));
  if (models.length === 0) return tableSection("prompts", "Prompts and responses", how, limits.length > 0 ? limits : note("The run holds no responses and no deltas of single wordings."));

  const state = { model: 0, dataset: null, prompt: "", axis: null, view: "diff" };
  const open = new Map();
  const packet = (run, dataset, model) => {
    const entry = page.texts.find((texts) => texts.run === run).packets.find((entry) => entry.dataset === dataset && entry.model === model);
    if (!entry) return Promise.resolve(null);
    if (!open.has(entry.id)) open.set(entry.id, unpack(entry.id));
    return open.get(entry.id);
  };
  const controls = element("div", { class: "controls" });
  const said = element("p", { class: "small", role: "status" });
  const detail = element("div", { class: "detail" });
  let shown = null;
  let asked = 0;
  let words = "";
  const list = virtualList("wordings", "Wordings, the one that moved most first", (row) => show(shown.rows[row]));

  async function refresh() {
    const { run, model } = models[state.model];
    const datasets = distinct(page.texts.find((texts) => texts.run === run).packets.filter((entry) => entry.model === model).map((entry) => entry.dataset));
    if (!datasets.includes(state.dataset)) state.dataset = datasets[0];
    // Of two that are asked for one after the other, the first may be there last.
    const turn = ++asked;
    const [texts, answers] = await Promise.all([packet(run, state.dataset, null), packet(run, state.dataset, model)]);
    if (turn !== asked) return;
    const axes = page.main.concat(page.axes.map((axis) => axis.axis)).filter((axis, i, all) => all.indexOf(axis) === i && answers.columns[`delta.${axis}`]);
    if (!axes.includes(state.axis)) state.axis = ["bleu", ...axes].find((axis) => axes.includes(axis)) ?? null;
    const wordings = texts.wordings;
    const prompts = new Map(toRows(texts.prompts).map((row) => [row.prompt_id, row]));
    const ids = distinct(Array.from({ length: wordings.rows }, (_, row) => at(wordings.columns.prompt_id, row)));
    if (state.prompt !== "" && !ids.includes(state.prompt)) state.prompt = "";
    const byWording = new Map();
    const rows = [];
    for (let row = 0; row < wordings.rows; row++) {
      const prompt = at(wordings.columns.prompt_id, row);
      byWording.set(JSON.stringify([prompt, at(wordings.columns.variant_id, row)]), row);
      if (!wordings.columns.is_baseline[row] && (state.prompt === "" || state.prompt === prompt)) rows.push(row);
    }
    const delta = (row) => (state.axis ? answers.columns[`delta.${state.axis}`][row] : null);
    const size = (row) => (delta(row) === null ? -1 : Math.abs(delta(row)));
    rows.sort((a, b) => size(b) - size(a) || a - b);
    shown = { answers, wordings, prompts, byWording, rows, axes, delta };
    controls.replaceChildren(
      select("prompts-model", "Model", models.map(({ text }, i) => ({ value: String(i), text })), String(state.model), (value) => change({ model: Number(value) })),
      select("prompts-dataset", "Data set", options(datasets), state.dataset, (value) => change({ dataset: value, prompt: "" })),
      select("prompts-prompt", "Prompt", [{ value: "", text: `all ${ids.length}` }, ...ids.map((id) => ({ value: id, text: promptName(id) }))], state.prompt, (value) => change({ prompt: value })),
      select("prompts-axis", "Sorted by", options(axes, (axis) => `|raw delta| on ${axis}`), state.axis, (value) => change({ axis: value })),
      answers.columns.tokens
        ? select("prompts-view", "Marks", [{ value: "diff", text: "differences" }, { value: "probability", text: "tokens: the stronger the shade, the less probable" }], state.view, (value) => change({ view: value }))
        : "");
    words = `${count(rows.length, "wording", "wordings")}.${answers.columns.tokens ? "" : " Tokens are not shaded by their probability: the run keeps token ids, and no tokenizer was given (--tokenizer) to say where each token stands in the text."}`;
    said.textContent = words;
    if (rows.length === 0) detail.replaceChildren(note("This prompt has no wording but its baseline."));
    list.show(rows.length, (row) => write(rows[row]));
  }
  const promptName = (id) => {
    const text = shown.prompts.get(id)?.text;
    return text ? `${id}: ${text.slice(0, 60)}${text.length > 60 ? "…" : ""}` : id;
  };
  async function change(what) {
    Object.assign(state, what);
    const focused = document.activeElement?.id;
    try {
      await refresh();
    } catch (error) {
      said.textContent = `The texts could not be opened: ${error.message}`;
    }
    // Controls are made anew; the reader may have gone elsewhere meanwhile.
    if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus();
  }
  const cellOf = (name, row) => at(shown.wordings.columns[name], row);
  function write(row) {
    const valid = shown.wordings.columns.is_valid[row];
    return [
      element("span", { class: "name" }, cellOf("variant_id", row)),
      element("span", { class: "from" }, cellOf("prompt_id", row) + (valid ? "" : ", not valid")),
      element("span", { class: "figure-of" }, shown.axes.length > 0 ? number(shown.delta(row)) : NONE),
    ];
  }
  function show(row) {
    const { answers, byWording, axes, prompts } = shown;
    const baseline = byWording.get(JSON.stringify([cellOf("prompt_id", row), cellOf("baseline_id", row)]));
    const prompt = prompts.get(cellOf("prompt_id", row));
    const text = (of) => (of === undefined ? null : cellOf("text", of));
    const response = (of) => (of === undefined ? null : at(answers.columns.response, of));
    const notThere = (of, what) => {
      const error = of === undefined ? null : at(answers.columns.error, of);
      return [element("em", {}, error ? `failed: ${error}` : `The run does not hold this ${what}.`)];
    };
    const pair = (get, what) => {
      const [before, after] = [get(baseline), get(row)];
      const both = before !== null && after !== null ? marked(before, after) : null;
      return {
        before: before === null ? notThere(baseline, what) : both?.before ?? [before],
        after: after === null ? notThere(row, what) : both?.after ?? [after],
        tooLong: both?.tooLong ?? false,
      };
    };
    const asked = pair(text, "wording");
    const answered = pair(response, "response");
    const tokens = answers.columns.tokens;
    const shade = (of, plain) => (state.view === "probability" && tokens?.[of] ? shaded(response(of), tokens[of]) : plain);
    const ended = (of) => (of !== undefined && at(answers.columns.finish_reason, of) === "length" ? ["cut at the limit of new tokens"] : []);
    const invalid = shown.wordings.columns.is_valid[row] ? [] : [`not counted: ${cellOf("invalid_reason", row) ?? "not valid"}`];
    said.textContent = `${words} Shown: ${cellOf("variant_id", row)}, raw delta ${axes.length > 0 ? number(shown.delta(row)) : NONE}.`;
    const same = response(row) !== null && response(row) === response(baseline) ? ["the same response as the baseline's"] : [];
    detail.replaceChildren(
      element("div", { class: "sides" },
        side(`Baseline${cellOf("baseline_id", row) === "baseline" ? "" : ` ${cellOf("baseline_id", row)}`}`, asked.before, shade(baseline, answered.before), ended(baseline)),
        side(cellOf("variant_id", row), asked.after, shade(row, answered.after), [...ended(row), ...invalid, ...same])),
      answered.tooLong || asked.tooLong ? note("The texts are too long or too different to mark each word.") : "",
      ...[baseline, row].filter((of) => state.view === "probability" && tokens?.[of]).map((of) => tokenTable(cellOf("variant_id", of), response(of), tokens[of])),
      prompt?.answers?.length > 0 ? element("p", { class: "small" }, `Reference answers: ${prompt.answers.slice(0, 5).join(" | ")}${prompt.answers.length > 5 ? " | …" : ""}`) : "",
      axes.length > 0
        ? table({ caption: `Deltas of ${cellOf("variant_id", row)}, prompt ${cellOf("prompt_id", row)}`, head: ["axis", ...axes], rows: [["raw delta", ...axes.map((axis) => answers.columns[`delta.${axis}`][row])]] })
        : "");
  }
  const section = tableSection("prompts", "Prompts and responses", how, ...limits, controls, said, element("div", { class: "browser" }, list.box, detail));
  section.redraw = refresh;
  return section;
}
