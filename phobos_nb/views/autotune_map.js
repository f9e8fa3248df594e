// The map: two parameters as rows and columns, every combination of the others a small map of its own.
const GAP = 18, BETWEEN = 58, MOST_MAPS = 24;

function map(context) {
  const { svg, view, width, rows, columns } = context;
  if (!columns) {
    draw(svg, "text", { class: "title", x: 16, y: 28 }, "the kernel has no parameters to map");
    return (label) => label;
  }
  const lines = rows === columns ? [undefined] : view.axes[rows]; // one parameter alone is one row
  const names = Object.keys(view.axes).filter((n) => n !== rows && n !== columns && view.axes[n].length > 1);
  let facets = product(names.map((n) => view.axes[n]));
  const found = new Map(view.points.map((p) => [key(p, [...(rows === columns ? [] : [rows]), columns, ...names]), p]));
  const grid = (facet) => lines.map((r) => view.axes[columns].map((c) => found.get([r, c, ...facet].filter((v) => v !== undefined).join(" "))));
  const best = (facet) => Math.min(...grid(facet).flat().map((p) => p?.ms ?? Infinity));
  const total = facets.length;
  if (total > MOST_MAPS) facets = facets.sort((a, b) => best(a) - best(b)).slice(0, MOST_MAPS);
  const labels = 16 + 7.2 * Math.max(...lines.map((v) => rowName(v).length), 1);
  const across = view.axes[columns].length, down = lines.length;
  const most = Math.min(facets.length, Math.max(1, Math.floor((width - 12) / (labels + 43 * across + GAP))));
  const each = Math.ceil(facets.length / Math.ceil(facets.length / most));
  const cell = Math.min(84, (width - 12 - each * (labels + GAP)) / (each * across)), tall = Math.max(24, Math.min(40, cell * 0.62));
  const shade = shadeOf(view), cells = [];
  facets.forEach((facet, i) => {
    const left = 6 + (i % each) * (labels + cell * across + GAP) + labels;
    const top = 74 + Math.floor(i / each) * (tall * down + BETWEEN);
    const caption = facet.map((v, j) => `${names[j]} = ${v}`).join(", ");
    frame(context, lines, { left, top, cell, tall, caption });
    grid(facet).forEach((line, r) => line.forEach((point, c) => {
      tile(context, point, { x: left + c * cell, y: top + r * tall, cell, tall }, shade);
      cells.push({ point, row: r + Math.floor(i / each) * down, column: c + (i % each) * across });
    }));
  });
  const bands = Math.ceil(facets.length / each);
  svg.dataset.height = 74 + bands * (tall * down + BETWEEN) - BETWEEN + 14;
  const more = total > facets.length ? `; the best ${facets.length} of ${total} maps` : "";
  draw(svg, "text", { class: "title", x: 8, y: 16 }, `${context.measure.unit}, ${rows === columns ? "" : `${rows} down, `}${columns} across${more}`);
  return (label, arrow) => neighbour(cells, label, arrow, context);
}

const key = (point, names) => names.map((n) => point.constants[n]).join(" ");

function product(lists) {
  return lists.reduce((found, list) => found.flatMap((head) => list.map((v) => [...head, v])), [[]]);
}

const rowName = (value) => (value === undefined ? "" : number(value));

function frame({ svg, view, columns }, lines, { left, top, cell, tall, caption }) {
  draw(svg, "text", { class: "caption", x: left, y: top - 22 }, caption);
  view.axes[columns].forEach((v, c) => draw(svg, "text", { x: left + (c + 0.5) * cell, y: top - 5, "text-anchor": "middle" }, number(v)));
  lines.forEach((v, r) => draw(svg, "text", { x: left - 6, y: top + (r + 0.5) * tall + 4, "text-anchor": "end" }, rowName(v)));
}

const SIGNS = { winner: "\u2605 ", tie: "\u25c6 ", ok: "" };

function tile(context, point, { x, y, cell, tall }, shade) {
  const { svg, measure } = context;
  const box = { x: x + 1, y: y + 1, width: cell - 2, height: tall - 2, rx: 2 };
  if (!point) {
    draw(svg, "rect", { class: "untried", ...box });
    draw(svg, "text", { class: "small", x: x + cell / 2, y: y + tall / 2 + 4, "text-anchor": "middle" }, "\u00b7");
    return;
  }
  const group = mark(context, draw(svg, "g", {}), point, "cell");
  const rect = draw(group, "rect", box);
  const text = point.ms === null ? "\u2715 failed" : `${SIGNS[point.status]}${Number(valueOf(measure, point.ms).toPrecision(3))}`;
  if (point.ms !== null) rect.style.fill = `color-mix(in srgb, var(--ph-accent) ${Math.round(65 * shade(point) ** 2)}%, var(--ph-bg))`;
  const short = point.ms === null ? "\u2715" : SIGNS[point.status];
  const fits = cell < 34 || (point.ms === null && cell < 52) ? short : text;
  const size = cell < 52 ? "font-size:11px" : "";
  draw(group, "text", { x: x + cell / 2, y: y + tall / 2 + 4, "text-anchor": "middle", style: size }, fits);
}

// The next cell that has a point, in the direction of the arrow; Home and End go to the best and worst.
function neighbour(cells, label, arrow, context) {
  const taken = cells.filter((c) => c.point);
  const here = taken.find((c) => c.point.label === label) ?? taken[0];
  if (arrow === "Home" || arrow === "End" || !here) return step(context.view.points, context, label, arrow);
  const [dr, dc] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[arrow];
  const ahead = taken.filter((c) => (dr ? c.column === here.column && (c.row - here.row) * dr > 0 : c.row === here.row && (c.column - here.column) * dc > 0));
  ahead.sort((a, b) => Math.abs(a.row - here.row) + Math.abs(a.column - here.column) - Math.abs(b.row - here.row) - Math.abs(b.column - here.column));
  return (ahead[0] ?? here).point.label;
}
