// Screen: charts where a reader sees them.
//
// In: an option, and the page's window. Out: a chart that is drawn into an element, keeps to its width, follows the colours
// of the reader's system, and has a text for readers who do not see it.

const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const PRINT = window.matchMedia("print");
/// Named, as widths of texts are measured with it: it is that of the page.
const FONT = "system-ui, -apple-system, \"Segoe UI\", \"Helvetica Neue\", Arial, sans-serif";

{
  const pen = document.createElement("canvas").getContext("2d");
  const onScreen = (text, font) => {
    pen.font = font;
    return pen.measureText(text);
  };
  // A file comes out the same, whichever fonts its reader's browser has.
  echarts.setPlatformAPI({ measureText: (text, font) => (font?.includes(FILE_FONT) ? plainWidth : onScreen)(text ?? "", font ?? `${SMALL}px sans-serif`) });
}

function theme() {
  const narrow = window.innerWidth < 600;
  return { ...palette(DARK.matches && !PRINT.matches), font: FONT, narrow, names: narrow ? 96 : 200 };
}

/// What a tooltip's formatter gives is text, not markup: names in it are the users' own.
function draw(place, option, t, text) {
  const said = option.tooltip?.formatter;
  const formatter = said && ((point) => echarts.format.encodeHTML(said(point)).replaceAll("\n", "<br>"));
  const chart = echarts.init(place, null, { renderer: "svg" });
  chart.setOption({
    ...whole(option, t),
    aria: { enabled: true, label: { enabled: true, description: text } },
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

/// What each line or cloud of a chart is called, all of them at once and on paper too.
function key(entries) {
  return element("ul", { class: "key" }, entries.map(({ name, look }) => {
    const made = ([name, attributes]) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      Object.entries(attributes).forEach(([at, value]) => node.setAttribute(at, value));
      return node;
    };
    const svg = made(["svg", { width: 28, height: 14, "aria-hidden": "true" }]);
    svg.append(...swatch(look, "var(--back)").map(made));
    return element("li", {}, svg, name);
  }));
}
