// Dot plot: SGS with its intervals, an axis a panel.

const dotPlot = {
  id: "intervals",
  alone: true,
  title: "SGS and how well it is known",
  how: (page) => `A dot is the SGS of a model, the line its ${confidence(page)} interval over prompts, the dashed line the tolerance; models whose intervals overlap widely are not told apart by this many prompts. `
    + "Each axis has its own scale.",
  controls: (page) => [datasetControl(page), { key: "method", label: "Interval", options: [{ value: "bca", text: "BCa bootstrap" }, { value: "t", text: "t distribution" }], value: method(page, heatMap.rows(page)) }],
  missing(page, state) {
    return heatMap.missing(page) ?? (dotPlot.rows(page, state).length === 0 ? `There are no scores on ${datasetName(state.dataset)} on the method's own axes.` : null);
  },
  rows: (page, state) => heatMap.rows(page).filter((row) => row.dataset === state.dataset),
  panels(page, state, t) {
    const tolerances = distinct(page.facts.map((facts) => facts.epsilon));
    return [...grouped(dotPlot.rows(page, state), (row) => row.axis)].map(([axis, rows]) => {
      const place = (row) => page.models.indexOf(row.label);
      const known = rows.filter((row) => row[`${state.method}_low`] !== null && row[`${state.method}_high`] !== null);
      const reach = Math.max(...rows.flatMap((row) => [row.sgs, row[`${state.method}_high`] ?? 0]));
      const shown = tolerances.filter((epsilon) => epsilon <= reach * 1.5);
      const bare = known.length < rows.length ? ["no interval where prompts are too few or all alike"] : [];
      const under = tolerances.filter((epsilon) => epsilon > reach * 1.5).map((epsilon) => `all under the tolerance of ${epsilon}`);
      return {
        name: axis,
        title: [axis, ...under, ...bare].join(", "),
        width: beside(page.models, t) + 250,
        height: page.models.length * 26 + 62,
        text: `SGS on ${axis} with intervals, ${datasetName(state.dataset)}: ${rows.map((row) => `${row.label} ${score(row.sgs)}`).join(", ")}.`,
        option: {
          grid: { left: beside(page.models, t), right: 34, top: 22, bottom: 26 },
          xAxis: valueAxis("", t, { min: (extent) => Math.min(0, extent.min), max: (extent) => Math.max(extent.max, reach * 1.05, ...shown.map((epsilon) => epsilon * 1.05), 1e-9) }),
          yAxis: modelAxis(page.models, t),
          tooltip: {
            formatter: ({ data }) => `${data.row.label}\n${axis}: ${score(data.row.sgs)}\n${range(data.row[`${state.method}_low`], data.row[`${state.method}_high`])}`,
          },
          series: [
            whiskers(known.map((row) => [place(row), row[`${state.method}_low`], row[`${state.method}_high`]]), true, t.soft),
            {
              type: "scatter", symbolSize: 10, z: 2, itemStyle: { color: t.colors[0] },
              data: rows.map((row) => ({ value: [row.sgs, place(row)], row })),
              markLine: shown.length > 0 ? mark("xAxis", shown, (epsilon) => `tolerance ${epsilon}`, t) : undefined,
            },
          ],
        },
      };
    });
  },
  table(page, state) {
    return {
      caption: `SGS with intervals, ${datasetName(state.dataset)}`,
      head: ["model", "axis", "SGS", "BCa interval", "t interval", "prompts"],
      rows: dotPlot.rows(page, state).map((row) => [row.label, row.axis, score(row.sgs), range(row.bca_low, row.bca_high), range(row.t_low, row.t_high), row.n_prompts]),
    };
  },
};
