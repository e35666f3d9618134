// LaTeX: a table as a paper takes it.
//
// In: a table. Out: its source, for the package booktabs.

const LATEX = {
  "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}",
  // In the font encoding that LaTeX begins with, these are other characters.
  "<": "$<$", ">": "$>$", "|": "$|$",
  "†": "$\\dagger$", "–": "--", "…": "\\ldots{}",
};

function latex({ caption, head, rows }) {
  // Two hyphens would become a dash; a number's sign is a minus, not a hyphen.
  const text = (value) => [...number(value)].map((c, i, all) => (c === "-" && all[i + 1] === "-" ? "-{}" : LATEX[c] ?? c)).join("").replace(/(^|\[| )-(?=\d)/g, "$1$$-$$");
  // A bracket or star at the start of a row would belong to the line before it.
  const line = (cells) => `  ${cells.map((cell) => text(cell)).join(" & ").replace(/^[[*]/, "{$&}")} \\\\`;
  return ["\\begin{table}", "  \\centering", `  \\caption{${text(caption)}}`, `  \\begin{tabular}{${areTexts(head, rows).map((isText) => (isText ? "l" : "r")).join("")}}`, "  \\toprule", line(head), "  \\midrule",
    ...rows.map(line), "  \\bottomrule", "  \\end{tabular}", "\\end{table}", ""].join("\n");
}
