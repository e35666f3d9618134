// Data: the page's columns, opened into rows.
//
// In: tables as columns. Out: objects, a row each, with the run they are of. No part of it needs a browser.

/// The value of a column in a row; null for what is not available.
function at(column, row) {
  if (Array.isArray(column)) return column[row];
  const code = column.codes[row];
  return code < 0 ? null : column.values[code];
}

function toRows(table) {
  const columns = Object.entries(table.columns);
  return Array.from({ length: table.rows }, (_, row) => Object.fromEntries(columns.map(([name, column]) => [name, at(column, row)])));
}

/// The page's data, of its figures and of the index of its texts: `rows(name)` gives the rows of a query over all runs, each with `run` and the model's `label`.
function openData(data, texts) {
  const known = new Map();
  const several = data.runs.length > 1;
  const rows = (name) => {
    if (!known.has(name)) {
      known.set(name, data.runs.flatMap((run) => toRows(run.tables[name]).map((row) => ({
        ...row,
        run: run.name,
        label: row.model && several ? `${row.model} (${run.name})` : row.model,
      }))));
    }
    return known.get(name);
  };
  const axes = [];
  for (const row of rows("axes")) {
    if (!axes.some((axis) => axis.axis === row.axis)) axes.push(row);
  }
  axes.sort((a, b) => a.position - b.position);
  return {
    runs: data.runs,
    texts,
    several,
    rows,
    axes,
    main: axes.filter((axis) => axis.is_main).map((axis) => axis.axis),
    models: distinct(rows("models").map((row) => row.label)),
    datasets: distinct(rows("sgs").map((row) => row.dataset)).filter((name) => name !== ""),
    facts: rows("facts"),
  };
}

function distinct(values) {
  return [...new Set(values)];
}

/// Rows by a key, in the order in which they come.
function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const name = key(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  return groups;
}
