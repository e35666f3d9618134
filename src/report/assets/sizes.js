// Sample size: what a study with fewer or more prompts would have seen.

const sizes = {
  id: "sizes",
  title: "How many prompts does it take?",
  how: (page) => `Studies of other sizes, redrawn from this run's prompts: left, where the middle ${confidence(page)} of their SGS would lie; right, how many of them would call the model unstable at the tolerance.`,
  controls(page) {
    const rows = page.rows("sizes");
    return [modelControl(page, rows), axisControl(page, axesOf(page, rows), "bleu")];
  },
  rows: (page, state) => page.rows("sizes").filter((row) => row.label === state.model && row.axis === state.axis),
  missing(page, state) {
    return sizes.rows(page, state).length === 0 ? "There are no scores to draw other studies from." : null;
  },
  panels(page, state, t) {
    const rows = sizes.rows(page, state);
    const names = rows.map((row) => String(row.n));
    const sgs = page.rows("sgs").find((row) => row.label === state.model && row.axis === state.axis && row.dataset === "");
    const tip = { formatter: ({ dataIndex }) => `${rows[dataIndex].n} prompts\n${range(rows[dataIndex].mean_low, rows[dataIndex].mean_high)}\ncalled unstable ${number(rows[dataIndex].reject)}` };
    return [{
      title: "spread of the SGS",
      height: 280,
      text: `Spread of the SGS of ${state.model} on ${state.axis} by number of prompts: ${rows.map((row) => `${row.n}: ${range(row.mean_low, row.mean_high)}`).join("; ")}.`,
      option: {
        grid: { left: 60, right: 16, top: 16, bottom: 46 }, tooltip: tip,
        xAxis: nameAxis(names, t, { name: "prompts", nameLocation: "middle", nameGap: 28 }), yAxis: valueAxis("", t),
        series: [
          whiskers(rows.map((row, i) => [i, row.mean_low, row.mean_high]), false, t.colors[0]),
          { type: "scatter", symbolSize: 8, color: t.colors[0], data: rows.map(() => sgs?.sgs ?? null) },
        ],
      },
    }, {
      title: "share of studies that call it unstable",
      height: 280,
      text: `Share of studies that would call ${state.model} unstable on ${state.axis}: ${rows.map((row) => `${row.n} prompts ${number(row.reject)}`).join("; ")}.`,
      option: {
        grid: { left: 60, right: 16, top: 16, bottom: 46 }, tooltip: tip,
        xAxis: nameAxis(names, t, { name: "prompts", nameLocation: "middle", nameGap: 28 }), yAxis: valueAxis("", t, { min: 0, max: 1 }),
        series: [{ type: "line", symbol: "rect", symbolSize: 7, color: t.colors[1], data: rows.map((row) => row.reject) }],
      },
    }];
  },
  table(page, state) {
    return {
      caption: `Studies of other sizes, ${state.model} on ${state.axis}`,
      head: ["prompts", "SGS from", "SGS to", "width", "called unstable"],
      rows: sizes.rows(page, state).map((row) => [row.n, row.mean_low, row.mean_high, row.width, row.reject]),
    };
  },
};
