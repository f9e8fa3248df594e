// What stands around the charts: the verdict, the picked configuration, a comparison of two, failures.

// The verdict -----------------------------------------------------------------------------------

function verdict(view, measure, box) {
  const winner = winnerOf(view);
  box.replaceChildren();
  if (!winner) return;
  const stopped = view.points.length < view.total ? "best so far" : "best";
  fact(box, stopped, amount(measure, winner), winner.label);
  const rate = view.measures.find((m) => m.name === "share of peak");
  if (rate) fact(box, "share of peak", `${number(valueOf(rate, winner.ms))} %`, rate.meaning);
  for (const peer of view.peers) {
    const ratio = peer.ms / winner.ms;
    const remark = peer.other_precision ? "not alike: another precision"
      : `the best is ${ratio >= 1 ? `${number(ratio)}x faster` : `${number(1 / ratio)}x slower`}`;
    fact(box, peer.name, amount(measure, peer), remark);
  }
}

function fact(box, name, value, remark) {
  box.append(make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, remark))));
}

// The picked configuration ----------------------------------------------------------------------

function details(context, notes, box) {
  const { view, measure } = context;
  const winner = winnerOf(view), point = view.points.find((p) => p.label === context.picked) ?? winner;
  box.replaceChildren();
  if (!point) return void box.append(make("p", {}, "No configuration has given a right answer yet."));
  box.append(heading(point, context));
  if (point.ms === null) {
    box.append(make("p", { class: "reason" }, `${point.status}: ${point.reason}`));
    return;
  }
  box.append(figures(context, point, point === winner ? undefined : winner));
  const list = make("ul");
  for (const note of [...point.notes, ...(notes[point.label] ?? [])]) list.append(make("li", {}, note));
  box.append(list);
}

function heading(point, context) {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("class", "icon");
  icon.setAttribute("viewBox", "-11 -11 22 22");
  const look = lookOf(context.view, point);
  symbol(icon, look, 0, 0).setAttribute("class", `mark ${look}`);
  const status = point.status === "ok" ? "measured" : point.status;
  const state = same(point.label, context.used) ? `${status}; calls use this one now` : status;
  return make("h4", {}, icon, make("span", { class: "label" }, nameOf(point)), make("small", {}, state));
}

// The value, and below it its interval, where there is one.
function twoLines(measure, point) {
  if (point.ms === null) return ["failed"];
  const interval = intervalOf(measure, point);
  const bounds = interval ? [make("small", {}, `[${number(interval[0])}, ${number(interval[1])}]`)] : [];
  return [`${number(valueOf(measure, point.ms))} ${measure.unit}`, ...bounds];
}

// One configuration's figures, with their difference to the winner's.
function figures({ view }, point, winner) {
  const table = make("table");
  const looks = winner && point.stage !== winner.stage ? [make("br"), make("small", {}, "first looks")] : [];
  if (winner) table.append(make("tr", {}, make("th"), make("th"), make("th", {}, "to the winner", ...looks)));
  const row = (name, text, difference) => table.append(make("tr", {}, make("th", {}, name), make("td", {}, ...[text].flat()), ...(winner ? [make("td", {}, difference)] : [])));
  for (const measure of view.measures) row(measure.name, twoLines(measure, point), percent(measure, alike(point, winner)));
  for (const name of Object.keys(point.facts)) row(factName(name), factText(name, point.facts[name]), change(name, [point, winner]));
  return table;
}

// A table of two configurations; rows that differ have a sign, the others are muted.
function sideBySide({ view }, shown, titles) {
  const table = make("table");
  const mixed = alike(...shown)[0] !== shown[0];
  table.append(make("tr", {}, make("th"), ...[...titles, mixed ? "A to B, first looks" : "A to B"].map((t) => make("th", {}, t))));
  const row = (name, texts, difference = "", differs = texts[0] !== texts[1]) => {
    table.append(make("tr", { class: differs ? "differs" : "same" }, make("th", {}, differs ? `\u2260 ${name}` : name),
      ...[...texts, difference].map((t) => make("td", {}, ...[t].flat()))));
  };
  for (const name of Object.keys(view.axes)) row(name, shown.map((p) => String(p.constants[name])));
  for (const measure of view.measures)
    row(measure.name, shown.map((p) => twoLines(measure, p)), percent(measure, alike(...shown)), shown[0].ms !== shown[1].ms);
  if (mixed) row("timed in", shown.map((p) => p.stage));
  const facts = [...new Set(shown.flatMap((p) => Object.keys(p.facts)))];
  for (const name of facts)
    row(factName(name), shown.map((p) => (name in p.facts ? factText(name, p.facts[name]) : "unknown")), change(name, shown));
  return table;
}

function percent(measure, [one, other]) {
  if (!other || one.ms === null || other.ms === null) return "";
  const ratio = valueOf(measure, one.ms) / valueOf(measure, other.ms) - 1;
  return `${ratio >= 0 ? "+" : ""}${(100 * ratio).toFixed(2)} %`;
}

function change(name, [one, other]) {
  if (!other || !(name in one.facts) || !(name in other.facts)) return "";
  const by = one.facts[name] - other.facts[name];
  return by ? `${by > 0 ? "+" : "-"}${factText(name, Math.abs(by))}` : "";
}

// The comparison --------------------------------------------------------------------------------

function comparison(context, found, box) {
  const { view } = context;
  const [one, other] = (found.labels ?? []).map((label) => view.points.find((p) => p.label === label));
  box.hidden = !one || !other;
  box.replaceChildren();
  if (box.hidden) return;
  const close = make("button", { class: "close" }, "Close");
  box.append(make("h4", {}, "A against B", close), make("p", {}, "A: ", make("code", {}, one.label), make("br"), "B: ", make("code", {}, other.label)),
             sideBySide(context, [one, other], ["A", "B"]));
  for (const point of [one, other]) if (point.ms === null) box.append(make("p", { class: "reason" }, `${point.label}: ${point.status}: ${point.reason}`));
  if (found.state) box.append(make("p", { class: "state" }, found.state));
  for (const pane of found.panes ?? []) box.append(differencePane(pane));
}

// Lines of a difference: "-" is A's, "+" is B's.
function differencePane({ title, summary, lines }) {
  const pre = make("pre");
  for (const line of lines) pre.append(make("span", { class: { "-": "gone", "+": "new", "@": "hunk" }[line[0]] ?? "" }, `${line}\n`));
  const body = lines.length ? pre : make("p", {}, "the same");
  return make("details", {}, make("summary", {}, `${title}: ${summary}`), body);
}

// Failures and the legend -----------------------------------------------------------------------

function failures(view, box) {
  const failed = view.points.filter((p) => p.ms === null);
  box.hidden = !failed.length;
  const reasons = new Map();
  for (const p of failed) {
    const text = `${p.status}: ${p.reason}`;
    reasons.set(text, [...(reasons.get(text) ?? []), p.label]);
  }
  const isOpen = box.open;
  const kinds = [...new Set(failed.map((p) => p.status))].map((kind) => `${failed.filter((p) => p.status === kind).length} ${kind}`);
  box.replaceChildren(make("summary", {}, `${failed.length} failed: ${kinds.join(", ")}`));
  const list = make("ul");
  for (const [text, labels] of reasons) list.append(make("li", {}, text, make("br"), make("code", {}, labels.join("; "))));
  box.append(list);
  box.open = isOpen;
}

function legend(box, view) {
  box.replaceChildren();
  const entry = (status, text) => {
    const icon = document.createElementNS(SVG, "svg");
    icon.setAttribute("class", "icon");
    icon.setAttribute("viewBox", "-11 -11 22 22");
    symbol(icon, status, 0, 0).setAttribute("class", `mark ${status}`);
    box.append(make("span", {}, icon, text));
  };
  entry("winner", "winner");
  if (view.points.some((p) => p.status === "tie")) entry("tie", "cannot be told from it");
  if (twoStages(view)) {
    if (measured(view).some((p) => lookOf(view, p) === "ok")) entry("ok", "in the finals");
    entry("look", `${view.looked} (italic in the map, dashed in parallel)`);
  } else entry("ok", "measured");
  if (view.points.some((p) => p.ms === null)) entry("failed", "failed");
  box.append(make("span", { class: "keys" }, "arrow keys, Home and End pick; Shift+Enter holds one for comparison"));
}
