// Files: what is written of a run, without a browser.
//
// In: the page's data, and what is asked for. Out: each figure and table under the name of its file, and words on what is
// not written and why.

/// Controls that say what a figure is of; the others say how it is shown.
const SUBJECTS = ["run", "model", "dataset", "axis"];
/// Most values of a control that get a file each.
const MOST_VALUES = 20;

/// The figure as it is at first, then one for each other run, model, data set and axis, the rest as at first.
function statesOf(page, spec) {
  const controls = controlsOf(page, spec);
  const first = firstState(controls);
  const states = [{ name: spec.id, state: first }];
  const notes = [];
  for (const control of controls.filter(({ key }) => SUBJECTS.includes(key))) {
    // All data sets together are a choice, but none of them.
    const all = control.options.filter(({ value }) => value !== "").length;
    if (all > MOST_VALUES) {
      const shown = control.options.find(({ value }) => value === first[control.key]).text;
      notes.push(`${spec.id} has ${all} choices of ${control.label.toLowerCase()}: only ${shown} is written, the page has all`);
      continue;
    }
    control.options.forEach(({ value, text }, i) => {
      // A name without a plain letter is told by its place.
      if (value !== first[control.key]) states.push({ name: `${spec.id}-${plain(text) || i + 1}`, state: { ...first, [control.key]: value } });
    });
  }
  return { states, notes };
}

/// A name as a file can have it.
function plain(name) {
  return name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 100);
}

/// Names, each once, capitals or not.
function onlyOnce() {
  const taken = new Set();
  return (name) => {
    let free = name;
    for (let n = 2; taken.has(free.toLowerCase()); n++) free = `${name}-${n}`;
    taken.add(free.toLowerCase());
    return free;
  };
}

function figureFiles(page, spec, { pictures, tables }) {
  const named = onlyOnce();
  const { states, notes } = statesOf(page, spec);
  const asked = states.map(({ name, state }) => ({ file: named(name), state, missing: spec.missing(page, state) }));
  if (asked.every(({ missing }) => missing)) return { files: [], notes: [`${spec.id} is not written: ${asked[0].missing}`] };
  const [written, left] = [asked.filter(({ missing }) => !missing), asked.filter(({ missing }) => missing)];
  const files = written.map(({ file, state }) => ({ name: file, svg: pictures ? drawing(page, spec, state) : null, tex: tables ? latex(spec.table(page, state)) : null }));
  if (spec.alone && pictures && !asked[0].missing) {
    const panels = spec.panels(page, asked[0].state, fileTheme());
    // One panel may be of all together.
    const few = panels.length <= MOST_VALUES + 1;
    if (!few) notes.push(`${spec.id} has ${panels.length} panels: only all together are written`);
    for (const [i, { name }] of (few && panels.length > 1 ? panels : []).entries()) {
      files.push({ name: named(`${spec.id}-${plain(name) || i + 1}`), svg: drawing(page, spec, asked[0].state, name), tex: null });
    }
  }
  return { files, notes: [...notes, ...left.map(({ file, missing }) => `${file} is not written: ${missing}`)] };
}

function tableFiles(page, spec, { tables }) {
  if (!tables) return { files: [], notes: [] };
  const missing = spec.missing(page);
  if (missing) return { files: [], notes: [`${spec.id} is not written: ${missing}`] };
  const all = spec.tables(page);
  return {
    files: all.filter(({ rows }) => rows.length > 0).map((table) => ({ name: table.id, svg: null, tex: latex(table) })),
    notes: all.filter(({ rows }) => rows.length === 0).map(({ id, none }) => `${id} is not written: ${none ?? "it has no rows."}`),
  };
}

/// The files of one figure or table, as JSON. `data`: that of the page, as JSON; `asked`: `{pictures, tables}`.
function filesOf(data, id, asked) {
  echarts.setPlatformAPI({ measureText: (text, font) => plainWidth(text ?? "", font) });
  const page = openData(JSON.parse(data), []);
  const [figure, table] = [FIGURES, TABLES].map((all) => all.find((spec) => spec.id === id));
  return JSON.stringify(figure ? figureFiles(page, figure, JSON.parse(asked)) : tableFiles(page, table, JSON.parse(asked)));
}

return { ids: JSON.stringify([...FIGURES, ...TABLES].map((spec) => spec.id)), filesOf };
