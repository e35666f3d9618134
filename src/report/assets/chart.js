// Chart: what all charts have in common.
//
// In: the particulars of a chart, and a theme: colours, the font, whether the place is `narrow`, and `names`, the most
// room that names get beside a chart. Out: an ECharts option. No part of it needs a browser.

const SMALL = 12;

/// An option with what every chart has.
function whole(option, t) {
  return {
    animation: false, backgroundColor: "transparent", color: t.colors,
    textStyle: { fontFamily: t.font, fontSize: SMALL, color: t.text }, ...option,
  };
}

/// Of files: fonts of the same widths, one of which every system has. No quotes: the library puts the names into attributes
/// as they are.
const FILE_FONT = "Arial, Helvetica Neue, Helvetica, Liberation Sans, sans-serif";
/// Their widths of the characters from space to tilde, in thousandths of the font's size.
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
  556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
  667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
  556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// How wide a text is in such a font, without a browser and with one; the page measures its own font by a canvas (screen.js).
function plainWidth(text, font) {
  const size = parseFloat(/([\d.]+)px/.exec(font)?.[1] ?? SMALL);
  const widths = Array.from(text, (c) => WIDTHS[c.codePointAt(0) - 32] ?? (c < "\u0250" || "†–".includes(c) ? 600 : 1000));
  return { width: widths.reduce((sum, width) => sum + width, 0) * size / 1000 };
}

/// How wide a text is as the chart library measures it, which places labels by it.
function textWidth(text, t, size = SMALL) {
  return echarts.format.getTextRect(text, `${size}px ${t.font}`).width;
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

/// The width that model names get beside a chart; longer ones are broken.
function beside(names, t) {
  const longest = Math.max(...names.map((name) => textWidth(name, t)), 1);
  return Math.min(Math.ceil(longest) + 14, t.names);
}

function modelAxis(names, t, more = {}) {
  return nameAxis(names, t, { inverse: true, axisLabel: { width: beside(names, t) - 8, overflow: "break", lineHeight: 13 }, ...more });
}

const DASHES = { solid: "none", dashed: "6 3", dotted: "2 2" };
const SHAPES = {
  circle: ["circle", { cx: 14, cy: 7, r: 4 }], rect: ["rect", { x: 10, y: 3, width: 8, height: 8 }],
  triangle: ["path", { d: "M14 2 L19 11 H9 Z" }], diamond: ["path", { d: "M14 2 L19 7 L14 12 L9 7 Z" }],
};

/// A line with its symbol, as it stands in keys, 28 by 14: elements of SVG, each `[name, attributes]`.
function swatch({ color, symbol, dash }, back) {
  const hollow = symbol.startsWith("empty");
  const [shape, place] = SHAPES[symbol.replace("empty", "").toLowerCase()];
  return [
    ["line", { x1: 0, y1: 7, x2: 28, y2: 7, stroke: color, "stroke-width": 2, "stroke-dasharray": DASHES[dash] }],
    [shape, { ...place, fill: hollow ? back : color, stroke: color, "stroke-width": 1.5 }],
  ];
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
