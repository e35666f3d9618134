// Save: a figure as SVG or PNG, its table as LaTeX.
//
// In: the figure as it stands on the page, or the rows of its table. Out: a file that the browser downloads.

function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/// The panels as one drawing: titles, keys and charts where they stand on the page.
function drawing(panels, t) {
  const made = (name, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (text) node.textContent = text;
    return node;
  };
  const frame = panels.getBoundingClientRect();
  const [width, height] = [Math.ceil(frame.width), Math.ceil(frame.height)];
  const whole = made("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT });
  whole.append(made("rect", { width, height, fill: t.back }));
  const put = (svg) => {
    const box = svg.getBoundingClientRect();
    const copy = svg.cloneNode(true);
    copy.removeAttribute("style");
    Object.entries({ x: box.left - frame.left, y: box.top - frame.top, width: box.width, height: box.height }).forEach(([key, value]) => copy.setAttribute(key, value));
    whole.append(copy);
  };
  const write = (node, size, weight, left) => {
    const box = node.getBoundingClientRect();
    whole.append(made("text", { x: box.left - frame.left + left, y: box.top - frame.top + box.height / 2 + size / 3, "font-size": size, "font-weight": weight, fill: t.text }, node.textContent));
  };
  panels.querySelectorAll("h3").forEach((title) => write(title, 15, 600, 0));
  panels.querySelectorAll(".key li").forEach((entry) => write(entry, SMALL, 400, 33));
  panels.querySelectorAll("svg").forEach(put);
  return new XMLSerializer().serializeToString(whole).replaceAll("var(--back)", t.back);
}

async function toPng(svg) {
  const image = new Image();
  // Text of any script: base64 of its UTF-8 bytes.
  image.src = `data:image/svg+xml;base64,${btoa(Array.from(new TextEncoder().encode(svg), (byte) => String.fromCharCode(byte)).join(""))}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

const LATEX = {
  "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}",
  "†": "$\\dagger$", "–": "--", "…": "\\ldots{}",
};

/// A table for LaTeX with the package booktabs.
function latex({ caption, head, rows }) {
  const text = (value) => [...number(value)].map((c) => LATEX[c] ?? c).join("");
  // A row that begins with a bracket would be an option of the line before it.
  const line = (cells) => `  ${cells.map((cell) => text(cell)).join(" & ").replace(/^\[/, "{[}")} \\\\`;
  return ["\\begin{table}", "  \\centering", `  \\caption{${text(caption)}}`, `  \\begin{tabular}{${areTexts(head, rows).map((isText) => (isText ? "l" : "r")).join("")}}`, "  \\toprule", line(head), "  \\midrule",
    ...rows.map(line), "  \\bottomrule", "  \\end{tabular}", "\\end{table}", ""].join("\n");
}

/// The buttons of a figure or table: `rows` gives the table, `panels` holds the charts, where there are any.
function saveButtons(id, title, rows, panels) {
  const button = (kind, save) => element("button", { type: "button", "aria-label": `Save ${title} as ${kind}`, onclick: save }, kind);
  return element("span", { class: "save" }, "save as",
    panels ? button("SVG", () => download(`${id}.svg`, new Blob([drawing(panels, theme())], { type: "image/svg+xml" }))) : null,
    panels ? button("PNG", async () => download(`${id}.png`, await toPng(drawing(panels, theme())))) : null,
    button("LaTeX", () => download(`${id}.tex`, new Blob([latex(rows())], { type: "application/x-tex" }))));
}
