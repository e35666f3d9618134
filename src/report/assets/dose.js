// Dose-response: how behaviour moves with the strength of a rewording, by kind and place.

const PLACES = ["prefix", "suffix", "global"];

const dose = {
  id: "dose",
  title: "Dose and response",
  how: (page) => "A panel is a kind of rewording, a point one of its strengths, a line the place of the change; further from 0 is a stronger effect, and where the curve rises with strength the dose matters. "
    + `Deltas are divided by the axis's scale R. Lines through points are ${confidence(page)} intervals over prompts; each panel has its own scale.`,
  controls(page) {
    const rows = page.rows("dose");
    return [modelControl(page, rows), axisControl(page, axesOf(page, rows), "bleu"),
      { key: "value", label: "Value", options: [{ value: "mean_delta", text: "mean delta, with its sign" }, { value: "s", text: "root mean square (s)" }] },
      { key: "method", label: "Interval", options: [{ value: "bca", text: "BCa bootstrap" }, { value: "t", text: "t distribution" }], value: method(page, rows) }];
  },
  rows: (page, state) => page.rows("dose").filter((row) => row.label === state.model && row.axis === state.axis),
  missing(page, state) {
    return dose.rows(page, state).length === 0 ? `${state.model ?? "The run"} has no wordings with a strength${state.axis ? ` on ${state.axis}` : ""}.` : null;
  },
  panels(page, state, t) {
    return [...grouped(dose.rows(page, state), (row) => row.subtype)].map(([subtype, rows]) => {
      const order = [...rows].sort((a, b) => (a.strength ?? 0) - (b.strength ?? 0));
      const levels = distinct(order.map((row) => row.level));
      const places = distinct([...PLACES.filter((place) => rows.some((row) => row.place === place)), ...rows.map((row) => row.place)]);
      const apart = (i) => (i - (places.length - 1) / 2) * 0.14;
      const series = places.flatMap((place, i) => {
        const { color, symbol, dash } = look(i, t);
        const mine = order.filter((row) => row.place === place);
        const x = (row) => levels.indexOf(row.level) + apart(i);
        const [low, high] = ["low", "high"].map((end) => (row) => row[`${state.method}_${end}`]);
        const known = mine.filter((row) => low(row) !== null && high(row) !== null);
        const line = {
          type: "line", name: place ?? "no place", symbol, symbolSize: 7, color, lineStyle: { type: dash, color },
          data: mine.map((row) => ({ value: [x(row), row[state.value]], row })),
          markLine: i === 0 && state.value === "mean_delta" ? mark("yAxis", [0], () => "", t) : undefined,
        };
        return state.value === "s" ? [line] : [line, whiskers(known.map((row) => [x(row), low(row), high(row)]), false, color)];
      });
      return {
        title: subtype,
        height: 250,
        key: places.map((place, i) => ({ name: place ?? "no place", look: look(i, t) })),
        text: `${subtype} on ${state.axis} for ${state.model}: ${state.value === "s" ? "s" : "mean delta"} at strengths ${levels.join(", ")}.`,
        option: {
          grid: { left: 60, right: 12, top: 12, bottom: 46 },
          xAxis: valueAxis("strength", t, {
            min: -0.5, max: levels.length - 0.5, splitLine: { show: false }, axisTick: { customValues: levels.map((_, i) => i) },
            axisLabel: { color: t.soft, customValues: levels.map((_, i) => i), formatter: (i) => levels[i] ?? "" },
          }),
          yAxis: valueAxis(state.value === "s" ? "s of delta / R" : "mean delta / R", t, { nameGap: 44, scale: false }),
          tooltip: {
            formatter: ({ data }) => (data.row ? `${subtype} ${data.row.place ?? ""} ${data.row.level}\nmean delta ${number(data.row.mean_delta)} ${range(data.row[`${state.method}_low`], data.row[`${state.method}_high`])}\ns ${number(data.row.s)}, ${count(data.row.n_prompts, "prompt", "prompts")}` : ""),
          },
          series,
        },
      };
    });
  },
  table(page, state) {
    return {
      caption: `Dose and response of ${state.model} on ${state.axis}`,
      head: ["kind", "place", "strength", "mean delta / R", "BCa interval", "t interval", "s", "prompts"],
      rows: dose.rows(page, state).map((row) => [row.subtype, row.place, row.level, row.mean_delta, range(row.bca_low, row.bca_high), range(row.t_low, row.t_high), row.s, row.n_prompts]),
    };
  },
};
