// Stability against accuracy: is a model that is right also stable?

const accuracy = {
  id: "accuracy",
  title: "Stability against accuracy",
  how: "A point is a model on a data set: further right it is right more often, further down it is more stable; no clear line means that accuracy does not tell stability.",
  controls: (page) => [
    axisControl(page, axesOf(page, page.rows("sgs")), "bleu"),
    { key: "measure", label: "Right means", options: options(distinct(page.rows("accuracy").map((row) => row.measure)), (measure) => (measure === "exact" ? "exactly a reference answer" : "holds a reference answer")), value: "contains" },
  ],
  points(page, state) {
    const key = (row) => JSON.stringify([row.label, row.dataset]);
    const scores = new Map(page.rows("sgs").filter((row) => row.axis === state.axis).map((row) => [key(row), row.sgs]));
    return page.rows("accuracy").filter((row) => row.measure === state.measure && row.accuracy_baseline !== null && scores.has(key(row)))
      .map((row) => ({ ...row, sgs: scores.get(key(row)) }));
  },
  missing(page, state) {
    if (accuracy.points(page, state).length > 0) return null;
    return page.rows("accuracy").some((row) => row.accuracy_baseline !== null)
      ? `No model whose answers can be called right or wrong has a score on ${state.axis}.`
      : "No data set has both reference answers and responses, so nothing can be called right or wrong.";
  },
  panels(page, state, t) {
    const points = accuracy.points(page, state);
    return [{
      height: 380,
      key: modelKey(page, distinct(points.map((row) => row.label)), t),
      text: `Scatter of accuracy against SGS on ${state.axis}: ${points.slice(0, 12).map((row) => `${row.label} on ${row.dataset} ${number(row.accuracy_baseline)}, ${score(row.sgs)}`).join("; ")}.`,
      option: {
        grid: { left: 70, right: 16, top: 12, bottom: 46 },
        xAxis: valueAxis("accuracy on the prompts as they stand", t, { min: 0, max: 1 }), yAxis: valueAxis(`SGS on ${state.axis}`, t, { nameGap: 48 }),
        tooltip: { formatter: ({ data }) => `${data.row.label}, ${data.row.dataset}\naccuracy ${number(data.row.accuracy_baseline)}, under wordings ${number(data.row.accuracy_variants)}\nSGS ${score(data.row.sgs)}` },
        series: clouds(page, grouped(points, (row) => row.label), t, (row) => ({ value: [row.accuracy_baseline, row.sgs], row })),
      },
    }];
  },
  table(page, state) {
    return {
      caption: `Accuracy and SGS on ${state.axis}`,
      head: ["model", "data set", "accuracy", "under wordings", `SGS on ${state.axis}`, "prompts"],
      rows: accuracy.points(page, state).map((row) => [row.label, row.dataset, row.accuracy_baseline, row.accuracy_variants, score(row.sgs), row.n_prompts]),
    };
  },
};
