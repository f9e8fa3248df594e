// Parallel coordinates: an axis for every parameter and resource that varies, the measure last.
function parallel(context) {
  const { svg, view, measure, width, height } = context;
  const facts = [...new Set(view.points.flatMap((p) => Object.keys(p.facts)))];
  const varies = (name) => new Set(view.points.map((p) => propertyOf(p, name)).filter((v) => v !== undefined)).size > 1;
  const names = [...Object.keys(view.axes).filter((n) => view.axes[n].length > 1), ...facts.filter(varies)];
  const constant = sameForAll(view, facts.filter((n) => !varies(n)), width);
  const columns = names.length, top = 52, bottom = height - 20 - 14 * constant.length;
  const xOf = (i) => 34 + (i / Math.max(1, columns)) * (width - 34 - 62);
  const axes = names.map((name) => axisOf(view, name, bottom, top));
  const scale = measureScale(view, measure, context.near, bottom, top, false);
  const crowded = (width - 96) / Math.max(1, columns) < 92;
  const shade = shadeOf(view), shown = [];
  for (const point of [...view.points].reverse()) {
    if (point.ms !== null && !scale.has(valueOf(measure, point.ms))) continue;
    shown.unshift(point);
    path(context, point, names.map((n, i) => [xOf(i), axes[i].of(propertyOf(point, n))]), [xOf(columns), scale], shade);
  }
  raise(svg);
  names.forEach((name, i) => coordinate(svg, xOf(i), axes[i].ticks, SHORT[name] ?? name, { top, bottom, low: crowded && i % 2 }));
  coordinate(svg, xOf(columns), scale.ticks.map((v) => [scale.of(v), number(v)]), measure.unit, { top, bottom, low: crowded && columns % 2, right: true });
  constant.forEach((text, i) => draw(svg, "text", { class: "small", x: 8, y: height - 8 - 14 * (constant.length - 1 - i) }, text));
  return (label, arrow) => step(shown, context, label, arrow);
}

// What does not vary, as lines of words that fit the width.
function sameForAll(view, names, width) {
  const parts = names.map((n) => `${factName(n)} ${factText(n, view.points.find((p) => n in p.facts).facts[n])}`);
  const lines = [];
  for (const [i, part] of parts.entries()) {
    const text = `${i ? "" : "the same for all: "}${part}${i < parts.length - 1 ? ", " : ""}`;
    if (lines.length && 6.2 * (lines.at(-1).length + text.length) < width - 16) lines[lines.length - 1] += text;
    else lines.push(text);
  }
  return lines;
}

// The lines that matter most lie on top of the others.
function raise(svg) {
  for (const kind of ["tie", "winner", "held", "picked"]) svg.append(...svg.querySelectorAll(`.line.${kind}`));
}

// Few values stand evenly apart, many where they are.
function axisOf(view, name, bottom, top) {
  const known = [...new Set(view.points.map((p) => propertyOf(p, name)).filter((v) => v !== undefined))].sort((a, b) => a - b);
  const last = known.length - 1;
  if (last < 10) {
    const of = (v) => (v === undefined ? null : bottom - (known.indexOf(v) / Math.max(1, last)) * (bottom - top));
    return { of, ticks: known.map((v) => [of(v), factText(name, v)]) };
  }
  const of = (v) => (v === undefined ? null : bottom - ((v - known[0]) / (known[last] - known[0])) * (bottom - top));
  return { of, ticks: ticksOf(known[0], known[last]).map((v) => [of(v), factText(name, v)]) };
}

function coordinate(svg, x, ticks, title, { top, bottom, low, right = false }) {
  draw(svg, "line", { class: "axis", x1: x, x2: x, y1: top, y2: bottom });
  draw(svg, "text", { class: "title", x, y: low ? 34 : 18, "text-anchor": right ? "end" : "middle", dx: right ? 48 : 0 }, title);
  for (const [y, text] of ticks) {
    draw(svg, "line", { class: "axis", x1: x - 3, x2: x + 3, y1: y, y2: y });
    draw(svg, "text", { class: "halo small", x: right ? x + 8 : x - 6, y: y + 4, "text-anchor": right ? "start" : "end" }, text);
  }
}

function path(context, point, corners, [end, scale], shade) {
  const { svg, measure } = context;
  const known = corners.filter(([, y]) => y !== null);
  if (point.ms !== null) known.push([end, scale.of(valueOf(measure, point.ms))]);
  if (!known.length) return;
  const group = mark(context, draw(svg, "g", {}), point, "line");
  const d = `M${known.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
  draw(group, "path", { class: "wide", d });
  const line = draw(group, "path", { class: "thin", d });
  const faintest = Math.max(0.12, 0.6 - context.view.points.length / 80); // few lines need not make room
  if (point.ms !== null) line.style.opacity = (faintest + (0.85 - faintest) * shade(point) ** 4).toFixed(2);
  const [x, y] = known[known.length - 1];
  if (point.status !== "ok") symbol(group, point.ms === null ? "failed" : point.status, x, y);
}
