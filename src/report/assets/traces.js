// Traces: how sure a model is of each token of its own first answer, after other wordings.

const traces = {
  id: "traces",
  title: "Token by token: entropy over one answer",
  how: "The baseline's answer, scored again after other wordings: the x axis is the token, the height the entropy of the next-token distribution (nats); where a line leaves the thick one, that wording makes the model more or less sure.",
  controls: (page) => [modelControl(page, page.rows("traces"))],
  rows: (page, state) => page.rows("traces").filter((row) => row.label === state.model),
  look: (row, i, t) => (row.variant_id === "baseline" ? { color: t.text, symbol: "circle", dash: "solid" } : look(Math.max(i - 1, 0), t)),
  missing(page, state) {
    return traces.rows(page, state).length === 0 ? "The run holds no scores of the baseline's tokens after other wordings (table forced): the backend gives no logits, or they were imported without them." : null;
  },
  panels(page, state, t) {
    const rows = traces.rows(page, state);
    const first = rows[0];
    return [{
      title: `${first.dataset}, prompt ${first.prompt_id}: the prompt with the greatest instability on ent; of each kind of rewording the one that moved it most`,
      height: 360,
      key: rows.map((row, i) => ({ name: row.variant_id, look: traces.look(row, i, t) })),
      text: `Entropy by token for ${state.model}, prompt ${first.prompt_id} of ${first.dataset}: ${rows.map((row) => `${row.variant_id}, mean ${number(row.entropies.reduce((a, b) => a + b, 0) / Math.max(row.entropies.length, 1))}`).join("; ")}.`,
      option: {
        grid: { left: 50, right: 16, top: 12, bottom: 46 },
        xAxis: valueAxis("token of the baseline's answer", t, { min: 1, minInterval: 1 }), yAxis: valueAxis("entropy, nats", t, { min: 0 }),
        tooltip: { formatter: ({ seriesName, value }) => `${seriesName}\ntoken ${value[0]}: ${number(value[1])} nats` },
        series: rows.map((row, i) => {
          const base = row.variant_id === "baseline";
          const { color, symbol, dash } = traces.look(row, i, t);
          return {
            type: "line", name: row.variant_id, symbol, symbolSize: base ? 7 : 5, z: base ? 3 : 2, color, lineStyle: { color, type: dash, width: base ? 3 : 1.5 },
            data: row.entropies.map((entropy, at) => [at + 1, entropy]),
          };
        }),
      },
    }];
  },
  table(page, state) {
    const rows = traces.rows(page, state);
    const most = Math.max(...rows.map((row) => row.entropies.length));
    return {
      caption: `Entropy (nats) of each token of the baseline's answer, ${state.model}`,
      head: ["token", ...rows.map((row) => row.variant_id)],
      rows: Array.from({ length: most }, (_, at) => [at + 1, ...rows.map((row) => row.entropies[at] ?? null)]),
    };
  },
};
