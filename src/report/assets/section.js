// Section: a part of the page that is read as numbers.
//
// In: a description of tables, or content. Out: a section with its title and how to read it.

function tableSection(id, title, how, ...content) {
  return {
    id, title, redraw: () => {},
    section: element("section", { id, "aria-labelledby": `${id}-title`, class: "figure" }, element("h2", { id: `${id}-title` }, title), element("p", { class: "how" }, how), content),
  };
}

/// The section of a description in tables.js; a button below each table saves it.
function tablesSection(page, spec) {
  const missing = spec.missing(page);
  if (missing) return tableSection(spec.id, spec.title, spec.how, note(missing));
  return tableSection(spec.id, spec.title, spec.how, ...spec.tables(page).flatMap((rows) => (rows.rows.length === 0 && rows.none
    ? [note(rows.none)]
    : [table(rows), element("span", { class: "save" }, "save as", saveButton(rows.caption, "LaTeX", () => saveTable(rows.id, rows)))])));
}
