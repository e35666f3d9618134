// Radar: the shape of a model over the axes, as the study draws it.

const radar = {
  id: "radar",
  width: "square",
  title: "Shape over the axes",
  how: "A line is a model, each spoke an axis from 0 (stable, centre) on one common scale; the area has no meaning, and the order of the spokes changes it, so compare models in the dot plot above.",
  controls: (page) => [datasetControl(page)],
  rows: (page, state) => page.rows("sgs").filter((row) => row.dataset === state.dataset && page.main.includes(row.axis)),
  /// Models with a value on every spoke, and those without: a missing value has no place on a spoke.
  models(rows, axes) {
    const all = [...grouped(rows, (row) => row.label)];
    const isWhole = ([, mine]) => axes.every((axis) => mine.some((row) => row.axis === axis));
    return [all.filter(isWhole), all.filter((model) => !isWhole(model)).map(([name]) => name)];
  },
  missing(page, state) {
    const rows = radar.rows(page, state);
    const axes = axesOf(page, rows);
    if (axes.length < 3) return `A radar needs three axes with values; on ${datasetName(state.dataset)} ${count(axes.length, "axis has", "axes have")} them.`;
    return radar.models(rows, axes)[0].length === 0 ? `No model has values on all of ${axes.join(", ")} on ${datasetName(state.dataset)}.` : null;
  },
  panels(page, state, t) {
    const rows = radar.rows(page, state);
    const axes = axesOf(page, rows);
    const most = Math.max(...rows.map((row) => row.sgs), 1e-9);
    const step = 10 ** Math.floor(Math.log10(most)) / 2;
    const max = Math.ceil(most / step) * step;
    const [whole, broken] = radar.models(rows, axes);
    return [{
      height: 380,
      title: broken.length > 0 ? `not drawn, as a value is missing: ${broken.join(", ")}` : null,
      key: modelKey(page, whole.map(([name]) => name), t),
      text: `Radar of SGS over ${axes.join(", ")} on ${datasetName(state.dataset)}, ${count(whole.length, "model", "models")}. The table holds the numbers.`,
      option: {
        tooltip: {},
        radar: {
          center: ["50%", "52%"], radius: "72%", // The scale is that of all spokes; it stands at the first.
          indicator: axes.map((name, i) => ({ name, max, min: 0, axisLabel: { show: i === 0, color: t.soft, fontSize: 10, formatter: number } })),
          axisName: { color: t.text }, splitLine: { lineStyle: { color: t.line } }, splitArea: { show: false }, axisLine: { lineStyle: { color: t.line } },
        },
        series: [{
          type: "radar",
          data: whole.map(([name, mine]) => {
            const { color, symbol, dash } = lookOf(page, name, t);
            return {
              name, symbol, symbolSize: 6, itemStyle: { color }, lineStyle: { color, type: dash },
              value: axes.map((axis) => mine.find((row) => row.axis === axis).sgs),
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
