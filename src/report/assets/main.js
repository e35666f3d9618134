// Main: the page, from top to bottom.

function modelsTable(page) {
  return table({
    caption: "Models",
    head: ["model", "parameters", "layers", "weights in", "backend", "SHA-256 of the weights"],
    rows: page.rows("models").map((row) => [row.label, row.parameters === null ? null : `${thousands(Math.round(row.parameters / 1e6))} million`, row.layers, row.dtype, row.backend, row.weights_sha256 ? `${row.weights_sha256.slice(0, 16)}…` : null]),
  });
}

/// What the runs are made of, in words.
function overview(page) {
  const facts = page.facts.map((facts, i) => {
    const run = page.runs[i];
    const said = [count(facts.n_models, "model", "models"), count(facts.n_datasets, "data set", "data sets"), count(facts.n_prompts, "prompt", "prompts"),
      count(facts.n_wordings, "wording", "wordings"), facts.n_responses > 0 ? count(facts.n_responses, "response", "responses") : "no responses (imported scores)"];
    return element("li", {}, `${run.name}: ${said.join(", ")}${facts.n_failed > 0 ? `, ${facts.n_failed} of them failed` : ""}. `,
      element("span", { class: "small" }, run.id ? `Run id ${run.id.slice(0, 16)}…` : "No plan.json, hence no run id."),
      run.complete ? null : note("This run did not end: its figures are of a part of it."));
  });
  const first = page.facts[0];
  const few = page.rows("sgs").some((row) => row.n_prompts < first.enough_prompts);
  const asked = grouped(page.rows("coverage"), (row) => row.axis);
  const unlike = [...asked].flatMap(([axis, rows]) => {
    const sizes = [...grouped(rows, (row) => row.label)].map(([, mine]) => mine.reduce((n, row) => n + row.rows_expected, 0)).filter((n) => n > 0);
    return distinct(sizes).length > 1 ? [`${axis}: ${spread(sizes)} wordings`] : [];
  });
  const axes = element("dl", { class: "axes" }, page.axes.filter((axis) => axis.is_main)
    .flatMap((axis) => [element("dt", {}, axis.axis), element("dd", {}, `${axis.doc}; needs ${axis.needs}`)]));
  const section = element("section", { id: "overview", "aria-labelledby": "overview-title", class: "figure" },
    element("h2", { id: "overview-title" }, "What is shown"),
    element("p", { class: "how" }, `Each prompt was worded in other ways that mean the same. Instability of a prompt is the root mean square of how far behaviour moves over its wordings (normalization ${first.normalization}); SGS is its mean over prompts.`),
    element("ul", {}, facts),
    modelsTable(page),
    unlike.length > 0 ? note(`Models differ in what they were asked (${unlike.join("; ")}): their scores are not of the same wordings. Ranks and agreement below take what models of one run share; for two runs, use sago compare.`) : null,
    few ? note(`Some scores rest on fewer than ${first.enough_prompts} prompts. Scores are skewed: with so few a t-test misses instability, and no mark is no proof of stability.`) : null,
    axes);
  return { id: "overview", title: "What is shown", section, redraw: () => {} };
}

/// Draws a section; one that fails says so and leaves the others.
async function drawn(section) {
  try {
    await section.redraw();
  } catch (error) {
    section.section.append(note(`This part could not be drawn: ${error.message}`));
    console.error(error);
  }
}

async function start() {
  const state = document.getElementById("state");
  if (typeof DecompressionStream === "undefined") {
    state.textContent = "This browser can't open the page's data: it lacks DecompressionStream. Any browser of 2023 or later has it.";
    return;
  }
  const page = openData(await unpack("figures"), await unpack("texts"));
  const loaded = new Promise((done) => (document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", done) : done()));
  const sections = [overview(page), ...FIGURES.map((spec) => figure(page, spec)), ...TABLES.map((spec) => tablesSection(page, spec)), promptBrowser(page)];
  const main = document.getElementById("content");
  main.append(...sections.map(({ section }) => section));
  document.getElementById("contents").append(...sections.map(({ id, title }) => element("li", {}, element("a", { href: `#${id}` }, title))));
  // One figure at a time, so that the page answers while it is drawn.
  const pause = () => new Promise((done) => setTimeout(done, 0));
  for (const section of sections) {
    if (section.id === "prompts") await loaded;
    await drawn(section);
    await pause();
  }
  state.remove();
  document.documentElement.dataset.drawn = "yes";

  const charts = sections.filter(({ id }) => id !== "prompts");
  const redraw = () => charts.forEach(drawn);
  DARK.addEventListener("change", redraw);
  PRINT.addEventListener("change", redraw);
  let width = window.innerWidth;
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (window.innerWidth === width) return;
      // Room for names changes with the width.
      width = window.innerWidth;
      redraw();
    }, 100);
  });
}

start().catch((error) => {
  const state = document.getElementById("state");
  if (state) state.textContent = `The page could not be drawn: ${error.message}`;
  throw error;
});
