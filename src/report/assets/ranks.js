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
      height: Math.max(last * 28 + 110, 240),
      text: `Ranks on ${state.axis} over ${datasets.map(datasetName).join(", ")}: ${groups.map(([name, mine]) => `${name} ${datasets.map((d) => mine.find((row) => row.dataset === d)?.rank ?? NONE).join(" ")}`).join("; ")}.`,
      option: {
        legend: legend(t),
        grid: { left: 36, right: 24, top: 40, bottom: 64 },
        xAxis: nameAxis(datasets.map(datasetName), t, { boundaryGap: true, axisLabel: { rotate: isNarrow() ? 40 : 0, width: isNarrow() ? 90 : 130, overflow: "break", lineHeight: 14 } }),
        yAxis: valueAxis("rank", t, { inverse: true, min: 1, max: Math.max(last, 2), interval: 1, nameGap: 22 }),
        tooltip: { formatter: ({ data }) => `${data.row.label}, ${datasetName(data.row.dataset)}\nrank ${data.row.rank} of ${data.row.n_models}, SGS ${score(data.row.sgs)}` },
        series: groups.map(([name, mine], i) => {
          const { color, symbol, dash } = look(i, t);
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
    const agreement = page.rows("rank_agreement").filter((row) => row.axis === state.axis && (!state.run || row.run === state.run));
    const of = (dataset) => agreement.filter((row) => row.dataset_a === dataset || row.dataset_b === dataset)
      .map((row) => `${row.dataset_a === dataset ? row.dataset_b : row.dataset_a} ${number(row.kendall_tau_b)} ${range(row.low, row.high)}`).join("; ");
    return {
      caption: `Ranks on ${state.axis}, and Kendall's tau-b of each data set's order with the others', with its interval over redrawn prompts`,
      head: ["model", "data set", "rank", "models", "SGS (shared)", "prompts", "order against other data sets"],
      rows: ranks.rows(page, state).map((row) => [row.label, datasetName(row.dataset), row.rank, row.n_models, score(row.sgs), row.n_prompts, row.dataset === "" ? NONE : of(row.dataset) || NONE]),
    };
  },
};
