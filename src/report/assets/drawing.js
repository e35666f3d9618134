// Drawing: a figure as one SVG, for files.
//
// In: a figure and its state. Out: the SVG of its panels, titles, keys and charts, on white. Nothing of it hangs on the
// place where it is drawn: the page's buttons and the program get it from here, without a document.

/// Least widths of a panel in pixels: of one that stands alone, one of several, and those that a figure asks for; the cells
/// of a wide one say how wide it is.
const PANEL = { alone: 640, several: 340, square: 520, wide: 0 };
/// A page of a paper, within its margins, in the same pixels (96 to the inch): a figure is laid out to fill it well.
const PAPER = { width: 624, height: 864 };
/// At this share of the pixels, texts have 8 points: more is not worth another row.
const READABLE = 0.85;
const GAP = 24;
const MARGIN = 8;
const LINE = 18;
const TITLE = 14;
/// Pixels of a PNG for each of the drawing.
const DENSITY = 3;

/// Files are in light colours.
function fileTheme() {
  return { ...palette(false), font: FILE_FONT, narrow: false, names: 200 };
}

/// A figure in a state; `only`: the name of the one panel that is wanted.
function drawing(page, spec, state, only = null) {
  const t = fileTheme();
  const all = spec.panels(page, state, t);
  const panels = only === null ? all : all.filter((panel) => panel.name === only);
  const width = Math.ceil(Math.max(PANEL[spec.width ?? (panels.length === 1 ? "alone" : "several")], ...panels.map((panel) => panel.width ?? 0)));
  const cells = panels.map((panel) => ({ panel, head: heading(panel, t, width) }));
  const rows = inRows(cells, width);
  const columns = Math.max(...rows.map((row) => row.length));
  const whole = { width: columns * width + (columns - 1) * GAP + 2 * MARGIN, height: rows.reduce((sum, row) => sum + heightOf(row), 0) + (rows.length - 1) * GAP + 2 * MARGIN };
  const parts = [];
  let y = MARGIN;
  for (const row of rows) {
    const head = headOf(row);
    row.forEach(({ panel, head: { parts: words } }, column) => {
      const x = MARGIN + column * (width + GAP);
      parts.push(tag("g", { transform: `translate(${x} ${y})` }, words));
      // Charts of a row stand in line, whatever stands over them.
      parts.push(tag("g", { transform: `translate(${x} ${y + head})` }, [chartSvg(panel.option, t, width, panel.height)]));
    });
    y += heightOf(row) + GAP;
  }
  const chosen = chosenWords(controlsOf(page, spec), state);
  return tag("svg", { xmlns: "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink", width: whole.width, height: whole.height, viewBox: `0 0 ${whole.width} ${whole.height}`, "font-family": t.font, role: "img" }, [
    tag("title", {}, [escaped([spec.title, only, chosen].filter(Boolean).join(". "))]),
    tag("desc", {}, [escaped(panels.map((panel) => panel.text).join(" "))]),
    tag("rect", { width: whole.width, height: whole.height, fill: t.back }, []),
    ...parts,
    // XML has no place for control characters, which names may hold.
  ]).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd") + "\n";
}

function headOf(row) {
  return Math.max(...row.map(({ head }) => head.height));
}

function heightOf(row) {
  return headOf(row) + Math.max(...row.map(({ panel }) => panel.height));
}

/// As many panels a row as make the figure's texts largest on a page; of layouts that are large enough, the flattest.
function inRows(cells, width) {
  const layouts = [1, 2, 3].filter((columns) => columns <= cells.length).map((columns) => {
    const rows = Array.from({ length: Math.ceil(cells.length / columns) }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
    const [across, down] = [columns * width + (columns - 1) * GAP, rows.reduce((sum, row) => sum + heightOf(row) + GAP, 0)];
    return { rows, share: Math.min(PAPER.width / across, PAPER.height / down, READABLE) };
  });
  return layouts.reduce((best, layout) => (layout.share >= best.share ? layout : best)).rows;
}

/// Title and key of a panel: their parts, and the room that they take.
function heading(panel, t, width) {
  const parts = [];
  let y = 0;
  const write = (text, x, size, weight) => parts.push(tag("text", { x, y: y + 13, "font-size": size, "font-weight": weight, fill: t.text }, [escaped(text)]));
  for (const line of panel.title ? inLines(panel.title, t, width, TITLE) : []) {
    write(line, 0, TITLE, 600);
    y += LINE;
  }
  let x = 0;
  for (const { name, look } of panel.key ?? []) {
    const lines = inLines(name, t, width - 34, SMALL);
    const needed = 34 + Math.max(...lines.map((line) => textWidth(line, t)));
    if (x > 0 && x + needed > width) {
      x = 0;
      y += LINE;
    }
    parts.push(tag("g", { transform: `translate(${x} ${y + 2})` }, swatch(look, t.back).map(([shape, attributes]) => tag(shape, attributes, []))));
    lines.forEach((line, i) => {
      y += i > 0 ? LINE : 0;
      write(line, x + 34, SMALL, 400);
    });
    x += needed + 14;
  }
  if (panel.key?.length > 0) y += LINE;
  return { parts, height: y > 0 ? y + 4 : 0 };
}

/// A text in lines of at most a width; a word that is longer is cut.
function inLines(text, t, width, size) {
  // Bold is a little wider.
  const fits = (line) => textWidth(line, t, size) * (size === TITLE ? 1.08 : 1) <= width;
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (fits(last === "" ? word : `${last} ${word}`)) {
      lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
      continue;
    }
    if (last !== "") lines.push("");
    for (const character of word) {
      if (lines[lines.length - 1] !== "" && !fits(lines[lines.length - 1] + character)) lines.push("");
      lines[lines.length - 1] += character;
    }
  }
  return lines;
}

/// A chart as the parts of an SVG.
function chartSvg(option, t, width, height) {
  const { tooltip, ...shown } = whole(option, t);
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption(shown);
    // Not `renderToSVGString`: it adds styles for a mouse that a file does not have.
    const svg = chart.getZr().painter.renderToString({ cssAnimation: false, cssEmphasis: false, useViewBox: false });
    return svg.slice(svg.indexOf(">") + 1, svg.lastIndexOf("</svg>")).trim()
      .replace(/ ecmeta_[a-z_]+="[^"]*"/g, "")
      // Programs that draw SVG differ in how they take a baseline, not in how they take a shift.
      .replaceAll("dominant-baseline=\"central\"", "dy=\"0.35em\"");
  } finally {
    chart.dispose();
  }
}

function tag(name, attributes, children) {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`).join("");
  return children.length > 0 ? `<${name}${said}>${children.join("")}</${name}>` : `<${name}${said}/>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;");
}
