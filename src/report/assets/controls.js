// Controls: what a figure lets its reader choose.
//
// In: the page's data. Out: `{key, label, options, value}`, an option being `{value, text}`; a figure's state holds the
// chosen value of each under its key.

function options(values, text = (value) => value) {
  return values.map((value) => ({ value, text: text(value) }));
}

/// The controls of a figure that have something to choose from.
function controlsOf(page, spec) {
  return spec.controls ? spec.controls(page).filter((control) => control.options.length > 0) : [];
}

/// What a figure shows before anything is chosen.
function firstState(controls) {
  return Object.fromEntries(controls.map((control) => [control.key, control.value ?? control.options[0].value]));
}

/// What is chosen, in words.
function chosenWords(controls, state) {
  return controls.map((control) => `${control.label}: ${control.options.find((option) => option.value === state[control.key])?.text}`).join("; ");
}

function axisControl(page, axes, value) {
  return { key: "axis", label: "Axis", options: options(axes), value: axes.includes(value) ? value : axes[0] };
}

function datasetControl(page) {
  return { key: "dataset", label: "Data set", options: options(["", ...page.datasets], datasetName) };
}

/// One data set, where no table holds a score of all together.
function oneDatasetControl(page) {
  return { key: "dataset", label: "Data set", options: options(page.datasets) };
}

function modelControl(page, rows) {
  return { key: "model", label: "Model", options: options(distinct(rows.map((row) => row.label))) };
}

/// Axes that rows speak of, in the method's order.
function axesOf(page, rows) {
  const there = new Set(rows.map((row) => row.axis));
  return page.axes.map((axis) => axis.axis).filter((axis) => there.has(axis));
}
