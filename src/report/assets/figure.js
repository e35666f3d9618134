// Figure: a chart with its title, how to read it, its controls, and its table.
//
// In: a description of a figure. Out: a section of the page, drawn anew when a control or the colours change.
// Where the run has nothing to draw, words say why; there is no empty box.

/// `spec`: id, title, how (a sentence, or one made of the page), controls(page), panels(page, state, theme), table(page, state),
/// missing(page, state): why there is nothing to see, or null; width: wide or square panels; alone: panels are also files of
/// their own. A panel: name (where it is a file), title, key (how each line or cloud looks: `{name, look}`), width (what it
/// needs in a file at least), height, text (for readers who do not see it), option (of ECharts).
function figure(page, spec) {
  const controls = controlsOf(page, spec);
  const state = firstState(controls);
  const panels = element("div", { class: `panels ${spec.width ?? ""}` });
  const tablePlace = element("div", { id: `${spec.id}-table`, hidden: true });
  const button = element("button", {
    type: "button", "aria-expanded": "false", "aria-controls": tablePlace.id, onclick: () => {
      tablePlace.hidden = !tablePlace.hidden;
      button.setAttribute("aria-expanded", String(!tablePlace.hidden));
      fillTable();
    },
  }, "as table");
  button.setAttribute("aria-label", `${spec.title} as table`);
  const chosen = element("p", { class: "chosen" });
  const save = saveFigure(spec.id, spec.title, () => drawing(page, spec, state), () => spec.table(page, state));
  let charts = [];

  const fillTable = () => {
    if (!tablePlace.hidden) tablePlace.replaceChildren(table(spec.table(page, state)));
  };
  const redraw = () => {
    charts.forEach((chart) => chart.dispose());
    charts = [];
    // On paper there are no controls.
    chosen.textContent = chosenWords(controls, state);
    const missing = spec.missing(page, state);
    panels.replaceChildren(...(missing ? [note(missing)] : []));
    button.hidden = missing !== null;
    save.hidden = missing !== null;
    if (missing) {
      tablePlace.hidden = true;
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const t = theme();
    // All places first: a chart takes the width that its place has when it is drawn.
    const placed = spec.panels(page, state, t).map((panel) => {
      const place = element("div", { class: "chart", style: `height: ${panel.height}px` });
      panels.append(element("div", { class: "panel" }, panel.title ? element("h3", {}, panel.title) : null, panel.key ? key(panel.key) : null, place));
      return [place, panel];
    });
    charts = placed.map(([place, panel]) => draw(place, panel.option, t, panel.text));
    fillTable();
  };
  const fields = controls.length > 0
    ? element("div", { class: "controls" }, controls.map((control) =>
      select(`${spec.id}-${control.key}`, control.label, control.options, state[control.key], (value) => {
        state[control.key] = value;
        redraw();
      })))
    : null;
  const section = element("section", { id: spec.id, "aria-labelledby": `${spec.id}-title`, class: "figure" },
    element("h2", { id: `${spec.id}-title` }, spec.title), element("p", { class: "how" }, typeof spec.how === "function" ? spec.how(page) : spec.how), fields, chosen, panels, button, save, tablePlace);
  return { id: spec.id, title: spec.title, section, redraw };
}
