// BLEU against mirroring: do responses change because they take on the wording's style?

const bleuMirror = {
  id: "bleu-mirror",
  title: "Changed words against mirrored style",
  how: "A point far right is a model whose responses change in their words, one high up a model that takes on the wording's style; points along a rising line would say that the two go together.",
  controls: () => [{ key: "point", label: "A point is", options: [{ value: "sgs", text: "a model on a data set" }, { value: "scores", text: "a model on a prompt" }] }],
  points(page, state) {
    const rows = state.point === "sgs" ? page.rows("sgs").filter((row) => row.dataset !== "") : page.rows("scores");
    const value = (row) => (state.point === "sgs" ? row.sgs : row.s);
    const groups = grouped(rows.filter((row) => ["bleu", "mirror"].includes(row.axis)), (row) => JSON.stringify([row.label, row.dataset, row.prompt_id ?? ""]));
    return [...groups.values()].map((pair) => {
      const of = (axis) => pair.find((row) => row.axis === axis);
      return of("bleu") && of("mirror") ? { ...pair[0], bleu: value(of("bleu")), mirror: value(of("mirror")) } : null;
    }).filter(Boolean);
  },
  missing(page, state) {
    return bleuMirror.points(page, state).length === 0 ? "No model has scores on both bleu and mirror: one needs responses, the other responses and a judge." : null;
  },
  panels(page, state, t) {
    const points = bleuMirror.points(page, state);
    return [{
      height: 380,
      key: modelKey(page, distinct(points.map((row) => row.label)), t),
      text: `Scatter of instability on bleu against instability on mirror, ${count(points.length, "point", "points")}.`,
      option: {
        grid: { left: 70, right: 16, top: 12, bottom: 46 },
        xAxis: valueAxis("instability on bleu", t), yAxis: valueAxis("instability on mirror", t, { nameGap: 46 }),
        tooltip: { formatter: ({ data }) => `${data.row.label}, ${data.row.dataset} ${data.row.prompt_id ?? ""}\nbleu ${score(data.row.bleu)}, mirror ${score(data.row.mirror)}` },
        series: clouds(page, grouped(points, (row) => row.label), t, (row) => ({ value: [row.bleu, row.mirror], row })),
      },
    }];
  },
  table(page, state) {
    const perPrompt = state.point === "scores";
    return {
      caption: `Instability on bleu and mirror by model, data set${perPrompt ? " and prompt" : ""}`,
      head: ["model", "data set", ...(perPrompt ? ["prompt"] : []), "bleu", "mirror"],
      rows: bleuMirror.points(page, state).map((row) => [row.label, row.dataset, ...(perPrompt ? [row.prompt_id] : []), score(row.bleu), score(row.mirror)]),
    };
  },
};
