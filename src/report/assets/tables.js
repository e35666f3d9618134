// Tables: what is read as numbers.
//
// In: the page's data. Out: descriptions: id, title, how (how to read it), tables(page): each a file's id, caption, head,
// rows, and none: what is said where it has no rows; missing(page): why there is none of them, or null.

const scoresTable = {
  id: "scores-table",
  title: "SGS on every axis",
  how: "Lower is more stable and 0 means that nothing changed; marks as in the heat map, a dash where the axis has no values.",
  missing: (page) => (page.rows("sgs").length === 0 ? "There are no scores: nothing was measured against a baseline." : null),
  tables(page) {
    const axes = axesOf(page, page.rows("sgs"));
    const groups = grouped(page.rows("sgs"), (row) => JSON.stringify([row.label, row.dataset]));
    const rows = [...groups.values()].map((mine) => {
      const cells = axes.map((axis) => mine.find((row) => row.axis === axis)).map((row) => (row ? score(row.sgs) + (row.mark || "") : NONE));
      const n = distinct(mine.map((row) => row.n_prompts));
      return [mine[0].label, datasetName(mine[0].dataset), ...cells, n.length === 1 ? n[0] : `${Math.min(...n)}–${Math.max(...n)}`];
    });
    return [{ id: "scores-table", caption: "SGS by model and data set, an axis a column", head: ["model", "data set", ...axes, "prompts"], rows }];
  },
};

/// How far data sets agree in the order of models, beside how far a data set agrees with itself.
const agreementTable = {
  id: "agreement",
  title: "Agreement of ranks",
  how: "Kendall's tau-b between the orders in which two data sets put the models, with its interval over redrawn prompts, and how often two models change places. Read it beside the agreement of halves of one data set: what prompts alone do to the order.",
  missing: (page) => (page.rows("rank_agreement").length === 0 ? "Agreement needs at least two models in one run that share wordings, and two data sets." : null),
  tables(page) {
    const halves = page.rows("split_half");
    const half = (row, dataset) => halves.find((other) => other.run === row.run && other.axis === row.axis && other.dataset === dataset);
    const self = (row, dataset) => number(half(row, dataset)?.kendall_tau_b);
    return [{
      id: "agreement",
      caption: "Order of models on two data sets, an axis and pair a row",
      head: [...(page.several ? ["run"] : []), "axis", "data set", "other data set", "models", "tau-b", "interval", "reversals", "halves of the first", "halves of the other"],
      rows: page.rows("rank_agreement").map((row) => [...(page.several ? [row.run] : []), row.axis, row.dataset_a, row.dataset_b, row.n_models, row.kendall_tau_b, range(row.low, row.high),
        row.reversal_frequency, self(row, row.dataset_a), self(row, row.dataset_b)]),
    }];
  },
};

const significanceTable = {
  id: "significance",
  title: "Significance",
  how: "Small p says that the mean instability lies above the tolerance; a large p is no proof of stability. Corrected values count all models, data sets and axes as one family.",
  missing: () => null,
  tables(page) {
    const tests = page.rows("tests").filter((row) => row.test === "t");
    const tolerances = distinct(tests.map((row) => row.epsilon)).sort((a, b) => a - b);
    const rows = [...grouped(tests, (row) => JSON.stringify([row.label, row.axis])).values()].map((mine) => [
      mine[0].label, mine[0].axis,
      ...tolerances.flatMap((epsilon) => {
        const row = mine.find((row) => row.epsilon === epsilon);
        return row ? [number(row.p) + (row.mark ? ` ${row.mark}` : ""), row.p_holm, row.p_bh] : [null, null, null];
      }),
      mine[0].n,
    ]);
    const cells = page.rows("cells").filter((row) => tolerances.includes(row.epsilon)).map((row) => [
      page.several ? `${row.axis} (${row.run})` : row.axis, row.test === "sign_flip" ? "sign flips" : row.test, row.epsilon, row.tested, row.raw, row.bh, row.holm]);
    return [
      { id: "significance", caption: "One-sided t-tests on all data sets together, raw p and p after Holm and Benjamini-Hochberg", head: ["model", "axis", ...tolerances.flatMap((epsilon) => [`p, > ${epsilon}`, "Holm", "BH"]), "prompts"], rows },
      { id: "significance-counts", caption: "Pairs of a model and a data set that lie above a tolerance, by test: how many of those tested", head: ["axis", "test", "tolerance", "tested", "raw", "after BH", "after Holm"], rows: cells },
    ];
  },
};

const coverageTable = {
  id: "coverage",
  title: "Coverage",
  how: "What the figures rest on: values there are of values there could be, why some are missing, and how many wordings of each kind were made and count.",
  missing: () => null,
  tables(page) {
    const rows = page.rows("coverage");
    const axes = axesOf(page, rows);
    const cells = [...grouped(rows, (row) => JSON.stringify([row.label, row.dataset])).values()].map((mine) => [
      mine[0].label, mine[0].dataset, ...axes.map((axis) => mine.find((row) => row.axis === axis)).map((row) => (row ? `${row.rows_with_value} / ${row.rows_expected}` : NONE))]);
    const reasons = [...grouped(rows.filter((row) => row.reason !== null), (row) => JSON.stringify([row.label, row.axis, row.reason])).values()]
      .map((mine) => [mine[0].label, mine[0].axis, mine.length, mine[0].reason]);
    const wordings = page.rows("wording_coverage").map((row) => [page.several ? `${row.subtype} (${row.run})` : row.subtype, row.level || NONE, row.planned, row.made, row.valid]);
    return [
      { id: "coverage", caption: "Wordings with a value, of those on which the axis is defined", head: ["model", "data set", ...axes], rows: cells },
      { id: "coverage-reasons", caption: "Why values are missing", head: ["model", "axis", "data sets", "reason"], rows: reasons, none: "No value is missing." },
      { id: "coverage-wordings", caption: "Wordings, all prompts and places", head: ["kind", "strength", "planned", "made", "valid"], rows: wordings },
    ];
  },
};
