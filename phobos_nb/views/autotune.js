// The live view of a search: a scatter of all configurations, what is picked, stop and use.
const WIDTH = 900, HEIGHT = 320, LEFT = 64, RIGHT = 16, TOP = 28, BOTTOM = 36;
const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, text = "") {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

function draw(parent, tag, attributes, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  parent.append(node);
  return node;
}

const number = (value) => Number(value.toPrecision(4)).toString();

function span(item) {
  const interval = item.low === null || item.low === undefined ? "" : ` [${number(item.low)}, ${number(item.high)}]`;
  return `${number(item.ms)} ms${interval}`;
}

// The places of values along an axis: the values in order, evenly apart; ranks as they are.
function placesOf(points, choice) {
  if (choice === "rank") return { of: (_, i) => i, ticks: [], last: Math.max(1, points.length - 1) };
  const value = (p) => (choice in p.constants ? p.constants[choice] : p.facts[choice]);
  const known = [...new Set(points.map(value).filter((v) => v !== undefined))].sort((a, b) => a - b);
  const ticks = known.length <= 16 ? known.map((v, i) => [i, number(v)]) : [];
  return { of: (p) => known.indexOf(value(p)), ticks, last: Math.max(1, known.length - 1) };
}

function symbol(svg, point, x, y) {
  const r = { winner: 8, tie: 6 }[point.status] ?? 4;
  if (point.ms === null) {
    return draw(svg, "path", { d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}` });
  }
  if (point.status === "winner") {
    const corners = [...Array(10).keys()].map((i) => {
      const length = i % 2 ? r * 0.45 : r * 1.2, angle = (Math.PI * i) / 5 - Math.PI / 2;
      return `${x + length * Math.cos(angle)},${y + length * Math.sin(angle)}`;
    });
    return draw(svg, "polygon", { points: corners.join(" ") });
  }
  if (point.status === "tie") {
    return draw(svg, "polygon", { points: `${x},${y - r} ${x + r},${y} ${x},${y + r} ${x - r},${y}` });
  }
  return draw(svg, "circle", { cx: x, cy: y, r });
}

function words(point) {
  return point.ms === null ? `${point.label}: ${point.status}: ${point.reason}` : `${point.label}: ${span(point)}, ${point.status}`;
}

function scatter(model, svg, choice) {
  const focused = svg.contains(svg.getRootNode().activeElement) ? svg.getRootNode().activeElement.dataset.label : null;
  svg.replaceChildren();
  const { points, peers } = model.get("view");
  const times = [...points.flatMap((p) => [p.ms, p.low, p.high]), ...peers.map((p) => p.ms)].filter((t) => t > 0);
  const low = Math.log(Math.min(...times, 1e9) * 0.95), high = Math.log(Math.max(...times, 1e-9) * 1.05);
  const yOf = (ms) => HEIGHT - BOTTOM - ((Math.log(ms) - low) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
  const places = placesOf(points, choice);
  const xOf = (place) => LEFT + 12 + (place / places.last) * (WIDTH - LEFT - RIGHT - 24);
  for (let i = 0; times.length && i <= 4; i++) {
    const ms = Math.exp(low + ((high - low) * i) / 4);
    draw(svg, "line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(ms), y2: yOf(ms) });
    draw(svg, "text", { x: LEFT - 6, y: yOf(ms) + 4, "text-anchor": "end" }, ms.toPrecision(3));
  }
  draw(svg, "text", { x: 6, y: 14 }, "ms per call (log)");
  draw(svg, "text", { x: WIDTH / 2, y: HEIGHT - 6, "text-anchor": "middle" },
       choice === "rank" ? "configurations, fastest first" : choice);
  for (const [place, text] of places.ticks)
    draw(svg, "text", { x: xOf(place), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, text);
  for (const peer of peers) {
    draw(svg, "line", { class: "peer", x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(peer.ms), y2: yOf(peer.ms) });
    draw(svg, "text", { x: WIDTH - RIGHT - 4, y: yOf(peer.ms) - 4, "text-anchor": "end" }, `${peer.name} ${span(peer)}`);
  }
  points.forEach((point, i) => {
    const place = places.of(point, i);
    if (place < 0 && point.ms !== null) return;
    const x = xOf(Math.max(0, place)), y = point.ms === null ? TOP - 8 : yOf(point.ms);
    if (point.low !== null && point.ms !== null)
      draw(svg, "line", { class: "whisker", x1: x, x2: x, y1: yOf(point.low), y2: yOf(point.high) });
    const node = symbol(svg, point, x, y);
    const picked = point.label === model.get("picked") ? " picked" : "";
    node.setAttribute("class", `point ${point.ms === null ? "failed" : point.status}${picked}`);
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", words(point));
    node.dataset.label = point.label;
    draw(node, "title", {}, words(point));
    if (point.label === focused) node.focus();
  });
}

function details(model, box, use) {
  const { points } = model.get("view");
  const winner = points.find((p) => p.status === "winner");
  const point = points.find((p) => p.label === model.get("picked")) ?? winner;
  box.replaceChildren();
  use.disabled = !point || point.ms === null || !model.get("can_use");
  if (!point) {
    box.append(make("div", {}, "No configuration has been measured yet."));
    return;
  }
  box.append(make("div", { class: "label" }, `${point.label} (${point.status})`));
  if (point.ms === null) {
    box.append(make("div", {}, point.reason));
    return;
  }
  const ratio = winner ? `, ${number(point.ms / winner.ms)}x the best` : "";
  box.append(make("div", {}, `${span(point)}, ${point.samples} samples${ratio}`));
  const facts = Object.entries(point.facts).map(([name, value]) => `${name} ${number(value)}`);
  box.append(make("div", {}, facts.join(", ")));
  if (point.label === model.get("used")) box.append(make("div", { class: "used" }, "Calls use this one now."));
}

function progress(model, meter, note, stop) {
  const view = model.get("view"), [done, total] = model.get("rounds");
  const running = model.get("running");
  meter.max = total && running ? total : view.total;
  meter.value = total && running ? done : view.points.length;
  note.textContent = running && total ? `finals: round ${done} of ${total}; ${view.headline}` : view.headline;
  stop.disabled = !running;
}

function choices(model, select) {
  const view = model.get("view");
  const facts = [...new Set(view.points.flatMap((p) => Object.keys(p.facts)))];
  const names = ["rank", ...Object.keys(view.axes), ...facts];
  if (select.options.length === names.length) return;
  const chosen = select.value || "rank";
  select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  select.value = chosen;
}

function render({ model, el }) {
  el.classList.add("ph", "ph-tune");
  const title = make("pre", { class: "sig" });
  const bar = make("div", { class: "bar" });
  const meter = make("progress", { "aria-label": "progress" });
  const note = make("p", { "aria-live": "polite" });
  const stop = make("button", { class: "stop" }, "Stop");
  const select = make("select", { "aria-label": "horizontal axis" });
  const use = make("button", { class: "use" }, "Use");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const box = make("div", { class: "details", "aria-live": "polite" });
  bar.append(meter, stop, select, use, note);
  el.append(title, bar, svg, box);

  const update = () => {
    const view = model.get("view");
    title.textContent = view.title + (view.recorded ? ` (recorded: ${view.recorded})` : "");
    choices(model, select);
    progress(model, meter, note, stop);
    scatter(model, svg, select.value);
    details(model, box, use);
  };
  const pick = (event) => {
    const label = event.target.closest("[data-label]")?.dataset.label;
    if (!label || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    model.set("picked", label);
    model.save_changes();
  };
  const picked = () => {
    const point = model.get("view").points.find((p) => p.label === model.get("picked"));
    return point ?? model.get("view").points.find((p) => p.status === "winner");
  };
  svg.addEventListener("click", pick);
  svg.addEventListener("keydown", pick);
  select.addEventListener("change", update);
  stop.addEventListener("click", () => model.send({ do: "stop" }));
  use.addEventListener("click", () => model.send({ do: "use", label: picked().label }));
  const watched = ["change:view", "change:picked", "change:used", "change:running", "change:rounds"];
  for (const name of watched) model.on(name, update);
  update();
  return () => watched.forEach((name) => model.off(name, update));
}

export default { render };
