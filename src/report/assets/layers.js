// Layers: at which depth hidden states drift.

const layers = {
  id: "layers",
  title: "Drift through the layers",
  how: "A line is a model, from the embedding output (left) to the last layer; the higher, the further the prompt's last hidden state turns from the baseline's at that layer.",
  controls: (page) => [oneDatasetControl(page)],
  rows: (page, state) => page.rows("layers").filter((row) => row.dataset === state.dataset),
  missing(page, state) {
    if (layers.rows(page, state).length > 0) return null;
    return page.rows("layers").length > 0
      ? `No model kept its hidden states on ${datasetName(state.dataset)}.`
      : "There are no hidden states: they were not kept, or the models' backend does not give them.";
  },
  panels(page, state, t) {
    const groups = [...grouped(layers.rows(page, state), (row) => row.label)];
    const one = distinct(groups.map(([, rows]) => rows.length)).length === 1;
    return [{
      height: 340,
      key: modelKey(page, groups.map(([name]) => name), t),
      text: `Instability of the hidden state by layer, ${datasetName(state.dataset)}: ${groups.map(([name, rows]) => `${name} from ${number(rows[0].sgs)} to ${number(rows[rows.length - 1].sgs)}`).join("; ")}.`,
      option: {
        grid: { left: 74, right: 16, top: 12, bottom: 46 },
        xAxis: valueAxis(one ? "layer" : "depth: layer over last layer", t), yAxis: valueAxis("SGS of the cosine", t, { nameGap: 52, min: 0 }),
        tooltip: { formatter: ({ data }) => `${data.row.label}, layer ${data.row.layer}\nSGS ${number(data.row.sgs)}` },
        series: groups.map(([name, rows]) => {
          const { color, symbol, dash } = lookOf(page, name, t);
          const last = Math.max(...rows.map((row) => row.layer), 1);
          return {
            type: "line", name, symbol, symbolSize: 5, color, lineStyle: { color, type: dash },
            data: rows.map((row) => ({ value: [one ? row.layer : row.layer / last, row.sgs], row })),
          };
        }),
      },
    }];
  },
  table(page, state) {
    return {
      caption: `SGS of the hidden state by layer, ${datasetName(state.dataset)}`,
      head: ["model", "layer", "SGS", "prompts"],
      rows: layers.rows(page, state).map((row) => [row.label, row.layer, row.sgs, row.n_prompts]),
    };
  },
};
