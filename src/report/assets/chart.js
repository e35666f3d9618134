// Chart: what all charts have in common.
//
// In: the particulars of a chart. Out: an ECharts option in the page's colours, drawn as SVG, with a text for readers
// who do not see it.

const SMALL = 12;
/// Named, as widths of texts are measured with it: it is that of the page.
const FONT = "system-ui, -apple-system, \"Segoe UI\", \"Helvetica Neue\", Arial, sans-serif";

/// Draws into an element and keeps to its width. What a tooltip's formatter gives is text, not markup: names in it are
/// the users' own.
function draw(place, option, t, text) {
  const said = option.tooltip?.formatter;
  const formatter = said && ((point) => echarts.format.encodeHTML(said(point)).replaceAll("\n", "<br>"));
  const chart = echarts.init(place, null, { renderer: "svg" });
  chart.setOption({
    animation: false,
    backgroundColor: "transparent",
    color: t.colors,
    textStyle: { fontFamily: FONT, fontSize: SMALL, color: t.text },
    aria: { enabled: true, label: { enabled: true, description: text } },
    ...option,
    tooltip: {
      confine: true, backgroundColor: t.back, borderColor: t.line,
      textStyle: { color: t.text, fontSize: SMALL }, ...(option.tooltip || {}), ...(formatter && { formatter }),
    },
  });
  // On paper the drawing is scaled to the width of the column.
  place.querySelector("svg").setAttribute("viewBox", `0 0 ${chart.getWidth()} ${chart.getHeight()}`);
  place.setAttribute("role", "img");
  return chart;
}

/// An axis of numbers.
function valueAxis(name, t, more = {}) {
  return {
    type: "value", name, nameLocation: "middle", nameGap: 30, scale: true,
    nameTextStyle: { color: t.soft }, axisLabel: { color: t.soft, hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: t.line } }, splitLine: { lineStyle: { color: t.line, opacity: 0.5 } }, ...more,
  };
}

/// An axis of names.
function nameAxis(names, t, more = {}) {
  const { axisLabel = {}, ...rest } = more;
  return {
    type: "category", data: names, axisTick: { show: false }, axisLine: { lineStyle: { color: t.line } },
    axisLabel: { color: t.text, interval: 0, ...axisLabel }, ...rest,
  };
}

/// Whether the page is as narrow as a phone.
function isNarrow() {
  return window.innerWidth < 600;
}

/// The width that model names get beside a chart; longer ones are broken.
function beside(names) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${SMALL}px ${FONT}`;
  const longest = Math.max(...names.map((name) => pen.measureText(name).width), 1);
  return Math.min(Math.ceil(longest) + 14, isNarrow() ? 96 : 200);
}

function modelAxis(names, t, more = {}) {
  return nameAxis(names, t, { inverse: true, axisLabel: { width: beside(names) - 8, overflow: "break", lineHeight: 13 }, ...more });
}

/// What each line or cloud of a chart is called, all of them at once and on paper too.
function key(entries) {
  return element("ul", { class: "key" }, entries.map(({ name, look }) => element("li", {}, swatch(look), name)));
}

const DASHES = { solid: "none", dashed: "6 3", dotted: "2 2" };
const SHAPES = {
  circle: ["circle", { cx: 14, cy: 7, r: 4 }], rect: ["rect", { x: 10, y: 3, width: 8, height: 8 }],
  triangle: ["path", { d: "M14 2 L19 11 H9 Z" }], diamond: ["path", { d: "M14 2 L19 7 L14 12 L9 7 Z" }],
};

function swatch({ color, symbol, dash }) {
  const made = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([at, value]) => node.setAttribute(at, value));
    return node;
  };
  const hollow = symbol.startsWith("empty");
  const [shape, place] = SHAPES[symbol.replace("empty", "").toLowerCase()];
  const svg = made("svg", { width: 28, height: 14, "aria-hidden": "true" });
  svg.append(made("line", { x1: 0, y1: 7, x2: 28, y2: 7, stroke: color, "stroke-width": 2, "stroke-dasharray": DASHES[dash] }),
    made(shape, { ...place, fill: hollow ? "var(--back)" : color, stroke: color, "stroke-width": 1.5 }));
  return svg;
}

/// Intervals as lines with ends. Data: `[place on the axis of names, low, high]`.
function whiskers(data, horizontal, color, name) {
  return {
    type: "custom", name, silent: true, z: 1, data, itemStyle: { color },
    encode: horizontal ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
    renderItem: (params, api) => {
      const point = (value) => api.coord(horizontal ? [value, api.value(0)] : [api.value(0), value]);
      const [a, b] = [point(api.value(1)), point(api.value(2))];
      const end = horizontal ? [0, 4] : [4, 0];
      const line = (from, to) => ({
        type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style: { stroke: color, lineWidth: 1.5 },
      });
      const across = (p) => line([p[0] - end[0], p[1] - end[1]], [p[0] + end[0], p[1] + end[1]]);
      return { type: "group", children: [line(a, b), across(a), across(b)] };
    },
  };
}

/// Lines across the chart at values that mean something.
function mark(axis, values, label, t) {
  return {
    silent: true, symbol: "none", lineStyle: { color: t.soft, type: "dashed" },
    label: { color: t.soft, position: axis === "xAxis" ? "start" : "end", rotate: 0, distance: 3, fontSize: 11 },
    data: values.map((value) => ({ [axis]: value, label: { formatter: label(value) } })),
  };
}

/// How a model looks: the same in every figure.
function lookOf(page, model, t) {
  return look(page.models.indexOf(model), t);
}

/// The key of models.
function modelKey(page, models, t) {
  return models.map((name) => ({ name, look: lookOf(page, name, t) }));
}

/// The points of a scatter chart, a series a model.
function clouds(page, groups, t, point) {
  return [...groups].map(([name, rows]) => {
    const { color, symbol } = lookOf(page, name, t);
    return { type: "scatter", name, symbol, symbolSize: 9, itemStyle: { color, opacity: 0.85 }, data: rows.map(point) };
  });
}
