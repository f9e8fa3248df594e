// The live view of a search. `shown` says what is looked at; every chart returns what arrow keys do.
const CHARTS = { points, map, parallel };
const TITLES = { points: "Points", map: "Map", parallel: "Parallel" };

class View {
  constructor(model, el) {
    this.model = model;
    this.prefix = `ph${Math.random().toString(36).slice(2, 10)}`;
    this.move = () => undefined;
    this.build(el);
    this.watch();
    this.resized = new ResizeObserver(() => this.later());
    this.resized.observe(this.chart);
    this.update();
  }

  build(el) {
    el.classList.add("ph", "ph-tune");
    el.dataset.lmSuppressShortcuts = "true";
    this.title = make("pre", { class: "sig" });
    this.meter = make("progress", { "aria-label": "progress of the search" });
    this.note = make("span", { class: "note", role: "status" });
    this.stop = make("button", { class: "stop" }, "Stop");
    this.resume = make("button", { class: "resume" }, "Resume");
    this.facts = make("dl");
    this.tabs = make("div", { class: "tabs", role: "tablist", "aria-label": "view" });
    for (const [name, title] of Object.entries(TITLES)) this.tabs.append(make("button", { role: "tab", "data-tab": name }, title));
    this.selects = Object.fromEntries(["y", "x", "rows", "columns"].map((n) => [n, make("select", { "data-choice": n })]));
    this.near = make("input", { type: "checkbox", class: "near" });
    const labels = { y: "show", x: "over", rows: "rows", columns: "columns" };
    this.choices = Object.entries(labels).map(([n, text]) => make("label", { "data-for": n }, text, this.selects[n]));
    this.choices.push(make("label", { "data-for": "near" }, this.near, "within 15 % of the best"));
    this.chart = make("div", { class: "chart" });
    this.svg = draw(this.chart, "svg", { tabindex: "0", role: "listbox", "aria-label": "configurations" });
    this.readout = make("p", { class: "readout" });
    this.legend = make("p", { class: "legend" });
    this.box = make("div", { class: "details", "aria-live": "polite" });
    this.use = make("button", { class: "use" }, "Use");
    this.compare = make("button", { class: "compare" }, "Compare");
    this.hold = make("button", { class: "hold", title: "compare others with this one" }, "Hold");
    this.exports = ["configuration", "T4", "record"].map((kind) => make("button", { class: "export", "data-kind": kind }, kind));
    this.message = make("p", { class: "message", role: "status" });
    this.other = make("div", { class: "comparison" });
    this.failed = make("details", { class: "failures" });
    const buttons = make("div", { class: "bar" }, this.use, this.compare, this.hold);
    const files = make("div", { class: "bar", role: "group", "aria-label": "export" }, make("span", {}, "export"), ...this.exports);
    const side = make("div", { class: "side" }, this.box, buttons, files, this.message);
    el.append(this.title, make("div", { class: "bar" }, this.meter, this.stop, this.resume, this.note), this.facts,
      make("div", { class: "bar" }, this.tabs, ...this.choices),
      make("div", { class: "main" }, make("div", { class: "left" }, this.chart, this.readout, this.legend), side),
      this.other, this.failed);
    this.el = el;
  }

  watch() {
    this.names = ["view", "picked", "held", "used", "progress", "shown", "notes", "comparison", "message", "can_use"].map((n) => `change:${n}`);
    this.later = () => { this.frame ??= requestAnimationFrame(() => this.update()); };
    for (const name of this.names) this.model.on(name, this.later);
    const on = (node, name, act) => node.addEventListener(name, act);
    on(this.svg, "click", (e) => this.pickAt(e));
    on(this.svg, "pointermove", (e) => this.read(e.target.closest("[data-label]")?.dataset.label));
    on(this.svg, "keydown", (e) => this.key(e));
    on(this.tabs, "click", (e) => e.target.dataset.tab && this.choose({ tab: e.target.dataset.tab }));
    on(this.tabs, "keydown", (e) => this.turn(e));
    for (const [name, select] of Object.entries(this.selects)) on(select, "change", () => this.choose({ [name]: select.value }));
    on(this.near, "change", () => this.choose({ near: this.near.checked }));
    on(this.stop, "click", () => this.model.send({ do: "stop" }));
    on(this.resume, "click", () => this.model.send({ do: "resume" }));
    on(this.use, "click", () => this.model.send({ do: this.inUse() ? "unuse" : "use", label: this.picked()?.label }));
    on(this.compare, "click", () => this.model.send({ do: "compare", labels: this.pair().map((p) => p.label) }));
    on(this.hold, "click", () => this.holdIt());
    on(this.other, "click", (e) => e.target.closest(".close") && this.model.send({ do: "compare", labels: [] }));
    for (const button of this.exports) on(button, "click", () => this.model.send({ do: "export", kind: button.dataset.kind, label: this.picked()?.label }));
  }

  // Choices --------------------------------------------------------------------------------------

  shown() {
    const view = this.model.get("view"), wide = Object.keys(view.axes).filter((n) => view.axes[n].length > 1);
    const axes = wide.length > 1 ? wide : [...wide, ...Object.keys(view.axes).filter((n) => !wide.includes(n))];
    return { tab: "points", y: view.first_measure, x: "rank", rows: axes[0], columns: axes[1] ?? axes[0], near: false, ...this.model.get("shown") };
  }

  choose(change) {
    const before = this.shown();
    if (change.rows && change.rows === before.columns) change.columns = before.rows;
    if (change.columns && change.columns === before.rows) change.rows = before.columns;
    this.save("shown", { ...this.model.get("shown"), ...change });
  }

  save(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
    this.later();
  }

  picked() {
    const view = this.model.get("view");
    return view.points.find((p) => p.label === this.model.get("picked")) ?? winnerOf(view);
  }

  inUse() {
    return this.model.get("used") !== "" && this.picked()?.label === this.model.get("used");
  }

  // What "Compare" compares: the picked one with the one that is held, else with the winner.
  pair() {
    const view = this.model.get("view"), one = this.picked();
    const held = view.points.find((p) => p.label === this.model.get("held"));
    const other = held && held !== one ? held : winnerOf(view);
    return one && other && one !== other ? [one, other] : [];
  }

  holdIt() {
    const label = this.picked()?.label ?? "";
    this.save("held", label === this.model.get("held") ? "" : label);
  }

  pickAt(event) {
    const label = event.target.closest("[data-label]")?.dataset.label;
    if (!label) return;
    this.svg.focus({ preventScroll: true });
    this.save(event.shiftKey ? "held" : "picked", label);
  }

  key(event) {
    if (event.key === "Enter" && event.shiftKey) this.holdIt();
    else if (event.key === "Enter" || event.key === " ") this.save("picked", this.picked()?.label ?? "");
    else if (event.key === "Escape") this.save("picked", "");
    else if (/^Arrow|^Home$|^End$/.test(event.key)) this.save("picked", this.move(this.picked()?.label, event.key) ?? "");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Left and right turn to the next view, as tabs do.
  turn(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const names = Object.keys(TITLES), at = names.indexOf(this.shown().tab);
    this.choose({ tab: names[(at + by + names.length) % names.length] });
    event.preventDefault();
    event.stopPropagation();
    requestAnimationFrame(() => this.tabs.querySelector("[aria-selected=true]").focus());
  }

  // Drawing --------------------------------------------------------------------------------------

  update() {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    const view = this.model.get("view"), shown = this.shown();
    const measure = view.measures.find((m) => m.name === shown.y) ?? view.measures[0];
    this.context = { ...shown, svg: this.svg, view, measure, prefix: this.prefix, picked: this.picked()?.label,
      held: this.model.get("held"), used: this.model.get("used"), width: Math.max(320, this.chart.clientWidth - 2) };
    this.context.height = this.context.width > 540 ? 380 : 320;
    this.head(view, measure);
    this.options(view, shown);
    this.picture(shown.tab);
    details(this.context, this.model.get("notes"), this.box);
    comparison(this.context, this.model.get("comparison"), this.other);
    failures(view, this.failed);
    legend(this.legend, view);
    this.buttons();
  }

  picture(tab) {
    this.svg.replaceChildren();
    delete this.svg.dataset.height;
    if (this.context.view.points.length) this.move = CHARTS[tab](this.context);
    else draw(this.svg, "text", { class: "title", x: 16, y: 28 }, "the first configurations are being compiled ...");
    const height = this.svg.dataset.height ?? this.context.height;
    this.svg.setAttribute("viewBox", `0 0 ${this.context.width} ${height}`);
    this.svg.style.height = `${height}px`;
    const chosen = this.svg.querySelector("[aria-selected=true]");
    if (chosen) this.svg.setAttribute("aria-activedescendant", chosen.id);
    this.read(this.context.picked);
  }

  head(view, measure) {
    const { stage, done, total, left, running, can_resume, problem, remark } = this.model.get("progress");
    const recorded = view.recorded ? make("small", {}, `recorded on ${view.recorded}`) : "";
    this.title.replaceChildren(make("b", {}, view.kernel), view.title.slice(view.kernel.length), recorded);
    this.meter.max = running && total ? total : view.total;
    this.meter.value = running && total ? done : view.points.length;
    const now = { first: `${done} of ${total}`, finals: `finals: round ${done} of ${total}` }[stage] ?? "starting";
    const soon = left === null || left === undefined ? "" : `, about ${duration(left)} left${stage === "first" ? ", then the finals" : ""}`;
    this.note.textContent = problem || (running ? `${now}${soon}; ${view.headline}` : [view.headline, remark].filter(Boolean).join("; "));
    this.note.classList.toggle("problem", Boolean(problem));
    this.stop.hidden = !running;
    this.resume.hidden = running || !can_resume;
    verdict(view, measure, this.facts);
  }

  options(view, shown) {
    const facts = [...new Set(view.points.flatMap((p) => Object.keys(p.facts)))], axes = Object.keys(view.axes);
    fill(this.selects.y, view.measures.map((m) => [m.name, `${m.name} (${m.unit})`]), shown.y);
    fill(this.selects.x, [["rank", "rank"], ...axes.map((n) => [n, n]), ...facts.map((n) => [n, factName(n)])], shown.x);
    for (const name of ["rows", "columns"]) fill(this.selects[name], axes.map((n) => [n, n]), shown[name]);
    this.near.checked = shown.near;
    const used = { points: ["y", "x", "near"], map: ["y", "rows", "columns"], parallel: ["y", "near"] }[shown.tab];
    for (const choice of this.choices) choice.hidden = !used.includes(choice.dataset.for);
    for (const tab of this.tabs.children) {
      tab.setAttribute("aria-selected", tab.dataset.tab === shown.tab);
      tab.tabIndex = tab.dataset.tab === shown.tab ? 0 : -1;
    }
  }

  buttons() {
    const point = this.picked(), held = this.model.get("held");
    this.use.disabled = !point || point.ms === null || !this.model.get("can_use");
    this.use.textContent = this.inUse() ? "Use no longer" : "Use";
    this.use.title = this.model.get("can_use") ? "calls of the kernel take this configuration" : "there is no kernel here, only a record";
    const pair = this.pair();
    this.compare.disabled = !pair.length;
    this.compare.textContent = held && pair[1]?.label === held ? "Compare with held" : "Compare with winner";
    this.hold.disabled = !point;
    this.hold.textContent = held && held === point?.label ? "Let go" : "Hold";
    for (const button of this.exports) button.disabled = !point || (button.dataset.kind === "configuration" && point.ms === null);
    this.message.textContent = this.model.get("message");
  }

  read(label) {
    const point = this.context.view.points.find((p) => p.label === (label ?? this.context.picked));
    this.readout.textContent = point ? words(point, this.context.measure) : "";
  }

  end() {
    for (const name of this.names) this.model.off(name, this.later);
    this.resized.disconnect();
    cancelAnimationFrame(this.frame);
  }
}

const duration = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`);

function fill(select, entries, chosen) {
  const now = [...select.options].map((o) => o.value).join(" ");
  if (now !== entries.map(([v]) => v).join(" ")) select.replaceChildren(...entries.map(([value, text]) => make("option", { value }, text)));
  select.value = chosen;
}

function render({ model, el }) {
  const view = new View(model, el);
  return () => view.end();
}

export default { render };
