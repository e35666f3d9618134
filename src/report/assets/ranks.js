// Rank changes: does another data set rank the models alike?

const ranks = {
  id: "ranks",
  title: "Ranks from data set to data set",
  how: "A line follows a model over the data sets, 1 the most stable, compared on the wordings that all models share; lines that cross are ranks that turn round.",
  controls(page) {
    const rows = page.rows("ranks");
    const runs = distinct(rows.map((row) => row.run));
    return [...(runs.length > 1 ? [{ key: "run", label: "Run", options: options(runs) }] : []), axisControl(page, axesOf(page, rows), "bleu")];
  },
  rows: (page, state) => page.rows("ranks").filter((row) => row.axis === state.axis && (!state.run || row.run === state.run)),
  missing(page, state) {
    return ranks.rows(page, state).length === 0 ? "Ranks need at least two models in one run that share wordings; to set models of two runs side by side, use sago compare." : null;
  },
  panels(page, state, t) {
    const rows = ranks.rows(page, state);
    const datasets = distinct(rows.map((row) => row.dataset)).filter((name) => name !== "").concat("");
    const last = Math.max(...rows.map((row) => row.rank));
    const groups = [...grouped(rows, (row) => row.label)];
    return [{
      // No name of a data set touches the next one's.
      width: 60 + datasets.length * (12 + Math.min(130, Math.max(...datasets.map((name) => textWidth(datasetName(name), t))))),
      height: Math.max(last * 28 + 90, 220),
      key: modelKey(page, groups.map(([name]) => name), t),
      text: `Ranks on ${state.axis} over ${datasets.map(datasetName).join(", ")}: ${groups.map(([name, mine]) => `${name} ${datasets.map((d) => mine.find((row) => row.dataset === d)?.rank ?? NONE).join(" ")}`).join("; ")}.`,
      option: {
        grid: { left: 36, right: 24, top: 16, bottom: 64 },
        xAxis: nameAxis(datasets.map(datasetName), t, { boundaryGap: true, axisLabel: { rotate: t.narrow ? 40 : 0, width: t.narrow ? 90 : 130, overflow: "break", lineHeight: 14 } }),
        yAxis: valueAxis("rank", t, { inverse: true, min: 1, max: Math.max(last, 2), interval: 1, nameGap: 22 }),
        tooltip: { formatter: ({ data }) => `${data.row.label}, ${datasetName(data.row.dataset)}\nrank ${data.row.rank} of ${data.row.n_models}, SGS ${score(data.row.sgs)}\non ${count(data.row.n_pairs, "shared wording", "shared wordings")} of ${count(data.row.n_prompts, "prompt", "prompts")}` },
        series: groups.map(([name, mine]) => {
          const { color, symbol, dash } = lookOf(page, name, t);
          return {
            type: "line", name, symbol, symbolSize: 9, color, lineStyle: { color, type: dash, width: 2 },
            data: datasets.map((dataset) => {
              const row = mine.find((row) => row.dataset === dataset);
              return row ? { value: row.rank, row } : null;
            }),
          };
        }),
      },
    }];
  },
  table(page, state) {
    return {
      caption: `Ranks on ${state.axis}, by the wordings that all models share`,
      head: ["model", "data set", "rank", "models", "SGS (shared)", "shared wordings", "prompts"],
      rows: ranks.rows(page, state).map((row) => [row.label, datasetName(row.dataset), row.rank, row.n_models, score(row.sgs), row.n_pairs, row.n_prompts]),
    };
  },
};
