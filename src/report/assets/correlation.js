// Axis correlation: do two axes move on the same prompts?

const correlation = {
  id: "correlation",
  width: "square",
  title: "Do the axes move together?",
  how: (page) => "A cell is the rank correlation of two axes over a model's prompts, within data sets: 1 the same prompts move most on both, 0 no such order; a frame marks pairs shown to be independent, "
    + `whose whole interval lies within ${distinct(page.facts.map((facts) => facts.independence_margin)).join(" or ")} of 0.`,
  controls: (page) => [modelControl(page, page.rows("correlation"))],
  rows: (page, state) => page.rows("correlation").filter((row) => row.label === state.model),
  missing(page, state) {
    return correlation.rows(page, state).every((row) => row.rho === null) ? "No two axes have enough scores that differ: a rank correlation needs at least two prompts of a data set." : null;
  },
  panels(page, state, t) {
    const rows = correlation.rows(page, state);
    const axes = page.axes.map((axis) => axis.axis).filter((axis) => rows.some((row) => row.axis_a === axis || row.axis_b === axis));
    const cells = rows.filter((row) => row.rho !== null).flatMap((row) => [[row.axis_a, row.axis_b], [row.axis_b, row.axis_a]].map(([a, b]) => {
      const color = onScale(t.apart, (row.rho + 1) / 2);
      return {
        value: [axes.indexOf(a), axes.indexOf(b), row.rho], row, label: { color: inkOn(color) },
        itemStyle: { color, borderColor: row.is_independent ? t.text : t.back, borderWidth: row.is_independent ? 2 : 1 },
      };
    }));
    const room = Math.ceil(Math.max(...axes.map((axis) => textWidth(axis, t)), 0)) + 14;
    return [{
      width: room + axes.length * Math.max(room, 52) + 6,
      height: axes.length * 40 + 40,
      text: `Rank correlations of ${axes.length} axes for ${state.model}: ${rows.map((row) => `${row.axis_a} and ${row.axis_b} ${number(row.rho)}`).join(", ")}.`,
      option: {
        grid: { left: room, right: 6, top: 28, bottom: 4 },
        xAxis: nameAxis(axes, t, { position: "top" }), yAxis: nameAxis(axes, t, { inverse: true }),
        tooltip: { formatter: ({ data }) => `${data.row.axis_a} and ${data.row.axis_b}: ${number(data.row.rho)} ${range(data.row.low, data.row.high)}\np ${number(data.row.p)}, ${count(data.row.n, "prompt", "prompts")}` },
        visualMap: { show: false, min: -1, max: 1, dimension: 2, seriesIndex: [], inRange: { color: t.apart } },
        series: [{ type: "heatmap", data: cells, label: { show: true, formatter: ({ data }) => data.row.rho.toFixed(2) }, emphasis: { disabled: true } }],
      },
    }];
  },
  table(page, state) {
    return {
      caption: `Rank correlation of axes for ${state.model}; p uncorrected`,
      head: ["axis", "other axis", "rho", "interval", "p", "prompts", "independent"],
      rows: correlation.rows(page, state).map((row) => [row.axis_a, row.axis_b, row.rho, range(row.low, row.high), row.p, row.n, row.is_independent]),
    };
  },
};
