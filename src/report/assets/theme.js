// Theme: the colours of charts, light and dark.
//
// In: whether the ground is dark. Out: a palette that stays apart for colour-blind readers (Okabe and Ito),
// a sequential and a diverging scale. Colour never stands alone: lines differ by symbol and dash, cells hold their number.

function palette(dark) {
  return {
    dark,
    text: dark ? "#e8e8e8" : "#1c1c1c",
    soft: dark ? "#b8b8b8" : "#4d4d4d",
    line: dark ? "#4a4a4a" : "#d0d0d0",
    back: dark ? "#1b1d20" : "#ffffff",
    colors: dark
      ? ["#56b4e9", "#e69f00", "#2fc48d", "#f0e442", "#e58fc0", "#ff7f50", "#d8d8d8"]
      : ["#0072b2", "#d55e00", "#00805d", "#b5508c", "#8a6500", "#2f8fc4", "#1c1c1c"],
    symbols: ["circle", "rect", "triangle", "diamond", "emptyCircle", "emptyRect", "emptyTriangle"],
    dashes: ["solid", "dashed", "dotted"],
    // Cividis: dark is low, the same for readers who see no red or green.
    scale: ["#00224e", "#2b446e", "#575d6d", "#7d7c78", "#a59c74", "#d2c060", "#fee838"],
    apart: ["#d55e00", "#eab68a", dark ? "#3a3d42" : "#f2f2f2", "#8ab9dc", "#0072b2"],
  };
}

/// How the n-th line of a chart looks: when colours come round they get other symbols and dashes.
function look(n, t) {
  const round = Math.floor(n / t.colors.length);
  return {
    color: t.colors[n % t.colors.length],
    symbol: t.symbols[(n + round) % t.symbols.length],
    dash: t.dashes[round % t.dashes.length],
  };
}

/// The colour of a share 0..1 of a scale.
function onScale(scale, share) {
  const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(place), scale.length - 2);
  const part = place - low;
  const channel = (color, i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mixed = [0, 1, 2].map((i) => Math.round(channel(scale[low], i) * (1 - part) + channel(scale[low + 1], i) * part));
  return `#${mixed.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}

/// Black or white, whichever is read better on a colour (relative luminance of WCAG 2).
function inkOn(color) {
  const light = [0, 1, 2].map((i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16) / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
  return luminance > 0.179 ? "#000000" : "#ffffff";
}
