// Words: numbers and names as the page writes them.
//
// In: values of the tables. Out: text. What is not available is a dash, never 0.

const NONE = "–";

/// A score as `sago run` prints it: four decimals, or a power of ten where these would all be 0.
function score(x) {
  if (x === null || x === undefined) return NONE;
  return x !== 0 && Math.abs(x) < 5e-5 ? x.toExponential(1) : x.toFixed(4);
}

function number(x) {
  if (x === null || x === undefined) return NONE;
  if (typeof x === "boolean") return x ? "yes" : "no";
  if (typeof x !== "number") return String(x);
  if (Number.isInteger(x)) return String(x);
  return Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6 ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}

function datasetName(name) {
  return name === "" ? "all data sets" : name;
}

function count(n, one, many) {
  return `${thousands(n)} ${n === 1 ? one : many}`;
}

/// A whole number with its thousands set apart.
function thousands(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/// The confidence of the page's intervals, as "95 %".
function confidence(page) {
  return distinct(page.facts.map((facts) => `${number(facts.confidence * 100)} %`)).join(" or ");
}

/// The interval that is shown at first: from few prompts BCa is too narrow, or can't be had.
function method(page, rows) {
  return rows.some((row) => row.n_prompts < page.facts[0].enough_prompts) ? "t" : "bca";
}

/// Prompts of a set of rows, as "16" or "8 to 16".
function spread(numbers) {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(least) : `${least} to ${most}`;
}

/// An interval in brackets.
function range(low, high) {
  return low === null || high === null ? NONE : `[${number(low)}, ${number(high)}]`;
}

/// Whether each column of a table holds texts, which stand to the left, or numbers.
function areTexts(head, rows) {
  // With a mark, an interval, or "of how many" behind it; a name may begin with a digit.
  const isNumber = (cell) => typeof cell === "number" || cell === null || /^(–$|\[?-?\d[\d.]*(e[-+]\d+)?(?![\w.-]))/.test(cell);
  return head.map((_, i) => !rows.every((row) => isNumber(row[i])));
}
