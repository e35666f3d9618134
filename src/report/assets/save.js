// Save: a figure as SVG or PNG, a table as LaTeX.
//
// In: the drawing of a figure, or the rows of a table. Out: a file that the browser downloads.

function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function toPng(svg) {
  const image = new Image();
  // Text of any script: base64 of its UTF-8 bytes.
  image.src = `data:image/svg+xml;base64,${btoa(Array.from(new TextEncoder().encode(svg), (byte) => String.fromCharCode(byte)).join(""))}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * DENSITY, height: image.height * DENSITY });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function saveButton(title, kind, save) {
  return element("button", { type: "button", "aria-label": `Save ${title} as ${kind}`, onclick: save }, kind);
}

/// The buttons of a figure: `svg` gives its drawing, `rows` its table.
function saveFigure(id, title, svg, rows) {
  return element("span", { class: "save" }, "save as",
    saveButton(title, "SVG", () => download(`${id}.svg`, new Blob([svg()], { type: "image/svg+xml" }))),
    saveButton(title, "PNG", async () => download(`${id}.png`, await toPng(svg()))),
    saveButton(title, "LaTeX", () => saveTable(id, rows())));
}

function saveTable(id, rows) {
  download(`${id}.tex`, new Blob([latex(rows)], { type: "application/x-tex" }));
}
