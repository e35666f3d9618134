// Elements: parts of the page, made of nothing but the DOM.
//
// In: names, attributes, children. Out: elements. Text is always set as text, so that no response can become markup.

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/// A labelled select; `options` are `{value, text}`.
function select(id, label, options, value, change) {
  const field = element("select", { id, onchange: () => change(field.value) }, options.map((option) =>
    element("option", { value: option.value, selected: option.value === value }, option.text)));
  return element("div", { class: "control" }, element("label", { for: id }, label), field);
}

/// A table that scrolls within its own region; the first column names the row.
function table({ caption, head, rows }) {
  const left = areTexts(head, rows);
  const cell = (value, i) => element(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: left[i] ? "left" : null }, number(value));
  return element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
    element("table", {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, head.map((name, i) => element("th", { scope: "col", class: left[i] ? "left" : null }, name)))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}

function note(text) {
  return element("p", { class: "note" }, text);
}
