// Heat map: SGS of every model on every axis, for all data sets together and for each.

const heatMap = {
  id: "sgs",
  width: "wide",
  alone: true,
  title: "SGS: how far behaviour moves",
  how: (page) => "A row is a model, a column an axis of behaviour; the number is the mean instability over prompts (0: nothing changed), and a brighter cell is less stable. "
    + `Marks tell scores above the tolerance by a one-sided t-test, uncorrected: ${distinct(page.facts.map((facts) => facts.marks)).join("; or ")}.`,
  rows(page) {
    const shown = new Set(page.axes.filter((axis) => axis.is_main || axis.is_resampled).map((axis) => axis.axis));
    return page.rows("sgs").filter((row) => shown.has(row.axis));
  },
  missing(page) {
    if (heatMap.rows(page).length > 0) return null;
    return page.rows("sgs").length > 0
      ? `There are no scores on the method's own axes (${page.main.join(", ")}); the table of all axes below has the others.`
      : "There are no scores: nothing was measured against a baseline.";
  },
  panels(page, state, t) {
    const rows = heatMap.rows(page);
    const axes = distinct([...page.main, ...axesOf(page, rows)]);
    const most = Math.max(...rows.map((row) => row.sgs), 1e-12);
    const shown = (name) => name.replace("_generated", "_gen");
    const cell = Math.ceil(Math.max(...axes.map((axis) => textWidth(shown(axis), t) + 8), ...rows.map((row) => textWidth(score(row.sgs) + (row.mark || ""), t, 11) + 8)));
    return ["", ...page.datasets].map((dataset) => {
      const here = rows.filter((row) => row.dataset === dataset);
      const cells = here.map((row) => {
        const color = onScale(t.scale, row.sgs / most);
        return {
          value: [axes.indexOf(row.axis), page.models.indexOf(row.label), row.sgs], row,
          itemStyle: { color, borderColor: t.back, borderWidth: 1 },
          label: { color: inkOn(color) },
        };
      });
      const gaps = page.models.flatMap((model, y) => axes.map((axis, x) => ({ model, axis, value: [x, y] })))
        .filter((gap) => !here.some((row) => row.label === gap.model && row.axis === gap.axis));
      return {
        name: datasetName(dataset),
        title: datasetName(dataset),
        width: beside(page.models, t) + axes.length * cell + 4,
        height: page.models.length * 30 + 34,
        text: `Heat map of SGS on ${datasetName(dataset)}: ${count(page.models.length, "model", "models")} by ${axes.length} axes. The table holds every number.`,
        option: {
          grid: { left: beside(page.models, t), right: 4, top: 26, bottom: 4 },
          xAxis: nameAxis(axes, t, { position: "top", axisLine: { show: false }, axisLabel: { formatter: shown } }),
          yAxis: modelAxis(page.models, t, { axisLine: { show: false } }),
          tooltip: {
            formatter: ({ data }) => (data.row
              ? `${data.row.label}\n${data.row.axis}: ${score(data.row.sgs)} ${data.row.mark || ""}\n${count(data.row.n_prompts, "prompt", "prompts")}, p ${number(data.row.p)}, Holm ${number(data.row.p_holm)}`
              : `${data.axis}: no values; the coverage table says why`),
          },
          series: [
            { type: "heatmap", data: cells, label: { show: true, fontSize: t.narrow ? 9 : 11, formatter: ({ data }) => score(data.row.sgs) + (data.row.mark || "") }, emphasis: { disabled: true } },
            { type: "scatter", data: gaps, symbolSize: 12, itemStyle: { color: "transparent" }, label: { show: true, position: "inside", formatter: NONE, color: t.soft } },
          ],
          // Cells bring their own colours; a heat map asks for this all the same.
          visualMap: { show: false, min: 0, max: most, dimension: 2, seriesIndex: [], inRange: { color: t.scale } },
        },
      };
    });
  },
  table(page) {
    return {
      caption: "SGS by model, data set and axis, with intervals over prompts and the t-test against the tolerance",
      head: ["model", "data set", "axis", "SGS", "mark", "BCa interval", "t interval", "p", "p Holm", "p BH", "prompts"],
      rows: heatMap.rows(page).map((row) => [row.label, datasetName(row.dataset), row.axis, score(row.sgs), row.mark, range(row.bca_low, row.bca_high),
        range(row.t_low, row.t_high), row.p, row.p_holm, row.p_bh, row.n_prompts]),
    };
  },
};
