// Radar: the shape of a model over the axes, as the study draws it.

const radar = {
  id: "radar",
  width: "square",
  title: "Shape over the axes",
  how: "A line is a model, each spoke an axis from 0 (stable, centre) on one common scale; the area has no meaning, and the order of the spokes changes it, so compare models in the dot plot above.",
  controls: (page) => [datasetControl(page)],
  rows: (page, state) => page.rows("sgs").filter((row) => row.dataset === state.dataset && page.main.includes(row.axis)),
  missing(page, state) {
    const axes = axesOf(page, radar.rows(page, state));
    return axes.length < 3 ? `A radar needs three axes with values; here ${count(axes.length, "axis has", "axes have")} them.` : null;
  },
  panels(page, state, t) {
    const rows = radar.rows(page, state);
    const axes = axesOf(page, rows);
    const most = Math.max(...rows.map((row) => row.sgs), 1e-9);
    const step = 10 ** Math.floor(Math.log10(most)) / 2;
    const max = Math.ceil(most / step) * step;
    const models = [...grouped(rows, (row) => row.label)];
    return [{
      height: 380,
      text: `Radar of SGS over ${axes.join(", ")} on ${datasetName(state.dataset)}, ${count(models.length, "model", "models")}. The table holds the numbers.`,
      option: {
        legend: legend(t),
        tooltip: {},
        radar: {
          center: ["50%", "56%"], radius: "66%", indicator: axes.map((name) => ({ name, max, min: 0 })),
          axisName: { color: t.text }, splitLine: { lineStyle: { color: t.line } }, splitArea: { show: false }, axisLine: { lineStyle: { color: t.line } },
        },
        series: [{
          type: "radar",
          data: models.map(([name, mine], i) => {
            const { color, symbol, dash } = look(i, t);
            return {
              name, symbol, symbolSize: 6, itemStyle: { color }, lineStyle: { color, type: dash },
              value: axes.map((axis) => mine.find((row) => row.axis === axis)?.sgs ?? "-"),
            };
          }),
        }],
      },
    }];
  },
  table(page, state) {
    const rows = radar.rows(page, state);
    const axes = axesOf(page, rows);
    return {
      caption: `SGS by model and axis, ${datasetName(state.dataset)}`,
      head: ["model", ...axes],
      rows: [...grouped(rows, (row) => row.label)].map(([name, mine]) => [name, ...axes.map((axis) => score(mine.find((row) => row.axis === axis)?.sgs))]),
    };
  },
};
