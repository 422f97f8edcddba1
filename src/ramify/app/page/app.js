// The page of `ramify app`: what was chosen is kept by the server, what runs is a command of its own, and results are
// shown as the report shows them. Names from the data reach the page through textContent alone.
import { Cells, Rows } from "/grid.js";
/* global savePng, of the report's figures.js */

const byId = (id) => document.getElementById(id);
const OVER = new Set(["done", "failed", "cancelled", "out of time", "interrupted"]);
const QUIET = new Set(["info", "demo", "explain"]);  // looked at where they were asked for, not listed
const state = { files: [], runs: [], most: 0, methods: null, inspection: null, isLost: false };
const choices = {
  uses: {}, roles: {}, kinds: {}, reading: {}, target: [], command: "rank", options: {}, model: "", inspected: "", shown: "", pair: ["", ""],
};

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content.filter((part) => part !== null && part !== undefined && part !== false));
  return element;
}
const shownSize = (n) => (n < 1000 ? `${n} bytes` : n < 1e6 ? `${(n / 1e3).toFixed(0)} KB` : `${(n / 1e6).toFixed(1)} MB`);
const seconds = (s) => (s < 90 ? `${Math.max(1, Math.round(s))} s` : s < 5400 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`);
function tell(id, text) { byId(id).textContent = text; byId(id).hidden = !text; }
function announce(text) { byId("live").textContent = text; }

// ---- asking the server
async function ask(method, path, body) {
  const options = { method };
  if (body !== undefined) { options.body = JSON.stringify(body); options.headers = { "Content-Type": "application/json" }; }
  let answer;
  try { answer = await fetch(path, options); } catch { lost(); throw new Error("Ramify does not answer."); }
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}
function lost() {
  state.isLost = true;
  tell("trouble", "Ramify no longer runs. What you saved from this page is whole; start it again with: ramify app" + (state.kept ? " --keep and the same folder. Runs that were done are still there." : "."));
}
let keeping = 0;
function keep() {
  clearTimeout(keeping);
  keeping = setTimeout(() => ask("PUT", "/api/choices", choices).catch((error) => state.isLost || tell("trouble", error.message)), 300);
}

let waiting = 0, asking = 0;
async function refresh() {
  clearTimeout(waiting);
  const turn = ++asking;
  let found;
  try { found = await ask("GET", "/api/state"); } catch (error) {
    if (!state.isLost) tell("trouble", error.message);
    waiting = setTimeout(refresh, 3000);
    return;
  }
  if (turn !== asking) return;  // an answer that was overtaken knows less than what is here
  if (state.isLost) { state.isLost = false; tell("trouble", ""); }
  const before = new Map(state.runs.map((run) => [run.id, run.state]));
  Object.assign(state, { files: found.files, runs: found.runs, most: found.most_bytes, kept: found.kept });
  byId("version").textContent = found.version;
  drawFiles();
  drawRuns();
  for (const [done, number] of waits) {
    const run = runOf(number);
    if (run && OVER.has(run.state)) { waits.delete(done); done(run); }
  }
  for (const run of state.runs) {
    if (before.has(run.id) && before.get(run.id) !== run.state && OVER.has(run.state)) ended(run);
  }
  const busy = state.runs.some((run) => !OVER.has(run.state));
  waiting = setTimeout(refresh, busy ? 600 : document.hidden ? 10000 : 3000);
}
function ended(run) {
  if (QUIET.has(run.asked.command)) return;
  announce(`Run ${run.id}, ${named(run)}: ${run.state}.`);
  if (run.id === choices.shown) drawResult();
  drawModels();
  drawPairChoices();
}
const waits = new Map();
async function finished(asked) {
  const run = await ask("POST", "/api/runs", asked);
  state.runs.push(run);
  return new Promise((done) => { waits.set(done, run.id); refresh(); });
}
const runOf = (number) => state.runs.find((run) => run.id === number);
const named = (run) => `${COMMANDS[run.asked.command]?.title ?? run.asked.command} ${[...(run.asked.target ?? [])].join(", ") || run.asked.data.join(", ")}`;

// ---- files
const USES = { data: "data", hierarchy: "hierarchy of the labels", feature_hierarchy: "hierarchy of the features", annotations: "labels of the rows (annotations)", model: "model", "": "not used" };
function usual(name) {
  const plain = name.toLowerCase().replace(/\.(gz|bz2|xz|zip)$/, "");
  if (/\.obo$|\.edges(\.|$)/.test(plain)) return "hierarchy";
  if (/\.(gaf|gmt)$/.test(plain)) return "annotations";
  return plain.endsWith(".ramify") ? "model" : "data";
}
const isPart = (name) => /\.xml(\.|$)|train|test|valid/i.test(name);
const used = (use) => state.files.map((file) => file.name).filter((name) => choices.uses[name] === use);
function take(name) {
  const use = usual(name);
  if (use === "data" && !(isPart(name) && used("data").some((other) => other.split(/[-_.]/)[0] === name.split(/[-_.]/)[0]))) {
    const pair = name.replace(/(-train|-test|-valid)?\.\w+$/, "");
    for (const other of used("data")) if (other !== name && !(isPart(other) && other.startsWith(pair))) choices.uses[other] = "";
    Object.assign(choices, { roles: {}, kinds: {}, target: [], reading: {} });
    drawReading();
  } else if (use !== "data") for (const other of used(use)) choices.uses[other] = "";
  choices.uses[name] = use;
  if (use === "model") { choices.model = "file " + name; drawModels(); }
}
function drawFiles() {
  const list = byId("file-list");
  const key = JSON.stringify([state.files, choices.uses]);
  if (list.dataset.key === key || list.contains(document.activeElement) && list.dataset.names === JSON.stringify(state.files)) return;
  list.dataset.key = key; list.dataset.names = JSON.stringify(state.files);
  list.replaceChildren(...state.files.map((file) => make("li", {},
    make("span", { class: "name" }, file.name), make("span", { class: "size" }, shownSize(file.size)),
    make("select", { "aria-label": `Use of ${file.name}`, onchange: (event) => { choices.uses[file.name] = event.target.value; changed(); } },
      ...Object.entries(USES).map(([use, title]) => make("option", { value: use, selected: use === (choices.uses[file.name] ?? "") }, title))),
    make("button", { type: "button", "aria-label": `Remove ${file.name}`, onclick: () => drop(file.name) }, "Remove"))));
}
async function drop(name) {
  await ask("DELETE", "/api/files/" + encodeURIComponent(name)).catch((error) => tell("data-trouble", error.message));
  delete choices.uses[name];
  await refresh();
  changed();
}
function send(file) {
  return new Promise((done, failed) => {
    if (file.size > state.most) { failed(new Error(`${file.name} is too large for this page (${shownSize(file.size)}). Start with it: ramify app ${file.name}`)); return; }
    const request = new XMLHttpRequest(), bar = byId("upload");
    request.open("PUT", "/api/files/" + encodeURIComponent(file.name));
    request.upload.onprogress = (event) => { bar.value = event.loaded / (event.total || 1); };
    request.onload = () => (request.status === 200 ? done() : failed(new Error(JSON.parse(request.responseText).error)));
    request.onerror = () => failed(new Error(`${file.name} could not be sent: it was moved or changed, or Ramify no longer runs.`));
    bar.hidden = false; bar.value = 0;
    request.send(file);
  });
}
async function given(list) {
  tell("data-trouble", "");
  const troubles = [];
  for (const file of list) {
    try { await send(file); state.files.push({ name: file.name, size: file.size }); take(file.name); } catch (error) { troubles.push(error.message); }
  }
  byId("upload").hidden = true;
  tell("data-trouble", troubles.join(" "));
  await refresh();
  if (troubles.length < list.length) { announce(`${list.length} files given.`); changed(); }
}
async function demo() {
  tell("data-trouble", "");
  byId("demo").disabled = true;
  announce("Making the demo's data.");
  try {
    const run = await finished({ command: "demo" });
    if (run.state !== "done") throw new Error(run.message);
    const { names } = await ask("POST", `/api/runs/${run.id}/give`);
    ask("DELETE", `/api/runs/${run.id}`).catch(() => {});
    await refresh();
    names.forEach(take);
    changed();
  } catch (error) { tell("data-trouble", error.message); }
  byId("demo").disabled = false;
}

// ---- what the columns are
const ROLES = { feature: "feature", target: "target", identifier: "row identifier", groups: "groups of rows", weight: "weight of rows", "left out": "left out" };
const READING = [
  ["sheet", "Sheet of an Excel file", "text"], ["separator", "Separator of cells (or: tab)", "text"],
  ["decimal", "Decimal sign", [["", "found"], [".", "point"], [",", "comma"]]],
  ["dates", "Dates such as 01/02/2024", [["", "found"], ["dmy", "day first"], ["mdy", "month first"], ["days", "used as days alone"]]],
  ["kind", "Kind of the target", [["", "told by its cells"], ["classes", "classes"], ["labels", "label sets"], ["hierarchy", "hierarchy"], ["numbers", "numbers"], ["rankings", "rankings"], ["mixed", "of different kinds"]]],
  ["label_separator", "Separator of labels in a cell", "text"], ["path_separator", "Separator of steps of a path", "text"],
  ["missing_target", "Rows without a target", [["", "left out"], ["empty", "have no label"], ["error", "stop"]]],
  ["unknown", "Target cells where nothing is known", "text"], ["min_rows", "Fewest rows of a label of annotations", "number"],
];
function reading() {
  const found = Object.fromEntries(Object.entries(choices.reading).filter(([, value]) => value !== ""));
  const names = (role) => Object.keys(choices.roles).filter((name) => choices.roles[name] === role);
  if (names("feature").length) found.keep = names("feature");
  if (names("left out").length) found.ignore = names("left out");
  for (const role of ["identifier", "groups", "weight"]) if (names(role).length) found[role] = names(role).at(-1);
  const coded = Object.keys(choices.kinds);
  if (coded.length) found.categorical = coded;
  return found;
}
function asked(command, more = {}) {
  const others = {};
  for (const use of ["hierarchy", "feature_hierarchy", "annotations"]) if (used(use).length) others[use] = used(use).at(-1);
  return { command, data: used("data"), others, target: choices.target, reading: reading(), ...more };
}

let changing = 0, inspecting = 0;
function changed() {
  keep();
  state.isStale = true;
  drawAsk();
  clearTimeout(changing);
  changing = setTimeout(inspect, 250);
}
async function inspect() {
  const hasData = used("data").length > 0;
  byId("columns").hidden = !hasData;
  byId("ask").hidden = !hasData;
  if (!hasData) { state.inspection = null; return; }
  const turn = ++inspecting;
  byId("columns-lead").textContent = "Looking at the data …";
  byId("columns").setAttribute("aria-busy", "true");
  try {
    const run = await finished(asked("info"));
    if (turn !== inspecting) { ask("DELETE", `/api/runs/${run.id}`).catch(() => {}); return; }
    if (run.state !== "done") throw new Error(run.message);
    const older = choices.inspected;
    choices.inspected = run.id;
    keep();
    if (older && older !== run.id) ask("DELETE", `/api/runs/${older}`).catch(() => {});
    await look(run.id);
  } catch (error) {
    if (turn !== inspecting) return;
    tell("columns-trouble", error.message);
    byId("columns-lead").textContent = state.inspection ? "What follows is what the columns were before." : "Give another file, or say below how this one is read.";
    if (!state.inspection) byId("reading").open = true;
  }
  byId("columns").removeAttribute("aria-busy");
}
async function look(number) {
  state.inspection = await ask("GET", `/api/runs/${number}/inspection`);
  state.isStale = false;
  tell("columns-trouble", "");
  drawColumns();
  drawAsk();
}
// Of a table the page wants the target said; another file says it itself.
const isTargetSaid = () => choices.target.length > 0 || !state.inspection.columns.length || used("annotations").length > 0;
const counted = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
function drawColumns() {
  const found = state.inspection;
  const parts = [counted(found.rows, "row"), counted(found.features, "feature")];
  if (found.labels && isTargetSaid()) parts.push(`target: ${found.target}, ${counted(found.labels, "label")}`);
  if (found.hierarchy && isTargetSaid()) parts.push(`in a ${found.hierarchy.shape} of ${counted(found.hierarchy.nodes, "label")}`);
  if (found.missing_share) parts.push(`${(100 * found.missing_share).toFixed(1)} % of the cells missing`);
  byId("columns-lead").textContent = parts.join(", ") + (found.columns.length ? "." : ". The file says itself what its columns are.");
  byId("note-list").replaceChildren(...found.notes.map((note) => make("li", {}, note)));
  byId("notes").hidden = !found.notes.length;
  byId("notes").querySelector("summary").textContent = counted(found.notes.length, "note");
  byId("columns-table").hidden = !found.columns.length;
  byId("column-names").replaceChildren(...found.columns.slice(0, 2000).map((column) => make("option", { value: column.name })));
  byId("reset-columns").hidden = !Object.keys({ ...choices.roles, ...choices.kinds }).length;
  listColumns();
}
let columnRows = null, listed = [];
function listColumns() {
  const query = byId("column-search").value.trim().toLowerCase();
  listed = state.inspection.columns.filter((column) => column.name.toLowerCase().includes(query));
  byId("column-count").textContent = `${listed.length.toLocaleString("en")} of ${state.inspection.columns.length.toLocaleString("en")} columns`;
  if (!columnRows) {
    const head = make("div", { role: "row" }, ...[["Column"], ["Kind", "other"], ["Use as"], ["Values", "other number"], ["Missing", "other number"], ["What is done and why", "other"]].map(([text, other]) => make("span", { role: "columnheader", class: other }, text)));
    columnRows = new Rows(byId("column-grid"), { height: 48, head, draw: columnRow });
    byId("column-grid").addEventListener("focusin", (event) => showNote(event.target));
    byId("column-grid").addEventListener("mouseover", (event) => showNote(event.target));
  }
  columnRows.fill(listed.length);
}
function showNote(element) {
  const row = element.closest?.(".row[data-name]");
  if (row) byId("column-note").textContent = `${row.dataset.name}: ${row.dataset.note}`;
}
function columnRow(index) {
  const column = listed[index], role = choices.target.includes(column.name) ? "target" : choices.roles[column.name] ?? column.role;
  const isCoded = column.name in choices.kinds, note = column.decision + (column.why ? `: ${column.why}` : "");
  const isChanged = isCoded || column.name in choices.roles || choices.target.includes(column.name);
  const kinds = column.kind === "number" || isCoded
    ? make("select", { "aria-label": `Kind of ${column.name}`, onchange: (event) => { if (event.target.value === "nominal") choices.kinds[column.name] = true; else delete choices.kinds[column.name]; changed(); } },
      make("option", { value: "", selected: !isCoded }, isCoded ? "as found" : column.kind), make("option", { value: "nominal", selected: isCoded }, "nominal"))
    : make("span", {}, column.kind);
  const roles = make("select", { "aria-label": `Use of ${column.name}`, onchange: (event) => setRole(column, event.target.value) },
    ...Object.entries(ROLES).map(([value, title]) => make("option", { value, selected: value === role }, title)));
  const row = make("div", { class: (isChanged ? "changed " : "") + (role === "left out" ? "away" : ""), "data-name": column.name, "data-note": note },
    make("span", { role: "rowheader", class: "name" }, column.name), make("span", { role: "cell", class: "other" }, kinds), make("span", { role: "cell" }, roles),
    make("span", { role: "cell", class: "other number" }, column.n_values.toLocaleString("en")),
    make("span", { role: "cell", class: "other number" }, column.missing ? `${(100 * column.missing).toFixed(0)} %` : ""),
    make("span", { role: "cell", class: "other note", title: note }, note));
  return row;
}
function setRole(column, role) {
  choices.target = choices.target.filter((name) => name !== column.name);
  delete choices.roles[column.name];
  if (role === "target") choices.target.push(column.name);
  else if (role !== column.role || column.role === "target") {
    if (["identifier", "groups", "weight"].includes(role)) for (const other of Object.keys(choices.roles)) if (choices.roles[other] === role) delete choices.roles[other];
    choices.roles[column.name] = role;
  }
  changed();
}
function drawReading() {
  byId("reading-fields").replaceChildren(...READING.map(([name, title, type]) => field(`reading-${name}`, title, type, choices.reading[name] ?? "", (value) => { if (value === "") delete choices.reading[name]; else choices.reading[name] = value; changed(); })));
}
function field(id, title, type, value, changedTo, says = "") {
  let input;
  if (Array.isArray(type)) input = make("select", { id, onchange: (event) => changedTo(event.target.value) }, ...type.map(([key, text]) => make("option", { value: key, selected: key === String(value) }, text)));
  else if (type === "check") {
    input = make("input", { id, type: "checkbox", checked: Boolean(value), onchange: (event) => changedTo(event.target.checked) });
    return make("div", { class: "field" }, make("label", { for: id }, input, " " + title), make("small", {}, says));
  } else if (type === "rate") input = rate(id, value, changedTo);
  else input = make("input", { id, type: type === "number" ? "number" : "text", value, min: type === "number" ? "0" : null, step: type === "number" ? "any" : null, spellcheck: "false", onchange: (event) => changedTo(event.target.value.trim()) });
  return make("div", { class: "field" }, make("label", { for: id }, title), input, make("small", {}, says));
}

// An error rate in percent; 0 stands for no claims, and 10 is the command's own.
function rate(id, option, changedTo) {
  const percent = option === "none" ? 0 : Math.round(1e6 * (option || 0.1)) / 1e4;
  return make("input", { id, type: "number", min: "0", max: "99", step: "any", value: percent,
    onchange: (event) => changedTo({ "": "", 0: "none", 10: "" }[event.target.value] ?? String(event.target.value / 100)) });
}

// ---- what to do
const number = (name, title, says = "") => ({ name, title, type: "number", says });
const COMMANDS = {
  rank: { title: "Rank", says: "Which features matter for which branch, with claims at an error rate.", fields: [
    { name: "fdr", title: "Expected share of false claims, %", type: "rate", says: "0 tests no claims." },
    { name: "given", title: "A claim is beyond", type: [["", "all other features"], ["nothing", "nothing: association"]] },
    number("trees", "Trees", "Usually 100."), { name: "quality", title: "Check the ranking against chance", type: "check", says: "Curves of added features; takes longer." },
    { name: "methods", title: "Methods", type: "methods" }, number("seed", "Seed", "Usually 0.")] },
  fit: { title: "Fit", says: "Learn a model and measure it on rows that it has not seen.", fields: [
    { name: "method", title: "Method", type: "method" }, number("folds", "Folds of the measures", "Usually 3 where there is no test part."),
    { name: "calibrate", title: "Calibrate probabilities", type: [["", "no"], ["isotonic", "isotonic"], ["sigmoid", "sigmoid"]], says: "Of a random forest or bagging." },
    number("trees", "Trees"), number("minutes", "Minutes of the search", "Of the method auto alone."), number("seed", "Seed", "Usually 0.")] },
  compare: { title: "Compare methods", says: "Several methods on the same folds, with a test of their differences.", fields: [
    { name: "methods", title: "Methods", type: "methods" }, number("folds", "Folds", "Usually 10."), number("trees", "Trees"), number("seed", "Seed", "Usually 0.")] },
  predict: { title: "Predict", says: "The rows of these data, by a model of an earlier run or a file.", fields: [
    { name: "probabilities", title: "Probability of every label", type: "check" }, number("top", "Only the most probable labels", "How many."),
    { name: "report", title: "The data hold the true target: write a report", type: "check" }] },
};
function drawCommands() {
  byId("commands").replaceChildren(...Object.entries(COMMANDS).map(([name, { title, says }]) => make("label", {},
    make("b", {}, make("input", { type: "radio", name: "command", value: name, checked: name === choices.command, onchange: () => { choices.command = name; keep(); drawFields(); drawAsk(); } }), " " + title), make("small", {}, says))));
}
function optionsOf(command) { return (choices.options[command] ??= {}); }
function drawFields() {
  const command = choices.command, options = optionsOf(command);
  const set = (name) => (value) => { if (value === "" || value === false || value.length === 0) delete options[name]; else options[name] = value; keep(); };
  const known = state.methods?.[command] ?? [];
  const shown = COMMANDS[command].fields.map(({ name, title, type, says }) => {
    const id = `${command}-${name}`;
    if (type === "method") return field(id, title, [["", "what suits the data"], ...known.map((method) => [method.name, method.name])], options[name] ?? "", set(name), says);
    if (type !== "methods") return field(id, title, type, options[name] ?? "", set(name), says);
    const boxes = known.map((method) => make("label", { title: method.meaning }, make("input", { type: "checkbox", value: method.name, checked: (options[name] ?? []).includes(method.name), onchange: (event) => set(name)([...event.target.closest(".checks").querySelectorAll(":checked")].map((box) => box.value)) }), " " + method.name));
    return make("details", { class: "field wide", open: (options[name] ?? []).length > 0 }, make("summary", {}, `${title} (usually ${command === "rank" ? "genie3_oob" : "random-forest, extra-trees, bagging"})`), make("div", { class: "checks", role: "group", "aria-label": title }, ...boxes));
  });
  const limit = field("limit", "May take up to, minutes", "number", choices.minutes ?? "", (value) => { choices.minutes = value; keep(); }, "Then it is stopped. Empty: as long as it needs.");
  byId("fields").replaceChildren(...(command === "predict" ? [make("div", { class: "field", id: "model-field" })] : []), ...shown, limit);
  drawModels();
}
function models() {
  const fitted = state.runs.filter((run) => run.asked.command === "fit" && run.files.some((file) => file.name === "model.ramify"));
  return [...fitted.map((run) => [`run ${run.id}`, `run ${run.id}: ${named(run)}`]), ...state.files.filter((file) => usual(file.name) === "model").map((file) => [`file ${file.name}`, file.name])];
}
function drawModels() {
  const box = byId("model-field");
  if (!box) return;
  const known = models();
  if (known.length && !known.some(([key]) => key === choices.model)) choices.model = known.at(-1)[0];
  const key = JSON.stringify([known, choices.model]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...(known.length ? field("model", "Model", known, choices.model, (value) => { choices.model = value; keep(); }).childNodes : [make("span", { class: "of" }, "Model"), make("small", {}, "There is none yet: fit one, or drop a .ramify file.")]));
}
function modelAsked(key) {
  const [where, ...rest] = key.split(" ");
  return where === "run" ? { model: "model.ramify", model_of: rest[0] } : { model: rest.join(" ") };
}
function drawAsk() {
  const found = state.inspection, isPredicting = choices.command === "predict";
  byId("target-part").hidden = isPredicting || Boolean(found && !found.columns.length && !used("annotations").length);
  byId("targets").replaceChildren(...choices.target.map((name) => make("span", { class: "pill" }, name, make("button", { type: "button", "aria-label": `Do not use ${name} as target`, onclick: () => { choices.target = choices.target.filter((other) => other !== name); changed(); } }, "✕"))));
  if (!found) return;
  const offered = found.suggestions.filter((one) => !one.target.every((name) => choices.target.includes(name)));
  byId("suggestions").replaceChildren(...(offered.length ? [make("span", { class: "soft small" }, "Or choose")] : []), ...offered.map((one) => make("button", { type: "button", class: "suggest", onclick: () => { choices.target = [...one.target]; for (const name of one.target) delete choices.roles[name]; changed(); } }, one.target.join(", ") + " ", make("small", {}, one.why))));
  const labels = found.labels ? `${found.target}, ${counted(found.labels, "label")}` : "";
  byId("target-says").textContent = choices.target.length ? (state.isStale ? "Looking at the target …" : labels && `Read as ${labels}.`) : used("annotations").length ? "The target is what the annotations say." : "";
}
function addTarget() {
  const name = byId("target-add").value.trim();
  if (!name || choices.target.includes(name)) return;
  choices.target.push(name);
  delete choices.roles[name];
  byId("target-add").value = "";
  changed();
}
async function start(event) {
  event.preventDefault();
  const command = choices.command;
  const minutes = choices.minutes ? Number(choices.minutes) : undefined;
  try {
    if (command !== "predict" && state.inspection && !isTargetSaid()) throw new Error("Choose a target first.");
    const more = { options: optionsOf(command), minutes };
    await begin(asked(command, command === "predict" ? { ...more, ...modelAsked(choices.model) } : more));
    tell("ask-trouble", "");
  } catch (error) { tell("ask-trouble", error.message); }
}
async function begin(wanted) {
  const run = await ask("POST", "/api/runs", wanted);
  announce(`Run ${run.id} begins.`);
  choices.shown = run.id;
  keep();
  state.runs.push(run);
  drawRuns();
  drawResult();
  byId("runs").scrollIntoView({ block: "start" });
  refresh();
  return run;
}

// ---- runs
const rows = new Map();
function drawRuns() {
  const shown = state.runs.filter((run) => !QUIET.has(run.asked.command)).reverse(), list = byId("run-list");
  byId("runs").hidden = !shown.length;
  for (const [id, row] of rows) if (!shown.some((run) => run.id === id)) { row.item.remove(); rows.delete(id); }
  shown.forEach((run, place) => {
    if (!rows.has(run.id)) rows.set(run.id, runRow(run));
    const row = rows.get(run.id);
    if (list.children[place] !== row.item) list.insertBefore(row.item, list.children[place] ?? null);
    row.update(run);
  });
  const isOver = shown.filter((run) => run.state === "done").length;
  byId("pair").hidden = isOver < 2;
  byId("result").hidden = !runOf(choices.shown);
}
function runRow(run) {
  const name = make("span", { class: "name" }, `${run.id}  ${named(run)}`), how = make("span", { class: "how" }), bar = make("progress", { "aria-label": `Progress of run ${run.id}` });
  const show = make("button", { type: "button", onclick: () => choose(run.id) }, "Show"), cancel = make("button", { type: "button", "aria-label": `Cancel run ${run.id}`, onclick: () => ask("POST", `/api/runs/${run.id}/cancel`).then(refresh) }, "Cancel");
  const again = make("button", { type: "button", onclick: () => askAgain(run) }, "Change and run again"), away = make("button", { type: "button", "aria-label": `Remove run ${run.id}`, onclick: () => remove(run.id) }, "Remove");
  show.setAttribute("aria-label", `Show run ${run.id}`); again.setAttribute("aria-label", `Change and run again: run ${run.id}`);
  const item = make("li", {}, make("div", {}, name, make("br"), how), make("div", { class: "buttons" }, show, cancel, again, away), bar);
  return { item, update(now) {
    const isOver = OVER.has(now.state);
    item.classList.toggle("shown", now.id === choices.shown);
    const taken = now.started && now.ended ? ` after ${seconds(now.ended - now.started)}` : "";
    how.textContent = isOver ? `${now.state}${taken}${now.state === "failed" ? ": " + now.message : ""}` : now.state === "waiting" ? "waits for the run before it" : running(now);
    bar.hidden = isOver;
    if (now.n_steps) { bar.max = now.n_steps; bar.value = now.n_done; } else bar.removeAttribute("value");
    cancel.hidden = isOver; away.hidden = !isOver; again.hidden = !isOver;
  } };
}
function running(run) {
  const taken = run.started ? ` · ${seconds(Date.now() / 1000 - run.started)} so far` : "";
  if (!run.n_steps) return `reads the data${taken}`;
  const left = run.n_done && run.n_done < run.n_steps ? ` · about ${seconds(run.step_seconds / run.n_done * (run.n_steps - run.n_done))} left of this step` : "";
  return `${run.step}: ${run.n_done.toLocaleString("en")} of ${run.n_steps.toLocaleString("en")}${left}${taken}`;
}
function choose(number) {
  choices.shown = number;
  keep();
  drawRuns();
  drawResult();
  byId("result").scrollIntoView({ block: "start" });
}
async function remove(number) {
  await ask("DELETE", `/api/runs/${number}`).catch((error) => tell("trouble", error.message));
  if (choices.shown === number) choices.shown = "";
  await refresh();
  drawPairChoices();
}
function askAgain(run) {
  const old = run.asked, parts = old.reading ?? {};
  for (const name of Object.keys(choices.uses)) if (Object.hasOwn(USES, choices.uses[name]) && choices.uses[name] !== "model") choices.uses[name] = "";
  for (const name of old.data) choices.uses[name] = "data";
  for (const [use, name] of Object.entries(old.others ?? {})) choices.uses[name] = use;
  const lists = { keep: "feature", ignore: "left out", identifier: "identifier", groups: "groups", weight: "weight" };
  choices.roles = {};
  for (const [key, role] of Object.entries(lists)) for (const name of [parts[key] ?? []].flat()) choices.roles[name] = role;
  choices.kinds = Object.fromEntries((parts.categorical ?? []).map((name) => [name, true]));
  choices.reading = Object.fromEntries(Object.entries(parts).filter(([key]) => !Object.hasOwn(lists, key) && key !== "categorical"));
  choices.target = [...(old.target ?? [])];
  choices.command = old.command;
  choices.options[old.command] = { ...(old.options ?? {}) };
  if (old.model) choices.model = old.model_of ? `run ${old.model_of}` : `file ${old.model}`;
  drawFiles(); drawReading(); drawCommands(); drawFields(); changed();
  byId("ask").scrollIntoView({ block: "start" });
}

// ---- the result of a run
let drawn = "";
async function drawResult() {
  const run = runOf(choices.shown), body = byId("result-body");
  byId("result").hidden = !run;
  if (!run) { drawn = ""; return; }
  byId("result-title").textContent = `Result of run ${run.id}: ${named(run)}`;
  tell("result-trouble", run.state === "done" ? "" : run.message || (OVER.has(run.state) ? `This run was ended: ${run.state}. Change it and run it again, with fewer trees or more time.` : ""));
  const key = `${run.id} ${run.state}`;
  if (drawn === key) return;
  drawn = key;
  byId("result-lead").textContent = OVER.has(run.state) ? "" : "It is not done yet; this section fills when it is.";
  const whole = OVER.has(run.state) ? await ask("GET", `/api/runs/${run.id}`) : run;
  if (drawn !== key) return;
  body.replaceChildren(...[reportPart(run), againPart(run), measuresPart(whole), tablesPart(run), explainPart(run), takePart(run), sayingPart(whole)].filter(Boolean));
}
const hasFile = (run, name) => run.files.some((file) => file.name === name);
const view = (run, name) => `/api/runs/${run.id}/view/${encodeURIComponent(name)}`;
const frame = (run) => make("iframe", { class: "report", title: `Report of run ${run.id}`, src: view(run, "report.html"), sandbox: "allow-scripts allow-downloads", loading: "lazy" });
function reportPart(run) {
  if (!hasFile(run, "report.html")) return null;
  return make("div", {}, make("p", {}, "Choose a branch or a feature, and every section follows. ", make("a", { href: view(run, "report.html"), target: "_blank", rel: "noopener" }, "Open in a tab of its own")), frame(run));
}
// Another limit on old p-values would not keep the error rate: the claims are tested anew, and both runs stand side by side.
function againPart(run) {
  if (run.asked.command !== "rank" || run.state !== "done") return null;
  let fdr = run.asked.options?.fdr ?? "";
  const again = async (event) => {
    event.preventDefault();
    try {
      const next = await begin({ ...run.asked, options: { ...run.asked.options, fdr }, minutes: run.minutes ?? undefined });
      choices.pair = [run.id, next.id];
      drawPairChoices();
    } catch (error) { tell("trouble", error.message); }
  };
  return make("form", { class: "tools", onsubmit: again }, make("label", { for: "again-fdr" }, "Expected share of false claims, %"), rate("again-fdr", fdr, (option) => { fdr = option; }), make("button", { type: "submit" }, "Test anew"));
}
function parsed(text) { try { return JSON.parse(text); } catch { return null; } }
function measuresPart(run) {
  const found = run.asked.command === "predict" ? parsed(run.result) : null;
  if (!found?.measures || !Object.keys(found.measures).length) return null;
  const isSeen = JSON.stringify(runOf(run.asked.model_of)?.asked.data) === JSON.stringify(run.asked.data);
  const warning = isSeen && make("p", {}, "The model has learnt from these rows, so that these measures are too good. Those of its own run are on rows that it has not seen.");
  return make("div", {}, make("h3", {}, found.measured_on), warning || "", plainTable(["Measure", "Model", "Prior alone", "Better is"], Object.entries(found.measures).map(([name, row]) => [name, shownNumber(row.model), shownNumber(row.prior), row.better])));
}
const shownNumber = (x) => (x === null || x === undefined ? "–" : Math.abs(x) >= 100 ? Math.round(x).toLocaleString("en") : Number(x).toPrecision(3));
function plainTable(head, lines) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, make("table", {}, make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, ...lines.map((line) => make("tr", {}, ...line.map((text) => make("td", {}, text)))))));
}
function tablesPart(run) {
  const tables = run.files.filter((file) => file.name.endsWith(".csv"));
  if (!tables.length) return null;
  const box = make("div"), lead = make("p", { class: "soft", role: "status" });
  const look = (name) => {
    const grid = make("div", { "aria-label": `Table ${name}` });
    const cells = new Cells(grid, async (row, column, n_rows, n_columns) => {
      const part = await ask("GET", `/api/runs/${run.id}/table/${encodeURIComponent(name)}?` + new URLSearchParams({ row, column, n_rows, n_columns }));
      lead.textContent = `${name}: ${counted(part.n_rows, "row")}, ${counted(part.n_columns, "column")}`;
      return part;
    });
    box.replaceChildren(lead, cells.box);
  };
  return make("div", {}, make("h3", {}, "Tables"), make("div", { class: "tools" }, ...tables.map((file) => make("button", { type: "button", onclick: () => look(file.name) }, `Look at ${file.name}`))), box);
}
function explainPart(run) {
  const model = run.asked.command === "fit" && hasFile(run, "model.ramify") ? { model: "model.ramify", model_of: run.id } : run.asked.command === "predict" && run.state === "done" ? { model: run.asked.model, model_of: run.asked.model_of ?? "" } : null;
  if (!model) return null;
  const row = make("input", { type: "text", id: "explain-row", value: "1", size: "12" }), label = make("input", { type: "text", id: "explain-label", size: "16" });
  const out = make("div", { role: "region", "aria-live": "polite", "aria-label": "Explanation" }), button = make("button", { type: "submit" }, "Explain");
  const explain = async (event) => {
    event.preventDefault();
    button.disabled = true;
    out.replaceChildren(make("p", { class: "soft" }, "Computing what each feature added …"));
    try {
      const options = { row: row.value.trim() || "1", ...(label.value.trim() ? { labels: [label.value.trim()] } : {}) };
      const done = await finished({ command: "explain", data: run.asked.data, others: run.asked.command === "fit" ? {} : run.asked.others, ...model, options });
      if (done.state !== "done") throw new Error(done.message);
      const whole = await ask("GET", `/api/runs/${done.id}`);
      out.replaceChildren(...explained(whole));
    } catch (error) { out.replaceChildren(make("p", { class: "trouble" }, error.message)); }
    button.disabled = false;
  };
  return make("div", {}, make("h3", {}, "Explain a row"), make("form", { class: "tools", onsubmit: explain }, make("label", { for: "explain-row" }, "Row, by number or identifier"), row, make("label", { for: "explain-label" }, "Label (or none)"), label, button), out);
}
function explained(run) {
  const found = parsed(run.result) ?? [];
  const cards = found.map((one) => make("div", { class: "case" }, make("h3", {}, `${one.label}: ${shownNumber(one.prediction)}`), make("p", { class: "soft" }, `from a base of ${shownNumber(one.base)}`), plainTable(["Feature", "Value", "Adds"], one.features.map((part) => [part.feature, part.value === null ? "missing" : String(part.value), (part.contribution >= 0 ? "+" : "") + part.contribution.toFixed(3)]))));
  if (!cards.length) cards.push(make("p", {}, "No label is predicted for this row. Name one."));
  return [make("div", { class: "cases" }, ...cards), hasFile(run, "explained.svg") ? make("figure", {}, make("img", { class: "figure", src: view(run, "explained.svg"), alt: `What each feature added to ${found[0]?.label}` })) : null, takeList(run), commandPart(run)].filter(Boolean);
}
const MEANS = { "report.html": "the report on one page, for anyone to open", "ranking.csv": "the features, ranked", "ranking.branches.csv": "the features of every branch, with p and q", "ranking.claims.csv": "the claims", "model.ramify": "the model", "predicted.csv": "the predictions", "folds.csv": "every measure of every fold", "contributions.csv": "what each feature added", "explained.svg": "the figure" };
function takeList(run) {
  const file = (name) => `/api/runs/${run.id}/file/${encodeURIComponent(name)}`;
  return make("ul", { class: "take" }, ...run.files.map(({ name, size }) => make("li", {},
    make("span", { class: "what" }, make("b", {}, name), ` ${MEANS[name] ?? ""} (${shownSize(size)})`),
    make("a", { href: file(name), download: name }, "Save"),
    name.endsWith(".csv") && make("a", { href: `/api/runs/${run.id}/sheet/${encodeURIComponent(name)}`, download: name.replace(/csv$/, "xlsx") }, "Save as Excel"),
    name.endsWith(".svg") && make("button", { type: "button", onclick: () => savePicture(run, name) }, "Save as PNG"))));
}
const savePicture = async (run, name) => savePng(name.replace(/svg$/, "png"), await (await fetch(view(run, name))).text());
function copied(text) {
  const button = make("button", { type: "button", onclick: async () => { await navigator.clipboard.writeText(text); button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); } }, "Copy");
  return button;
}
function commandPart(run) {
  const code = run.code ? make("details", {}, make("summary", {}, "The same in Python"), make("pre", { tabindex: "0" }, run.code), copied(run.code)) : null;
  return make("div", {}, make("details", { open: !run.code }, make("summary", {}, "The same on the command line"), make("pre", { tabindex: "0" }, run.command), copied(run.command)), code ?? "");
}
function takePart(run) {
  if (!OVER.has(run.state)) return commandPart(run);
  return make("div", {}, make("h3", {}, "Take away"), takeList(run), hasFile(run, "report.html") ? make("p", { class: "soft" }, "Figures and tables of the report are saved from the report itself, by the buttons below them.") : "", commandPart(run));
}
function sayingPart(run) {
  const said = [run.log, run.asked.command === "predict" ? "" : run.result].filter(Boolean).join("\n");
  return said ? make("details", {}, make("summary", {}, "What the command said"), make("pre", { tabindex: "0" }, said)) : null;
}

// ---- two runs side by side
const contents = new Map();
async function contentOf(run) {
  if (!contents.has(run.id)) {
    const text = await (await fetch(`/api/runs/${run.id}/file/report.html`)).text();
    contents.set(run.id, JSON.parse(text.split('id="content">')[1].split("</script>")[0]));
  }
  return contents.get(run.id);
}
const paired = () => state.runs.filter((run) => run.state === "done" && hasFile(run, "report.html") && !QUIET.has(run.asked.command));
function drawPairChoices() {
  const able = paired();
  byId("pair").hidden = able.length < 2;
  [0, 1].forEach((side) => {
    const select = byId(`pair-${side}`), value = choices.pair[side];
    select.replaceChildren(make("option", { value: "" }, "choose"), ...able.map((run) => make("option", { value: run.id, selected: run.id === value }, `${run.id}: ${named(run)}`)));
  });
  drawPair();
}
let pairDrawn = "";
async function drawPair() {
  const able = paired(), [a, b] = choices.pair.map((number) => able.find((run) => run.id === number)), key = `${a?.id} ${b?.id}`;
  if (pairDrawn === key) return;
  pairDrawn = key;
  if (!a || !b || a === b) { byId("pair-body").replaceChildren(make("p", { class: "soft" }, "Choose two runs that are done.")); return; }
  const [left, right] = await Promise.all([contentOf(a), contentOf(b)]);
  if (pairDrawn !== key) return;
  const parts = [];
  const told = (content) => content.measures && Object.fromEntries(content.measures.table.rows.map((row) => [row[0], row[1]]));
  if (left.measures && right.measures) {
    const [one, two] = [told(left), told(right)];
    parts.push(make("h3", {}, "Measures"), plainTable(["Measure", `Run ${a.id}`, `Run ${b.id}`], [...new Set([...Object.keys(one), ...Object.keys(two)])].map((name) => [name, one[name] ?? "–", two[name] ?? "–"])));
  }
  if (left.methods.length && right.methods.length) parts.push(...rankedBoth(a, b, left, right));
  parts.push(make("h3", {}, "Reports"), make("div", { class: "side" }, frame(a), frame(b)));
  byId("pair-body").replaceChildren(...parts);
}
function rankedBoth(a, b, left, right) {
  const of = (content) => {
    const first = content.methods[0], claims = content.features.claims;
    return new Map(content.features.names.map((name, i) => [name, { rank: first.ranks[i], claims: claims ? claims.slice(1).filter((of) => of[i]).length + (content.labels.names.length < 2 && claims[0][i] ? 1 : 0) : null }]));
  };
  const [one, two] = [of(left), of(right)], names = [...new Set([...one.keys(), ...two.keys()])];
  const best = (name) => Math.min(one.get(name)?.rank ?? Infinity, two.get(name)?.rank ?? Infinity);
  names.sort((x, y) => best(x) - best(y));
  const claimed = (of) => new Set([...of].filter(([, value]) => value.claims).map(([name]) => name)), [mine, yours] = [claimed(one), claimed(two)];
  const both = [...mine].filter((name) => yours.has(name)).length;
  const box = make("div", { class: "grid both", role: "table", tabindex: "0", "aria-label": "Features of both runs" });
  const head = make("div", { role: "row" }, ...["Feature", `Rank, run ${a.id}`, `Rank, run ${b.id}`, `Claims, run ${a.id}`, `Claims, run ${b.id}`].map((text) => make("span", { role: "columnheader" }, text)));
  const cell = (value) => make("span", { role: "cell", class: "number" }, value === null || value === undefined ? "–" : value.toLocaleString("en"));
  const list = new Rows(box, { height: 32, head, draw: (i) => { const x = one.get(names[i]), y = two.get(names[i]); return make("div", {}, make("span", { role: "rowheader", class: "name" }, names[i]), cell(x?.rank), cell(y?.rank), cell(x?.claims), cell(y?.claims)); } });
  requestAnimationFrame(() => list.fill(names.length));
  const said = (run, content, claims) => (content.features.claims ? `${counted(claims.size, "feature")} claimed in run ${run.id}` : `run ${run.id} tests no claims`);
  return [make("h3", {}, "Features"), make("p", {}, `${said(a, left, mine)}; ${said(b, right, yours)}${left.features.claims && right.features.claims ? `; ${both.toLocaleString("en")} in both` : ""}.`), box];
}

// ---- begin
history.replaceState(null, "", location.pathname + location.hash);  // the token need not stand in the address
byId("files").addEventListener("change", (event) => { given([...event.target.files]); event.target.value = ""; });
byId("demo").addEventListener("click", demo);
for (const name of ["dragover", "dragleave", "drop"]) document.addEventListener(name, (event) => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  byId("drop").classList.toggle("over", name === "dragover");
  if (name === "drop") given([...event.dataTransfer.files]);
});
byId("column-search").addEventListener("input", listColumns);
byId("reset-columns").addEventListener("click", () => { choices.roles = {}; choices.kinds = {}; changed(); });
byId("target-button").addEventListener("click", addTarget);
byId("target-add").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); addTarget(); } });
byId("form").addEventListener("submit", start);
[0, 1].forEach((side) => byId(`pair-${side}`).addEventListener("change", (event) => { choices.pair[side] = event.target.value; keep(); drawPair(); }));
byId("stop").addEventListener("click", async () => {
  const isBusy = state.runs.some((run) => !OVER.has(run.state));
  if (!confirm(isBusy ? "A run is not done yet. Stop Ramify all the same?" : state.kept ? "Stop Ramify? Files and runs are kept." : "Stop Ramify? What you have not saved is removed.")) return;
  await ask("POST", "/api/stop").catch(() => {});
  clearTimeout(waiting);
  tell("trouble", "Ramify has stopped. You can close this page.");
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });

(async () => {
  try { Object.assign(choices, await ask("GET", "/api/choices")); } catch (error) { tell("trouble", error.message); return; }
  await refresh();
  for (const file of state.files) if (!(file.name in choices.uses)) take(file.name);
  drawFiles(); drawReading(); drawCommands(); drawFields(); drawAsk();
  drawResult(); drawPairChoices();
  const hasData = used("data").length > 0;
  byId("columns").hidden = byId("ask").hidden = !hasData;
  if (hasData) {
    if (runOf(choices.inspected)?.state === "done") look(choices.inspected).catch(inspect); else inspect();
  }
  try { state.methods = await ask("GET", "/api/methods"); drawFields(); } catch { /* the fields work without */ }
  document.documentElement.dataset.ready = "true";
})();
