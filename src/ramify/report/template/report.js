"use strict";
// The page's behaviour: search, sort, method choice, subtree choice, the label map and the heat map.
// Names from the data only ever reach the page through textContent or a canvas, never as markup.
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { labels, features, methods } = content;
  const nLabels = labels.names.length, nFeatures = features.names.length;
  const byId = (id) => document.getElementById(id);
  const state = { method: 0, label: -1, feature: -1, sort: "score", down: true, shown: 25 };
  const PAGE = 25, TREE_PAGE = 120, CHIPS = content.chips, OWN_SHARE = 0.03;

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }
  const percent = (x) => (x >= 0.995 ? "100" : (100 * x).toPrecision(x < 0.0995 ? 1 : 2)) + " %";
  // As shown_number and shown_p of Python write them.
  function shownNumber(x) {
    if (x === null || x === undefined) return "–";
    const size = Math.abs(x);
    if (size === 0) return "0";
    if (size < 0.000095) return x.toExponential(1);
    if (size >= 99.95) return Math.round(x).toLocaleString("en");
    return x.toFixed(size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 1 - Math.floor(Math.log10(size * 1.005)));
  }
  const shownP = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));

  // ---- the tree of labels: first parent is where a label is shown, other parents are mentioned
  const children = labels.names.map(() => []), roots = [];
  labels.parents.forEach((parents, label) => (parents.length ? children[parents[0]] : roots).push(label));
  const byExamples = (a, b) => (labels.examples ? labels.examples[b] - labels.examples[a] : 0) || a - b;
  roots.sort(byExamples); children.forEach((list) => list.sort(byExamples));
  const level = new Array(nLabels).fill(0);
  for (const stack = roots.slice(); stack.length;) {
    const label = stack.pop();
    for (const child of children[label]) { level[child] = level[label] + 1; stack.push(child); }
  }

  // A name such as a/b/c below a/b is shown as c; its title and every search keep the whole. Pairs are always whole.
  function shortName(label) {
    if (labels.pairs) return labels.names[label];
    const name = labels.names[label], parent = labels.parents[label].length ? labels.names[labels.parents[label][0]] : null;
    return parent !== null && name.startsWith(parent) && /^[/.>|:]./.test(name.slice(parent.length)) ? name.slice(parent.length + 1) : name;
  }

  // Names too long for their place are cut in the middle, at what others of the same start and end share.
  function cut(name, room, others) {
    if (name.length <= room) return name;
    const end = Math.floor((room - 1) / 2), start = room - 1 - end;
    const outer = (text) => text.slice(0, start) + "…" + text.slice(-end);
    const alike = others.filter((other) => other !== name && other.length > room && outer(other) === outer(name));
    if (!alike.length) return outer(name);
    let same = start;  // the first place at which it differs from all others is kept
    for (const other of alike) { let at = 0; while (at < name.length && name[at] === other[at]) at++; same = Math.max(same, at); }
    const from = Math.max(4, Math.min(same - 2, name.length - room + 6));
    const inner = name.slice(0, 4) + "…" + name.slice(from, from + room - 10) + "…" + name.slice(-4);
    return alike.some((other) => other.slice(0, 4) + "…" + other.slice(from, from + room - 10) + "…" + other.slice(-4) === inner) ? name : inner;
  }
  const ROOM = 26, cuts = new Map(), longNames = [...new Set([...features.names, ...Object.values(features.groups)])].filter((name) => name.length > ROOM);
  const shortFeature = (name) => { if (!cuts.has(name)) cuts.set(name, cut(name, ROOM, longNames)); return cuts.get(name); };

  // ---- branch scores of the method in use; a method without per-label scores borrows the first that has them
  const withBranches = methods.findIndex((m) => m.branches);
  const branchMethod = () => (methods[state.method].branches ? state.method : withBranches);
  function branch(label) {
    if (withBranches < 0) return null;
    const b = methods[branchMethod()].branches;
    return { features: b.features[label], scores: b.scores[label], total: b.totals[label], top: b.tops[label] };
  }
  const overallShare = methods.map((m) => {
    const total = m.scores.reduce((sum, s) => sum + Math.max(s, 0), 0) || 1;
    return m.scores.map((s) => Math.max(s, 0) / total);
  });
  // Scores of a branch are stored in thousandths of its best feature's.
  const branchShare = (b, i) => (b.total > 0 ? (b.scores[i] / 1000) * b.top / b.total : 0);

  function bar(share, tick) {
    const track = make("span", "bar"), fill = make("i");
    fill.style.width = Math.max(0, Math.min(100, 100 * share)) + "%";
    track.append(fill);
    if (tick !== undefined && tick !== null) { const mark = make("u"); mark.style.left = `calc(${Math.min(100, 100 * tick)}% - 1px)`; track.append(mark); }
    return track;
  }

  // ---- what predicts what
  const tree = byId("tree"), isFlat = !children.some((list) => list.length);
  let open = new Set(), treeShown = TREE_PAGE, labelQuery = "";
  // At first as many whole levels are open as fit the screen, or else the largest branches of the first.
  function startOpen() {
    open = new Set();
    const most = 16;
    let rows = roots.length, front = roots;
    while (front.length && rows < most) {
      const next = front.flatMap((label) => children[label]);
      if (rows + next.length > most && front !== roots) break;
      for (const label of front) if (rows < most && children[label].length) { open.add(label); rows += children[label].length; }
      front = next;
    }
  }
  function visibleLabels() {
    if (labelQuery) {
      const keep = new Set();
      labels.names.forEach((name, label) => {
        if (!name.toLowerCase().includes(labelQuery)) return;
        for (let l = label; l !== undefined && !keep.has(l); l = labels.parents[l][0]) keep.add(l);
      });
      return inOrder((label) => keep.has(label), () => true);
    }
    return inOrder(() => true, (label) => open.has(label));
  }
  function inOrder(shows, descends) {
    const list = [], stack = roots.slice().reverse();
    while (stack.length) {
      const label = stack.pop();
      if (!shows(label)) continue;
      list.push(label);
      if (descends(label)) for (let i = children[label].length - 1; i >= 0; i--) stack.push(children[label][i]);
    }
    return list;
  }
  // The most that can be said of a feature and a branch; p and q are of claims, or of associations where there are none.
  const STANDINGS = ["claimed", "associated", "ranked"], tests = features.claims ?? features.associations, isTested = Boolean(tests);
  function standingOf(feature, label) {
    if (features.claims && features.claims[label + 1][feature]) return features.given === "others" ? "claimed" : "associated";
    return features.associations && features.associations[label + 1][feature] ? "associated" : "ranked";
  }
  // Features that cannot be told apart are claimed, and shown, as one.
  const unitName = (feature) => features.groups[feature] ?? features.names[feature];
  function chip(feature, length, share, factor, standing) {
    const own = factor >= content.own_factor && share >= OWN_SHARE;
    const name = standing === "claimed" || !isTested ? unitName(feature) : features.names[feature];
    const button = make("button", "chip" + (isTested ? " " + standing : "") + (own && standing !== "ranked" ? " own" : "") + (feature === state.feature ? " lit" : ""), shortFeature(name));
    button.type = "button"; button.dataset.feature = feature;
    button.title = `${name}: ${percent(share)} of this branch's importance, ${factor.toFixed(1)} times its overall share`;
    const fill = make("i"); fill.style.width = 100 * length + "%"; button.append(fill);
    return button;
  }
  function branchRow(label) {
    const row = make("div", "branch" + (level[label] === 0 ? " top" : "") + (label === state.label ? " chosen" : ""));
    row.dataset.label = label;
    const name = make("div", "name" + (isFlat ? " flat" : "")), fold = make("button", "fold" + (children[label].length ? "" : " leaf"), open.has(label) || labelQuery ? "▼" : "▶");
    name.style.paddingLeft = Math.min(level[label], 12) * (innerWidth < 720 ? 0.6 : 1.1) + "rem";
    fold.type = "button"; fold.setAttribute("aria-label", "Open or close " + labels.names[label]); fold.setAttribute("aria-expanded", open.has(label));
    const pick = make("button", "pick", shortName(label));
    pick.type = "button"; pick.title = labels.names[label]; pick.setAttribute("aria-pressed", label === state.label);
    name.append(fold, pick);
    const others = labels.parents[label].slice(1);
    if (others.length) { const also = make("span", "also", "+" + others.length); also.title = "also under " + others.map((p) => labels.names[p]).join(", "); name.append(also); }
    const examples = make("div", "number small soft", labels.examples ? labels.examples[label].toLocaleString("en") : "");
    const quality = make("div", "quality small");
    if (labels.quality && labels.quality[label] !== null) {
      quality.append(make("span", "number", shownNumber(labels.quality[label])), bar(labels.quality[label], labels.baseline ? labels.baseline[label] : null));
      quality.title = `${labels.quality_name} ${shownNumber(labels.quality[label])}` + (labels.baseline ? `; by chance ${shownNumber(labels.baseline[label])} (mark)` : "");
    }
    const chips = make("div", "chips"), b = branch(label);
    if (b) {
      const { overall } = methods[branchMethod()].branches;
      const units = new Set(), few = labels.untested[label];
      const order = few ? [] : [...b.features.keys()].sort((x, y) => STANDINGS.indexOf(standingOf(b.features[x], label)) - STANDINGS.indexOf(standingOf(b.features[y], label)) || x - y);
      for (const i of order) {
        if (chips.childNodes.length >= CHIPS) break;
        const share = branchShare(b, i), unit = features.groups[b.features[i]], standing = standingOf(b.features[i], label);
        if (standing === "claimed" && unit !== undefined && units.has(unit)) continue;
        units.add(unit);
        if (standing !== "ranked" || share > 0) chips.append(chip(b.features[i], b.scores[i] / 1000, share, share / (overall[b.features[i]] || Infinity), standing));
      }
      if (!chips.childNodes.length) chips.append(make("span", "soft small", few || "no feature stands out"));
    }
    row.append(name, examples, quality, chips);
    return row;
  }
  function drawTree() {
    if (!tree) return;
    const list = visibleLabels();
    const head = make("div", "branch head");
    head.append(make("span", "", labels.noun), make("span", "number", labels.examples ? "examples" : ""), make("span", "quality", labels.quality ? labels.quality_name : ""), make("span", "", withBranches < 0 ? "" : "top features"));
    tree.replaceChildren(head, ...list.slice(0, treeShown).map(branchRow));
    byId("tree-more").hidden = list.length <= treeShown;
  }
  if (tree) {
    startOpen();
    tree.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.feature !== undefined) return chooseFeature(Number(button.dataset.feature));
      const label = Number(button.closest(".branch").dataset.label);
      if (button.classList.contains("fold")) { if (!open.delete(label)) open.add(label); drawTree(); } else chooseLabel(label === state.label ? -1 : label);
    });
    const light = (on) => (event) => {
      const own = event.target.closest && event.target.closest(".chip");
      if (own) for (const other of tree.querySelectorAll(".chip")) if (other.dataset.feature === own.dataset.feature) other.classList.toggle("lit", on || Number(own.dataset.feature) === state.feature);
    };
    tree.addEventListener("mouseover", light(true)); tree.addEventListener("mouseout", light(false));
    byId("label-search").addEventListener("input", (event) => { labelQuery = event.target.value.trim().toLowerCase(); drawTree(); });
    byId("unfold").addEventListener("click", () => { open = new Set(labels.names.keys()); drawTree(); });
    byId("fold").addEventListener("click", () => { open = new Set(); drawTree(); });
    byId("tree-more").addEventListener("click", () => { treeShown += 4 * TREE_PAGE; drawTree(); });
    if (!children.some((list) => list.length)) { byId("unfold").hidden = true; byId("fold").hidden = true; }
    if (nLabels < 2) byId("label-search").parentElement.hidden = true;
  }

  // ---- ranking table
  function rankingRows() {
    const method = methods[state.method], query = byId("feature-search").value.trim().toLowerCase();
    let rows;
    if (state.label >= 0) {
      const b = branch(state.label);
      rows = b.features.map((feature, i) => ({ feature, score: (b.scores[i] / 1000) * b.top, share: branchShare(b, i), rank: i + 1 }));
    } else {
      rows = features.names.map((_, feature) => ({ feature, score: method.scores[feature], share: overallShare[state.method][feature], rank: method.ranks[feature] }));
    }
    if (query) rows = rows.filter((row) => features.names[row.feature].toLowerCase().includes(query));
    const value = sortValue();
    rows.sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1) || a.rank - b.rank || a.feature - b.feature;
    });
    return rows;
  }
  function claimOf(feature, label) { return tests ? tests[label + 1][feature] : undefined; }
  function sortValue() {
    const key = state.sort;
    if (key === "feature") return (row) => features.names[row.feature].toLowerCase();
    if (key === "p" || key === "q") return (row) => (claimOf(row.feature, state.label)?.[key === "p" ? 0 : 1] ?? 2);
    if (key === "planted" || key === "selected") return (row) => features[key][row.feature];
    if (key === "drives") return (row) => (methods[branchMethod()].drives[row.feature] < 0 ? "\uffff" : labels.names[methods[branchMethod()].drives[row.feature]].toLowerCase());
    if (key.startsWith("rank")) { const m = methods[Number(key.slice(4))]; return (row) => m.ranks[row.feature]; }
    return (row) => row.score;
  }
  function columns() {
    const list = [{ key: "place", title: "#", number: true }, { key: "feature", title: "Feature" }, { key: "score", title: methods[state.method].name, down: true }];
    if (tests && Object.keys(tests[state.label + 1]).length) list.push({ key: "p", title: "p", number: true }, { key: "q", title: "q", number: true });
    if (features.planted) list.push({ key: "planted", title: "Planted", down: true });
    if (features.selected) list.push({ key: "selected", title: "Selected", down: true });
    if (withBranches >= 0 && nLabels > 1 && methods[branchMethod()].drives.some((label) => label >= 0)) list.push({ key: "drives", title: !isTested ? "Matters most for" : features.given === "others" ? "Predicts most" : "Goes most with", other: true });
    if (methods.length > 1) methods.forEach((m, i) => list.push({ key: "rank" + i, title: m.name, number: true, other: true, now: i === state.method }));
    return list;
  }
  function drawRanking() {
    const rows = rankingRows(), list = columns(), table = byId("ranking-table");
    const best = rows.reduce((top, row) => Math.max(top, row.score), 0) || 1;
    table.tHead.rows[0].replaceChildren(...list.map((column) => {
      const cell = make("th", (column.number ? "number " : "") + (column.other ? "other " : "") + (column.now ? "now" : ""));
      if (column.key === "place") { cell.textContent = "#"; return cell; }
      const button = make("button", "", column.title);
      button.type = "button"; button.dataset.sort = column.key;
      if (column.key.startsWith("rank")) button.title = "rank by " + column.title;
      if (state.sort === column.key) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      cell.append(button);
      return cell;
    }));
    table.tBodies[0].replaceChildren(...rows.slice(0, state.shown).map((row) => {
      const line = make("tr", row.feature === state.feature ? "lit" : "");
      line.dataset.feature = row.feature;
      for (const column of list) line.append(rankingCell(column, row, best));
      return line;
    }));
    byId("ranking-more").hidden = rows.length <= state.shown;
    byId("ranking-count").textContent = `${Math.min(rows.length, state.shown)} of ${rows.length.toLocaleString("en")} shown`;
    const method = methods[state.method], borrowed = state.label >= 0 && branchMethod() !== state.method;
    byId("ranking-note").textContent = (borrowed ? methods[branchMethod()] : method).name + ": " + (borrowed ? methods[branchMethod()] : method).meaning
      + (borrowed ? ` (${method.name} has no scores per label.)` : "")
      + (state.label >= 0 && methods[branchMethod()].credit ? ` Scores of a branch are ${methods[branchMethod()].credit}.` : "")
      + (state.label >= 0 && branch(state.label).features.length < nFeatures ? ` Within a branch the ${branch(state.label).features.length} best features are listed.` : "");
    const pill = byId("restricted");
    pill.hidden = state.label < 0;
    if (state.label >= 0) pill.firstChild.textContent = "only " + labels.names[state.label] + (children[state.label].length ? " and below" : "");
  }
  function rankingCell(column, row, best) {
    const cell = make("td", (column.number ? "number " : "") + (column.other ? "other " : "") + (column.now ? "now " : "") + column.key);
    if (column.key === "place") cell.textContent = row.rank;
    else if (column.key === "feature") { const b = make("button", "", features.names[row.feature]); b.type = "button"; cell.append(b); }
    else if (column.key === "score") { cell.append(make("span", "small", shownNumber(row.score)), bar(row.score / best)); cell.title = percent(row.share) + " of the total"; }
    else if (column.key === "p" || column.key === "q") { const claim = claimOf(row.feature, state.label); cell.textContent = claim ? shownP(claim[column.key === "p" ? 0 : 1]) : "–"; if (!claim) cell.title = "no claim"; }
    else if (column.key === "planted" || column.key === "selected") { cell.textContent = features[column.key][row.feature] ? "✓" : ""; cell.classList.add("truth"); }
    else if (column.key === "drives") { const label = methods[branchMethod()].drives[row.feature]; cell.textContent = label < 0 ? "" : labels.names[label]; cell.classList.add("small"); }
    else { const rank = methods[Number(column.key.slice(4))].ranks[row.feature]; cell.textContent = rank; }
    return cell;
  }
  if (byId("ranking")) {
    byId("feature-search").addEventListener("input", () => { state.shown = PAGE; drawRanking(); });
    byId("ranking-more").addEventListener("click", () => { state.shown += 4 * PAGE; drawRanking(); });
    byId("restricted").querySelector("button").addEventListener("click", () => chooseLabel(-1));
    byId("ranking-table").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.sort) {
        const key = button.dataset.sort, column = columns().find((c) => c.key === key);
        state.down = state.sort === key ? !state.down : Boolean(column.down);
        state.sort = key; drawRanking();
      } else chooseFeature(Number(button.closest("tr").dataset.feature));
    });
  }

  // ---- tables as files: the same cells as in Ramify's own CSV, no cell that a spreadsheet would run as a formula
  function csvCell(value) {
    let text = value === null || value === undefined ? "" : String(value);
    if (typeof value !== "number" && /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }
  function save(name, rows) {
    const text = rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
    saveFile(name + ".csv", new Blob([text], { type: "text/csv;charset=utf-8" }));
  }
  function rankingLines() {
    const method = methods[state.label >= 0 ? branchMethod() : state.method];
    const list = ["rank", "feature", method.name + " score"], extra = ["planted", "selected"].filter((key) => features[key]);
    const others = methods.length > 1 ? methods : [], claims = tests ? ["p", "q"] : [];
    const head = [...list, ...claims, ...extra, ...others.map((m) => "rank by " + m.name)];
    return [head, ...rankingRows().map((row) => [row.rank, features.names[row.feature], row.score, ...claims.map((key, i) => claimOf(row.feature, state.label)?.[i] ?? ""), ...extra.map((key) => features[key][row.feature]), ...others.map((m) => m.ranks[row.feature])])];
  }
  function branchLines() {
    const claims = tests ? ["p", "q"] : [], lines = [["feature", "branch", "score", "share", ...claims]];
    labels.names.forEach((name, label) => { const b = branch(label); b.features.forEach((feature, i) => lines.push([features.names[feature], name, (b.scores[i] / 1000) * b.top, branchShare(b, i), ...claims.map((key, at) => claimOf(feature, label)?.[at] ?? "")])); });
    return lines;
  }
  for (const button of document.querySelectorAll("[data-role=all]")) {
    const table = button.parentElement.previousElementSibling.querySelector("table"), rest = table.querySelectorAll("tr[data-further]");
    for (const row of rest) row.classList.add("further");
    button.hidden = false;
    button.addEventListener("click", () => { table.classList.add("all"); button.hidden = true; });
  }
  for (const button of document.querySelectorAll("[data-role=csv]")) button.addEventListener("click", () => {
    const table = button.parentElement.previousElementSibling.querySelector("table"), section = button.closest("section").id;
    save(section, [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
  });
  if (byId("save-ranking")) {
    byId("save-ranking").addEventListener("click", () => save(state.label < 0 ? "ranking" : "ranking-of-branch", rankingLines()));
    byId("save-branches").hidden = withBranches < 0 || nLabels < 2;
    byId("save-branches").addEventListener("click", () => save("branches", branchLines()));
  }

  // ---- choices that several parts share
  for (const group of document.querySelectorAll("[data-role=methods]")) {
    methods.forEach((method, i) => {
      const button = make("button", "", method.words);
      if (!method.words.endsWith(method.name)) button.append(make("span", "small", " " + method.name));
      button.type = "button"; button.title = method.meaning; button.dataset.method = i;
      group.append(button);
    });
    group.addEventListener("click", (event) => { const button = event.target.closest("button"); if (button) chooseMethod(Number(button.dataset.method)); });
  }
  function chooseMethod(index) {
    state.method = index;
    if (state.sort !== "feature" && state.sort !== "p") { state.sort = "score"; state.down = true; }
    drawAll();
  }
  function chooseLabel(label) {
    if (withBranches < 0) return;
    state.label = label; state.shown = PAGE; state.sort = "score"; state.down = true;
    drawAll();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (label >= 0) byId("ranking").scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  }
  function chooseFeature(feature) {
    state.feature = feature === state.feature ? -1 : feature;
    const select = byId("map-colour");
    if (select && state.feature >= 0) select.value = "feature";
    drawAll();
  }

  // ---- colours: one ramp from the page's cold grey to its accent, readable without hue
  const RAMP = { light: [[238, 241, 243], [253, 208, 138], [226, 120, 60], [140, 36, 72], [50, 14, 60]], dark: [[35, 45, 53], [94, 30, 86], [190, 66, 84], [246, 150, 80], [255, 236, 170]] };
  const isDark = () => getComputedStyle(document.documentElement).colorScheme.includes("dark");
  function ramp(x) {
    const stops = RAMP[isDark() ? "dark" : "light"], at = Math.max(0, Math.min(1, x)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
    return stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i)));
  }
  const css = (rgb) => `rgb(${rgb.join(",")})`;
  const onTop = (rgb) => (0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2] > 140 ? "#10161b" : "#ffffff");

  // ---- the label map (icicle): width by number of leaves, depth downwards
  const icicle = byId("icicle");
  const leaves = new Array(nLabels).fill(0);
  inOrder(() => true, () => true).reverse().forEach((label) => { leaves[label] = children[label].length ? children[label].reduce((n, c) => n + leaves[c], 0) : 1; });
  function mapValues() {
    const by = byId("map-colour").value;
    if (by === "quality") return { values: labels.quality, text: (v) => `${labels.quality_name} ${shownNumber(v)}`, top: 1, most: "1" };
    if (by === "examples") return { values: labels.examples.map((n) => Math.sqrt(n)), text: (v) => `${Math.round(v * v).toLocaleString("en")} examples`, top: Math.sqrt(Math.max(...labels.examples)), most: Math.max(...labels.examples).toLocaleString("en") };
    const values = labels.names.map((_, label) => { const b = branch(label), i = state.feature < 0 ? -1 : b.features.indexOf(state.feature); return i < 0 ? 0 : branchShare(b, i); });
    return { values, text: (v) => `${percent(v)} of the importance is ${features.names[state.feature]}'s`, top: Math.max(...values, 1e-9), most: percent(Math.max(...values)) + " of a branch" };
  }
  // Blocks below their parents; `place` says of a block its colour's share (null: none), its name and whether it is chosen.
  function drawBlocks(svg, tree, place) {
    const width = svg.clientWidth || 800, deepest = Math.max(...tree.level) + 1, row = deepest === 1 ? 60 : Math.max(26, Math.min(54, 300 / deepest)), height = deepest * row;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`); svg.setAttribute("height", height);
    const total = tree.roots.reduce((n, r) => n + tree.leaves[r], 0), start = [], shapes = [];
    const beside = (list, from) => { for (const node of list) { start[node] = from; from += tree.leaves[node] * width / total; } };
    beside(tree.roots, 0);
    for (const stack = tree.roots.slice().reverse(); stack.length;) {
      const node = stack.pop(), { share, name, chosen } = place(node);
      beside(tree.children[node], start[node]);
      stack.push(...tree.children[node].slice().reverse());
      const w = tree.leaves[node] * width / total, rgb = share === null ? null : ramp(share);
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [key, v] of Object.entries({ x: start[node].toFixed(2), y: tree.level[node] * row, width: w.toFixed(2), height: row, fill: rgb ? css(rgb) : "transparent", "data-label": node })) rect.setAttribute(key, v);
      if (w < 3) rect.setAttribute("stroke-width", 0.25);
      if (chosen) rect.setAttribute("class", "chosen");
      shapes.push(rect);
      if (w > 44) {
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text"), room = Math.floor((w - 10) / 6.9);
        text.setAttribute("x", (start[node] + 5).toFixed(1)); text.setAttribute("y", tree.level[node] * row + row / 2 + 4); text.setAttribute("fill", rgb ? onTop(rgb) : "currentColor");
        text.textContent = name.length > room ? cut(name, Math.max(3, room), []) : name;
        shapes.push(text);
      }
    }
    svg.replaceChildren(...shapes);
  }
  function drawMap() {
    if (!icicle) return;
    const { values, text, top, most } = mapValues();
    drawBlocks(icicle, { roots, children, level, leaves }, (label) => ({ share: values[label] === null ? null : values[label] / top, name: shortName(label), chosen: label === state.label }));
    icicle.onmousemove = (event) => {
      const label = event.target.dataset && event.target.dataset.label;
      if (label === undefined) return;
      const value = values[label];
      byId("map-readout").textContent = `${labels.names[label]}: ` + (value === null ? "not measured" : text(value));
    };
    byId("map-scale").textContent = `${isDark() ? "brightest" : "darkest"} = ${most}`;
  }

  // ---- the map of the features' own hierarchy, coloured by their score; a block that is no column has none
  const featureMap = byId("feature-icicle"), terms = content.feature_map;
  const termTree = featureMap && (() => {
    const below = terms.names.map(() => []), tops = [], depth = terms.names.map(() => 0), width = terms.names.map(() => 1), order = [];
    terms.parents.forEach((parent, term) => (parent >= 0 ? below[parent] : tops).push(term));
    for (const stack = tops.slice(); stack.length;) { const term = stack.pop(); order.push(term); for (const child of below[term]) { depth[child] = depth[term] + 1; stack.push(child); } }
    for (const term of order.reverse()) if (below[term].length) width[term] = below[term].reduce((n, child) => n + width[child], 0);
    return { roots: tops, children: below, level: depth, leaves: width };
  })();
  function drawFeatureMap() {
    if (!featureMap) return;
    const scores = methods[state.method].scores, top = Math.max(...scores.map((s) => s ?? 0)) || 1;
    const scoreOf = (term) => (terms.features[term] < 0 ? null : scores[terms.features[term]]);
    drawBlocks(featureMap, termTree, (term) => ({ share: scoreOf(term) === null ? null : Math.max(0, scoreOf(term)) / top, name: terms.names[term], chosen: terms.features[term] >= 0 && terms.features[term] === state.feature }));
    featureMap.onmousemove = (event) => {
      const term = event.target.dataset && event.target.dataset.label;
      if (term === undefined) return;
      const kept = features.selected && terms.features[term] >= 0 ? (features.selected[terms.features[term]] ? ", selected" : ", not selected") : "";
      byId("feature-map-readout").textContent = `${terms.names[term]}: ` + (scoreOf(term) === null ? "no column" : shownNumber(scoreOf(term)) + kept);
    };
    byId("feature-map-scale").textContent = `${isDark() ? "brightest" : "darkest"} = ${shownNumber(top)} by ${methods[state.method].name}`;
  }
  if (featureMap) featureMap.addEventListener("click", (event) => {
    const term = event.target.dataset.label;
    if (term === undefined || terms.features[term] < 0) return;
    chooseFeature(terms.features[term]);
    if (state.feature >= 0) showRow(state.feature);
  });
  function showRow(feature) {
    byId("feature-search").value = "";
    state.shown = Math.max(state.shown, 1 + rankingRows().findIndex((row) => row.feature === feature));
    drawRanking();
    const line = byId("ranking-table").querySelector(`tr[data-feature="${feature}"]`);
    if (line) line.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "center" });
  }
  if (icicle) {
    const select = byId("map-colour");
    const add = (value, text) => { const option = make("option", "", text); option.value = value; select.append(option); };
    if (withBranches >= 0) add("feature", "importance of a feature");
    if (labels.quality) add("quality", "prediction quality (" + labels.quality_name + ")");
    if (labels.examples) add("examples", "number of examples");
    if (!select.options.length) byId("map").hidden = true;
    select.addEventListener("change", () => { if (select.value === "feature" && state.feature < 0) state.feature = bestFeature(); drawAll(); });
    icicle.addEventListener("click", (event) => { const label = event.target.dataset.label; if (label !== undefined) chooseLabel(Number(label) === state.label ? -1 : Number(label)); });
    if (labels.quality) select.value = "quality"; else if (withBranches >= 0) state.feature = bestFeature();
  }
  function bestFeature() { return methods[state.method].ranks.indexOf(Math.min(...methods[state.method].ranks)); }
  function nameFeatureOption() {
    const option = icicle && byId("map-colour").querySelector("option[value=feature]");
    if (option) option.textContent = "importance of " + (state.feature < 0 ? "a feature" : features.names[state.feature]);
  }

  // ---- heat map on a canvas
  const heat = byId("heat");
  let geometry = null;
  function drawHeat() {
    if (!heat) return;
    const map = content.heatmaps[byId("heat-method").value], clustered = byId("heat-order").value === "clustered";
    const rows = clustered ? map.feature_order : map.features.map((_, i) => i);
    let cols = clustered ? map.label_order : map.labels.map((_, i) => i);
    const room = Math.max(8, Math.floor((heat.parentElement.clientWidth - 270) / 11)), few = byId("heat-labels");
    few.parentElement.hidden = cols.length <= room;
    few.options[0].textContent = `${room} that matter most`; few.options[1].textContent = `all ${map.labels.length.toLocaleString("en")}`;
    if (cols.length > room && few.value === "few") {
      const total = (c) => map.features.reduce((sum, _, r) => sum + map.cells[r][c] / 1000, 0) * map.tops[c];
      const best = new Set(cols.slice().sort((a, b) => total(b) - total(a)).slice(0, room));
      cols = cols.filter((c) => best.has(c));
    }
    const ratio = devicePixelRatio || 1, width = heat.parentElement.clientWidth - (innerWidth < 720 ? 26 : 42), gutter = Math.min(150, Math.max(70, width * 0.16));
    const slant = (width - gutter) / cols.length >= 11 ? 55 : 0, cell = Math.min(60, (width - gutter - slant) / cols.length), tall = rows.length > 60 ? 9 : 14, names = slant > 0, top = names ? 110 : 6;
    heat.style.width = width + "px"; heat.style.height = top + rows.length * tall + 4 + "px";
    heat.width = Math.round(width * ratio); heat.height = Math.round((top + rows.length * tall + 4) * ratio);
    const pen = heat.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, top + rows.length * tall + 4);
    const ink = getComputedStyle(document.body).color, shades = Array.from({ length: 101 }, (_, i) => [...ramp(i / 100), 255]);
    const cells = new OffscreenCanvas(cols.length, rows.length);  // a pixel each, then stretched: one call instead of one per cell
    cells.getContext("2d").putImageData(new ImageData(Uint8ClampedArray.from(rows.flatMap((r) => cols.flatMap((c) => shades[Math.round(map.cells[r][c] / 10)]))), cols.length), 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(cells, gutter, top, cols.length * cell, rows.length * tall);
    pen.font = `${Math.min(11, tall - 1)}px system-ui, "DejaVu Sans", sans-serif`;
    rows.forEach((r, y) => {
      pen.fillStyle = ink; pen.textAlign = "right"; pen.textBaseline = "middle";
      pen.fillText(fit(pen, features.names[map.features[r]], gutter - 8), gutter - 6, top + y * tall + tall / 2);
    });
    if (names) cols.forEach((c, x) => {
      pen.save(); pen.translate(gutter + (x + 0.6) * cell, top - 5); pen.rotate(-Math.PI / 3); pen.textAlign = "left"; pen.fillStyle = ink;
      pen.fillText(fit(pen, shortName(map.labels[c]), 112), 0, 0); pen.restore();
    });
    geometry = { map, rows, cols, gutter, cell, top, tall };
    const scale = byId("heat-scale").getContext("2d");
    for (let i = 0; i < 144; i++) { scale.fillStyle = css(ramp(i / 143)); scale.fillRect(i, 0, 1, 10); }
  }
  function fit(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    let kept = Math.min(text.length, Math.floor(room / 4));
    const shown = () => text.slice(0, kept - Math.floor(kept / 2)) + "…" + text.slice(text.length - Math.floor(kept / 2));
    while (kept > 2 && pen.measureText(shown()).width > room) kept--;
    return shown();
  }
  function cellAt(event) {
    if (!geometry) return null;
    const box = heat.getBoundingClientRect(), { map, rows, cols, gutter, cell, top, tall } = geometry;
    const x = Math.floor((event.clientX - box.left - gutter) / cell), y = Math.floor((event.clientY - box.top - top) / tall);
    if (x < 0 || y < 0 || x >= cols.length || y >= rows.length) return null;
    const r = rows[y], c = cols[x];
    return { feature: map.features[r], label: map.labels[c], value: (map.cells[r][c] / 1000) * map.tops[c], share: map.cells[r][c] / 1000 };
  }
  if (heat) {
    content.heatmaps.forEach((map, i) => { const option = make("option", "", map.method); option.value = i; byId("heat-method").append(option); });
    for (const id of ["heat-method", "heat-order", "heat-labels"]) byId(id).addEventListener("change", drawHeat);
    heat.addEventListener("pointermove", (event) => {
      const cell = cellAt(event);
      byId("heat-readout").textContent = cell ? `${features.names[cell.feature]} × ${labels.names[cell.label]}: ${shownNumber(cell.value)} (${percent(cell.share)} of the label's best feature)` : "Point at a cell.";
    });
    heat.addEventListener("click", (event) => { const cell = cellAt(event); if (cell) chooseFeature(cell.feature); });
  }

  // ---- theme
  const themes = ["", "light", "dark"];
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement, next = themes[(themes.indexOf(root.dataset.theme || "") + 1) % 3];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    drawColours();
  });
  function drawColours() { drawMap(); drawFeatureMap(); drawHeat(); }
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", drawColours);
  let waiting = 0;
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => { drawTree(); drawMap(); drawFeatureMap(); drawHeat(); }); });

  // ---- figures as files, with the light colours whatever the page's are
  function onPaper(take) {
    const root = document.documentElement, theme = root.dataset.theme;
    root.dataset.theme = "light"; drawColours();
    const taken = take();
    if (theme === undefined) delete root.dataset.theme; else root.dataset.theme = theme;
    drawColours();
    return taken;
  }
  function svgText(svg) {
    return onPaper(() => {
      const copy = svg.cloneNode(true), { width, height } = svg.getBoundingClientRect();
      const copies = [copy, ...copy.querySelectorAll("*")];
      [svg, ...svg.querySelectorAll("*")].forEach((element, i) => {
        const style = getComputedStyle(element);
        for (const name of ["fill", "stroke", "stroke-width", "font-family", "font-size"]) copies[i].setAttribute(name, style.getPropertyValue(name));
        copies[i].removeAttribute("class");
      });
      copy.setAttribute("width", width); copy.setAttribute("height", height);
      return new XMLSerializer().serializeToString(copy);
    });
  }
  function figureButtons(figure, name, kinds) {
    const line = make("p", "more");
    for (const [title, save] of Object.entries(kinds)) {
      const button = make("button", "", `Save as ${title}`);
      button.type = "button"; button.setAttribute("aria-label", `Save as ${title}: ${name}`);
      button.addEventListener("click", () => save(`${name}.${title.toLowerCase()}`));
      line.append(button, " ");
    }
    figure.after(line);
  }
  const numbers = new Map();
  for (const svg of document.querySelectorAll("figure > svg, svg.icicle")) {
    const section = svg.closest("section").id, number = (numbers.get(section) ?? 0) + 1;
    numbers.set(section, number);
    figureButtons(svg, number > 1 ? `${section}-${number}` : section, { SVG: (name) => saveSvg(name, svgText(svg)), PNG: (name) => savePng(name, svgText(svg)) });
  }
  if (heat) figureButtons(heat, "heat-map", { PNG: (name) => onPaper(() => saveCanvas(name, heat, heat.width, heat.height)) });

  function drawAll() {
    if (!methods.length) return;
    for (const button of document.querySelectorAll("[data-role=methods] button")) button.setAttribute("aria-pressed", Number(button.dataset.method) === state.method);
    nameFeatureOption();
    drawTree(); drawRanking(); drawMap(); drawFeatureMap();
  }
  drawAll();
  drawHeat();
  const links = [...document.querySelectorAll("nav a")];
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) for (const link of links) link.classList.toggle("here", link.getAttribute("href") === "#" + entry.target.id);
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const section of document.querySelectorAll("main > section")) watcher.observe(section);
})();
