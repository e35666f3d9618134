// List: many rows of which only those in sight are made.
//
// In: a number of rows and how to write one. Out: a listbox that is walked through with the keyboard as well.

const ROW = 44;

function virtualList(id, label, choose) {
  const spacer = element("div", { class: "spacer", role: "presentation" });
  const box = element("div", { id, class: "list", role: "listbox", tabindex: "0", "aria-label": label }, spacer);
  let items = { length: 0, write: () => [] };
  let chosen = 0;

  const fill = () => {
    const first = Math.max(Math.floor(box.scrollTop / ROW) - 4, 0);
    const last = Math.min(Math.ceil((box.scrollTop + (box.clientHeight || 440)) / ROW) + 4, items.length);
    const rows = [];
    for (let row = first; row < last; row++) {
      rows.push(element("div", {
        id: `${id}-${row}`, class: "row", role: "option", style: `top: ${row * ROW}px`, "aria-selected": String(row === chosen),
        "aria-setsize": items.length, "aria-posinset": row + 1, onclick: () => pick(row),
      }, items.write(row)));
    }
    spacer.replaceChildren(...rows);
    const visible = chosen >= first && chosen < last;
    if (visible) box.setAttribute("aria-activedescendant", `${id}-${chosen}`);
    else box.removeAttribute("aria-activedescendant");
  };
  const pick = (row) => {
    if (items.length === 0) return;
    chosen = Math.min(Math.max(row, 0), items.length - 1);
    const top = chosen * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    fill();
    choose(chosen);
  };
  box.addEventListener("scroll", fill, { passive: true });
  box.addEventListener("keydown", (event) => {
    const page = Math.max(Math.floor(box.clientHeight / ROW) - 1, 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    pick(chosen + step);
  });
  return {
    box,
    show(length, write) {
      items = { length, write };
      spacer.style.height = `${length * ROW}px`;
      box.scrollTop = 0;
      fill();
      pick(0);
    },
  };
}
