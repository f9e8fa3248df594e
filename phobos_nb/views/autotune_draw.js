// What the charts of a search share: nodes, numbers, scales, symbols. The files autotune_*.js are
// joined into one module, autotune.js last.
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function draw(parent, tag, attributes, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  parent.append(node);
  return node;
}

// Numbers and words -----------------------------------------------------------------------------

const FACTS = {
  threads: "threads per CTA", registers: "registers per thread", spills: "spilled bytes",
  shared_bytes: "shared bytes per CTA", ctas_per_sm: "CTAs per SM", occupancy: "occupancy",
  stages: "pipeline stages", barriers: "barriers",
};
const SHORT = { shared_bytes: "shared", ctas_per_sm: "CTAs/SM" };

const number = (value) => (Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en-US")
                                                  : Number(value.toPrecision(4)).toString());
const factText = (name, value) => (name === "occupancy" ? `${number(100 * value)} %` : number(value));
const factName = (name) => FACTS[name] ?? name;

function valueOf(measure, ms) {
  return measure.work === null ? ms : measure.work / ms;
}

// The interval of a point or peer in a measure, lower bound first; null where there is none.
function intervalOf(measure, item) {
  if (item.low === null || item.low === undefined) return null;
  return [valueOf(measure, item.low), valueOf(measure, item.high)].sort((a, b) => a - b);
}

function amount(measure, item) {
  const interval = intervalOf(measure, item);
  const bounds = interval ? ` [${number(interval[0])}, ${number(interval[1])}]` : "";
  return `${number(valueOf(measure, item.ms))} ${measure.unit}${bounds}`;
}

function words(point, measure) {
  if (point.ms === null) return `${nameOf(point)}: failed, ${point.status}: ${point.reason}`;
  return [`${nameOf(point)}: ${amount(measure, point)}`, point.status === "ok" ? "" : point.status, point.stage].filter(Boolean).join(", ");
}

// Whether a trait names this configuration; "" is the label of a kernel without parameters, and nobody's.
const same = (label, trait) => trait !== "" && label === trait;
const nameOf = (point) => point.label || "no parameters";

const winnerOf = (view) => view.points.find((p) => p.status === "winner");
const measured = (view) => view.points.filter((p) => p.ms !== null);

// Whether some times are of the finals and others of a first look only: the two do not compare.
const stages = new WeakMap();
function twoStages(view) {
  if (!stages.has(view)) stages.set(view, new Set(measured(view).map((p) => p.stage)).size > 1);
  return stages.get(view);
}

// What a point looks like: its status, or "look" for a first look beside times of the finals.
function lookOf(view, point) {
  if (point.ms === null) return "failed";
  return point.stage === "first look" && twoStages(view) ? "look" : point.status;
}

// Two points as they may be compared: where they are of two stages, by their first looks.
function alike(one, other) {
  if (!other || one.ms === null || other.ms === null || one.stage === other.stage) return [one, other];
  return [one, other].map((p) => ({ ...p, ms: p.first }));
}

// Scales ----------------------------------------------------------------------------------------

// Round numbers in [low, high], about `count` of them.
function ticksOf(low, high, count = 5) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= rough) ?? rough;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
}

// The most of 1, 2, 3, 5 and 7 times the powers of ten that leave at most eight.
function logTicks(low, high) {
  for (const digits of [[1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
      found.push(...digits.map((d) => d * power).filter((v) => v >= low && v <= high));
    if (found.length <= 8) return found.length >= 3 ? found : ticksOf(low, high);
  }
  return ticksOf(Math.log10(low), Math.log10(high)).map((p) => 10 ** p);
}

// Where values of the measure go between `bottom` and `top`: rates from 0, times by their logarithm.
// near: only what is within 15 % of the winner.
function measureScale(view, measure, near, bottom, top, fromZero = true) {
  const inside = near ? nearTest(view) : () => true;
  const peers = fromZero ? view.peers.filter((p) => !p.other_precision) : [];
  const shown = [...measured(view), ...peers].filter(inside);
  const values = shown.flatMap((p) => [valueOf(measure, p.ms), ...(intervalOf(measure, p) ?? [])]);
  if (!near && fromZero && measure.peak !== null && values.length) values.push(measure.peak);
  let low = values.length ? Math.min(...values) : 0, high = values.length ? Math.max(...values) : 1;
  const log = measure.work === null && high > 3 * low && low > 0;
  if (log) [low, high] = [low * 0.93, high * 1.08];
  else if (near || !fromZero || measure.work === null) {
    const pad = (high - low || high || 1) * 0.08;
    [low, high] = [Math.max(0, low - pad), high + pad];
  } else [low, high] = [0, high * 1.06];
  const f = log ? Math.log : (v) => v;
  return {
    low, high, ticks: log ? logTicks(low, high) : ticksOf(low, high),
    of: (v) => bottom - ((f(v) - f(low)) / (f(high) - f(low) || 1)) * (bottom - top),
    has: (v) => v >= low && v <= high,
  };
}

function nearTest(view) {
  const best = winnerOf(view)?.ms ?? 0;
  return (item) => item.ms <= 1.15 * best && item.ms >= best / 1.15;
}

const propertyOf = (point, name) => (name in point.constants ? point.constants[name] : point.facts[name]);

// From 0 for the slowest point that is shown to 1 for the fastest, by what the eye compares.
function shadeOf(view) {
  const times = measured(view).map((p) => Math.log(p.ms));
  const least = Math.min(...times), most = Math.max(...times);
  return (point) => (most > least ? (most - Math.log(point.ms)) / (most - least) : 1);
}

// Symbols: the shape tells the status, the colour only repeats it -------------------------------

function star(x, y, r) {
  const corner = (i) => {
    const length = i % 2 ? r * 0.42 : r, angle = (Math.PI * i) / 5 - Math.PI / 2;
    return `${(x + length * Math.cos(angle)).toFixed(1)},${(y + length * Math.sin(angle)).toFixed(1)}`;
  };
  return [...Array(10).keys()].map(corner).join(" ");
}

function symbol(parent, status, x, y) {
  if (status === "winner") return draw(parent, "polygon", { points: star(x, y, 10) });
  if (status === "tie") return draw(parent, "polygon", { points: `${x},${y - 7} ${x + 7},${y} ${x},${y + 7} ${x - 7},${y}` });
  if (status === "ok" || status === "look") return draw(parent, "circle", { cx: x, cy: y, r: status === "ok" ? 4 : 3.5 });
  return draw(parent, "path", { d: `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x - 4} ${y + 4}L${x + 4} ${y - 4}` });
}

// Make a node stand for a configuration: it can be pointed at, picked and read aloud.
function mark(context, node, point, kind) {
  const classes = ["mark", kind, lookOf(context.view, point)];
  if (point.label === context.picked) classes.push("picked");
  if (same(point.label, context.held)) classes.push("held");
  node.setAttribute("class", classes.join(" "));
  node.setAttribute("role", "option");
  node.setAttribute("id", `${context.prefix}-${context.view.points.indexOf(point)}`);
  node.setAttribute("aria-selected", point.label === context.picked);
  node.setAttribute("aria-label", words(point, context.measure));
  node.dataset.label = point.label;
  return node;
}

// Rings around the picked and the held one, whatever their own shape and colour.
function rings(context, point, x, y) {
  if (point.label === context.picked) draw(context.svg, "circle", { class: "ring", cx: x, cy: y, r: 13 });
  if (same(point.label, context.held)) draw(context.svg, "circle", { class: "ring held", cx: x, cy: y, r: 16 });
}
