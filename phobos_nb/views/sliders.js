// A slider per constant; the kernel's side compiles, this side shows. Places are indices into `places`.
function make(tag, attributes = {}, text = "") {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

// One slider: its row of nodes, and how to show the model's place. `moved(index)` is called by the user.
function row(slider, moved) {
  const name = make("label", { class: "name", title: slider.meaning }, slider.name);
  const track = make("div", { class: "track" });
  const range = make("input", { type: "range", min: 0, max: Math.max(1, slider.places.length - 1), step: 1 });
  range.setAttribute("aria-label", slider.name);
  range.dataset.name = slider.name;
  if (slider.meaning) range.title = slider.meaning;
  const ticks = make("div", { class: "ticks" });
  const every = Math.ceil(slider.places.length / 12); // of many values, some are named
  const buttons = slider.places.map((place, index) => {
    const tick = make("button", { type: "button", class: "tick", tabindex: "-1" }, index % every ? "." : place.label);
    tick.addEventListener("click", () => moved(index));
    return tick;
  });
  const now = make("div", { class: "now" });
  ticks.append(...buttons);
  track.append(range, ticks);
  range.disabled = slider.places.length < 2;
  range.addEventListener("input", () => moved(Number(range.value)));
  range.addEventListener("keydown", (event) => { // the notebook takes arrow keys before they move a slider
    const last = slider.places.length - 1, at = Number(range.value);
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 1,
                 PageDown: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (to >= 0 && to <= last) moved(to);
  });
  const show = (model, at) => {
    const here = model.places[at];
    if (Number(range.value) !== at) range.value = at;
    range.setAttribute("aria-valuetext", here.reason ? `${here.label}, cannot work: ${here.reason}` : here.label);
    model.places.forEach((place, index) => {
      buttons[index].className = `tick${index === at ? " here" : ""}${place.reason ? " refused" : ""}`;
      buttons[index].title = place.reason || `${slider.name} = ${place.label}`;
      buttons[index].setAttribute("aria-disabled", place.reason ? "true" : "false");
    });
    now.replaceChildren(document.createTextNode(here.label));
    if (here.reason && model.places.some((place) => !place.reason)) now.append(make("small", { class: "bad" }, here.reason));
  };
  return { nodes: [name, track, now], show };
}

// The child view of a search, in the place where it stands below the sliders.
async function showSearch(model, box) {
  const reference = model.get("search");
  if (!reference) return box.replaceChildren();
  const child = await model.widget_manager.get_model(reference.replace("IPY_MODEL_", ""));
  const view = await model.widget_manager.create_view(child);
  box.replaceChildren(view.el);
}

function render({ model, el }) {
  el.classList.add("ph", "ph-sliders");
  el.dataset.lmSuppressShortcuts = "true"; // keys are the sliders', not the notebook's
  const title = make("pre", { class: "sig" });
  const grid = make("div", { class: "sliders" });
  const own = make("details", { class: "own" });
  const ownGrid = make("div", { class: "sliders" });
  own.append(make("summary", {}, "The compiler's own choices"), ownGrid);
  const status = make("p", { class: "status", "aria-live": "polite" });
  const bar = make("div", { class: "bar" });
  const use = make("button", { class: "use" }, "Use");
  const tune = make("button", { class: "tune" }, "Tune from here");
  const save = make("button", { class: "export" }, "Export");
  const reset = make("button", { class: "reset" }, "Back to the start");
  use.title = "Calls of the kernel take this configuration";
  bar.append(use, tune, save, reset);
  const exported = make("div", { class: "exported" });
  const shown = make("div", { class: "shown" });
  const places = ["facts", "notes", "memory", "roofline"].map((name) => make("div", { class: name }));
  shown.append(...places);
  const search = make("div", { class: "search" });
  el.append(title, grid, own, status, bar, exported, shown, search);

  const rows = {}, wanted = {};
  const move = (name) => (at) => {
    const slider = model.get("view").sliders.find((s) => s.name === name);
    wanted[name] = at;
    rows[name].show(slider, at);
    model.send({ do: "move", places: { [name]: slider.places[at].value } });
  };
  const build = (sliders) => {
    for (const slider of sliders) {
      rows[slider.name] = row(slider, move(slider.name));
      (slider.own ? ownGrid : grid).append(...rows[slider.name].nodes);
    }
    own.hidden = !sliders.some((s) => s.own);
  };
  const update = () => {
    const view = model.get("view");
    if (!Object.keys(rows).length) build(view.sliders);
    title.textContent = view.title;
    for (const slider of view.sliders) {
      if (wanted[slider.name] === slider.at) delete wanted[slider.name];
      rows[slider.name].show(slider, wanted[slider.name] ?? slider.at);
    }
    const chosen = view.sliders.filter((s) => s.own && s.at).length;
    own.firstChild.textContent = `The compiler's own choices${chosen ? ` (${chosen} set)` : ""}`;
    status.textContent = model.get("error") || model.get("status");
    status.className = `status ${model.get("error") ? "failed" : view.state}`;
    shown.classList.toggle("stale", view.stale);
    use.disabled = view.state !== "ready";
    tune.title = model.get("tunes");
  };
  const parts = () => {
    const html = model.get("parts");
    places.forEach((place) => {
      if (place.dataset.html === html[place.className]) return;
      place.dataset.html = html[place.className];
      place.innerHTML = html[place.className];
    });
  };
  const showExport = () => {
    const text = model.get("exported");
    if (!text) return exported.replaceChildren();
    const area = make("textarea", { readonly: "", rows: Math.min(24, text.split("\n").length), "aria-label": "exported configuration" });
    area.value = text;
    const link = make("a", { class: "download", download: `${model.get("view").kernel}.json` }, "Download as JSON");
    link.href = `data:application/json;charset=utf-8,${encodeURIComponent(model.get("json"))}`;
    const line = make("div", { class: "bar" });
    line.append(link);
    exported.replaceChildren(area, line);
  };
  for (const [button, what] of [[use, "use"], [tune, "tune"], [save, "export"], [reset, "reset"]])
    button.addEventListener("click", () => model.send({ do: what }));
  const searched = () => showSearch(model, search);
  const watched = { "change:view": update, "change:status": update, "change:error": update, "change:parts": parts,
                    "change:exported": showExport, "change:search": searched };
  for (const [name, act] of Object.entries(watched)) model.on(name, act);
  update();
  parts();
  showExport();
  searched();
  return () => Object.entries(watched).forEach(([name, act]) => model.off(name, act));
}

export default { render };
