// The points: a measure over a parameter, a resource or the rank; peers and the peak as lines.
const LEFT = 56, RIGHT = 14, TOP = 30, LANE = 24;

function points(context) {
  const { svg, view, measure, width, height } = context;
  const failed = view.points.filter((p) => p.ms === null);
  const bottom = height - 44 - (failed.length ? LANE : 0);
  const scale = measureScale(view, measure, context.near, bottom, TOP);
  const inside = (p) => p.ms === null || scale.has(valueOf(measure, p.ms));
  const shown = view.points.filter(inside);
  const places = placesOf(shown, context.x, LEFT + 8, width - RIGHT - 8);
  yAxis(svg, scale, measure, width, bottom);
  const order = twoStages(view) ? "the finals, then first looks only, each fastest first" : "configurations, fastest first";
  xAxis(svg, places, context.x === "rank" ? order : factName(context.x), width, height - 30);
  if (failed.length) {
    draw(svg, "line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: bottom + LANE, y2: bottom + LANE });
    draw(svg, "text", { class: "small", x: LEFT - 6, y: bottom + LANE / 2 + 4, "text-anchor": "end" }, "failed");
  }
  const labels = lines(context, scale, width);
  const drawn = [];
  for (const point of [...shown].reverse()) {
    const x = places.of(point), y = point.ms === null ? bottom + LANE / 2 : scale.of(valueOf(measure, point.ms));
    whisker(context, point, x, scale);
    mark(context, symbol(svg, lookOf(view, point), x, y), point, "point");
    rings(context, point, x, y);
    drawn.push({ point, x, y });
  }
  name(svg, labels, drawn, width);
  const hidden = view.points.length - shown.length;
  if (hidden) draw(svg, "text", { class: "small", x: LEFT + 8, y: bottom - 6 }, `${hidden} slower than this range`);
  drawn.sort((a, b) => a.x - b.x || a.y - b.y);
  return (label, key) => step(drawn.map((d) => d.point), context, label, key);
}

// The next configuration for an arrow key: left and right as drawn, up to the better, down to the worse.
function step(inOrder, context, label, key) {
  const ranked = context.view.points.filter((p) => inOrder.includes(p));
  const order = key === "ArrowUp" || key === "ArrowDown" || key === "Home" || key === "End" ? ranked : inOrder;
  const at = order.findIndex((p) => p.label === label);
  const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: order.length - 1 }[key];
  return order[Math.max(0, Math.min(order.length - 1, next))]?.label;
}

function whisker({ svg, measure }, point, x, scale) {
  const interval = point.ms === null ? null : intervalOf(measure, point);
  if (!interval) return;
  const [low, high] = interval.map((v) => scale.of(Math.max(scale.low, Math.min(scale.high, v))));
  draw(svg, "path", { class: `whisker ${point.status}`, d: `M${x} ${low}V${high}M${x - 4} ${low}H${x + 4}M${x - 4} ${high}H${x + 4}` });
}

// Few values: a column for each, its points side by side, fastest first. Many: where they are.
function placesOf(points, name, left, right) {
  if (name === "rank") {
    const last = Math.max(1, points.length - 1);
    const at = new Map(points.map((p, i) => [p.label, left + 4 + (i / last) * (right - left - 8)]));
    return { of: (p) => at.get(p.label), ticks: [] };
  }
  const known = [...new Set(points.map((p) => propertyOf(p, name)).filter((v) => v !== undefined))];
  known.sort((a, b) => a - b);
  const unknown = points.filter((p) => propertyOf(p, name) === undefined);
  if (known.length > 12) return manyPlaces(known, name, unknown, left, right);
  const columns = [...known, ...(unknown.length ? [undefined] : [])], wide = (right - left) / (columns.length || 1);
  const at = new Map();
  columns.forEach((value, i) => {
    const members = points.filter((p) => propertyOf(p, name) === value);
    const each = Math.min(16, (0.8 * wide) / members.length);
    members.forEach((p, j) => at.set(p.label, left + (i + 0.5) * wide + (j - (members.length - 1) / 2) * each));
  });
  const ticks = columns.map((v, i) => [left + (i + 0.5) * wide, v === undefined ? "unknown" : factText(name, v)]);
  const edges = columns.slice(1).map((_, i) => left + (i + 1) * wide);
  return { of: (p) => at.get(p.label), ticks, edges };
}

function manyPlaces(known, name, unknown, left, right) {
  const low = known[0], high = known[known.length - 1], end = unknown.length ? right - 96 : right - 4;
  const of = (v) => left + 4 + ((v - low) / (high - low)) * (end - left - 4);
  const each = Math.min(12, 48 / (unknown.length || 1)), middle = right - 30;
  const aside = new Map(unknown.map((p, i) => [p.label, middle + (i - (unknown.length - 1) / 2) * each]));
  const ticks = ticksOf(low, high, 6).map((v) => [of(v), factText(name, v)]);
  const edges = unknown.length ? [right - 66] : [];
  return { of: (p) => aside.get(p.label) ?? of(propertyOf(p, name)), ticks: unknown.length ? [...ticks, [middle, "unknown"]] : ticks, edges };
}

function yAxis(svg, scale, measure, width, bottom) {
  for (const value of scale.ticks) {
    const y = scale.of(value);
    draw(svg, "line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y, y2: y });
    draw(svg, "text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, number(value));
  }
  draw(svg, "line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: bottom, y2: bottom });
  draw(svg, "text", { class: "title", x: 8, y: 16 }, `${measure.unit}${measure.work === null ? " per call, less is better" : ""}`);
}

function xAxis(svg, places, title, width, y) {
  for (const x of places.edges ?? []) draw(svg, "line", { class: "grid", x1: x, x2: x, y1: TOP, y2: y - 14 });
  let last = -Infinity;
  for (const [x, text] of places.ticks) {
    const half = 3.5 * text.length;
    if (x - half < last) continue;
    last = x + half + 6;
    draw(svg, "text", { x, y, "text-anchor": "middle" }, text);
  }
  draw(svg, "text", { class: "title", x: (LEFT + width - RIGHT) / 2, y: places.ticks.length ? y + 20 : y + 4, "text-anchor": "middle" }, title);
}

// Peers and the peak. Another precision does not set the scale: beyond it, words at the edge say how far.
function lines({ svg, view, measure }, scale, width) {
  const all = view.peers.map((p) => ({ value: valueOf(measure, p.ms), text: `${p.name} ${number(valueOf(measure, p.ms))}`, kind: p.other_precision ? "other" : "peer" }));
  if (measure.peak !== null) all.push({ value: measure.peak, text: `${measure.meaning} ${number(measure.peak)}`, kind: "peak" });
  let beyond = 0;
  const labels = [];
  for (const line of all) {
    if (scale.has(line.value)) {
      const y = scale.of(line.value);
      draw(svg, "line", { class: line.kind, x1: LEFT, x2: width - RIGHT, y1: y, y2: y });
      labels.push({ ...line, y: y - 5 });
    } else if (line.kind !== "peak") {
      const arrow = line.value > scale.high ? "\u2191" : "\u2193";
      draw(svg, "text", { class: "halo", x: width - RIGHT, y: 16 + 14 * beyond++, "text-anchor": "end" }, `${line.text} ${measure.unit} ${arrow} off this scale`);
    }
  }
  return labels;
}

// Each line's name at the end where fewer points are in its way; names never on each other.
function name(svg, labels, drawn, width) {
  labels.sort((a, b) => b.y - a.y);
  labels.forEach((label, i) => {
    const y = i && labels[i - 1].y - label.y < 14 ? labels[i - 1].y - 14 : label.y, long = 6.6 * label.text.length;
    label.y = y;
    const hidden = (from) => drawn.filter((d) => d.x > from - 6 && d.x < from + long + 6 && d.y > y - 16 && d.y < y + 8).length;
    const atLeft = hidden(LEFT + 4) < hidden(width - RIGHT - 4 - long);
    draw(svg, "text", { class: "halo", x: atLeft ? LEFT + 4 : width - RIGHT - 4, y, "text-anchor": atLeft ? "start" : "end" }, label.text);
  });
}
