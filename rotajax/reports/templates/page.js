"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

// Numbers before texts, what is missing last, whichever the direction.
function compare(a, b, sign) {
  const missing = (v) => v === null || v === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

function flip(heads, chosen) {
  const sign = chosen.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const head of heads) head.removeAttribute("aria-sort");
  chosen.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  return sign;
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const sign = flip(heads, head);
    const number = head.classList.contains("number");
    const value = (row) => {
      const text = row.cells[column].dataset.value;
      return number && text !== "" ? Number(text) : text;
    };
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(value(a), value(b), sign));
    table.tBodies[0].append(...rows);
  }));
}

// The replay of an episode.
const open = (() => {
  if (!data.replays.length) return () => {};
  let episode, at = 0, timer = null;
  const select = $("which");
  data.replays.forEach((replay, index) => {
    const seed = replay.seed === 0 ? "" : `, seed ${replay.seed}`;
    select.add(new Option(`${replay.policy}, ${replay.task}${seed}: ${replay.outcome}`, index));
  });
  const last = () => episode.frames.length - 1;
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "line");

  function trace() {
    const svg = $("trace"), x = (t) => 10 + 580 * (last() ? t / last() : 0.5), y = (part) => 84 - 78 * part;
    const line = (values) => values.map((v, t) => `${x(t).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
    const make = (name, attributes) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      return node;
    };
    const dash = { x1: 10, x2: 590, y1: y(0.9), y2: y(0.9), stroke: "#8a94a3", "stroke-dasharray": "5 4" };
    const style = { fill: "none", "stroke-width": 2 };
    svg.replaceChildren(
      make("line", dash),
      make("polyline", { ...style, stroke: "#b4531a", points: line(episode.frames.map((f) => f.error / 180)) }),
      make("polyline", { ...style, stroke: "#1f5fa8", points: line(episode.frames.map((f) => f.iou)) }),
      mark,
    );
    mark.setAttribute("y1", 4); mark.setAttribute("y2", 87); mark.setAttribute("stroke", "#1d2530");
    svg.onclick = (event) => {
      const box = svg.getBoundingClientRect();
      go(Math.round(((event.clientX - box.left) / box.width * 600 - 10) / 580 * last()));
    };
    show.x = x;
  }

  function show() {
    const frame = episode.frames[at];
    $("target").src = episode.target; $("view").src = frame.view; $("current").src = frame.current;
    $("at").textContent = `${at} of ${last()}`;
    $("action").textContent = frame.action ?? `– (${episode.outcome})`;
    $("iou").textContent = frame.iou.toFixed(3);
    $("error").textContent = `${frame.error.toFixed(1)}°`;
    $("step").value = at;
    mark.setAttribute("x1", show.x(at)); mark.setAttribute("x2", show.x(at));
  }

  function go(t) { at = Math.max(0, Math.min(last(), t)); show(); }
  function pause() { clearInterval(timer); timer = null; $("play").textContent = "▶ play"; }
  function play() {
    if (timer) return pause();
    if (at === last()) go(0);
    $("play").textContent = "❚❚ pause";
    timer = setInterval(() => { go(at + 1); if (at === last()) pause(); }, 600);
  }
  function choose(index) {
    pause();
    episode = data.replays[index];
    select.value = index;
    $("step").max = last();
    trace(); go(0);
  }

  select.addEventListener("change", () => choose(Number(select.value)));
  $("step").addEventListener("input", () => { pause(); go(Number($("step").value)); });
  $("back").addEventListener("click", () => { pause(); go(at - 1); });
  $("next").addEventListener("click", () => { pause(); go(at + 1); });
  $("play").addEventListener("click", play);
  document.addEventListener("keydown", (event) => {
    // Fields, lists and buttons keep their own keys.
    if (event.target.closest("input, select, button, .scroll") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowLeft: () => { pause(); go(at - 1); }, ArrowRight: () => { pause(); go(at + 1); }, " ": play }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  choose(0);
  return (index) => { choose(index); $("replay").scrollIntoView(); };
})();

// The list of all episodes.
if (data.episodes) {
  const { columns, rows } = data.episodes, part = 50;
  const index = Object.fromEntries(columns.map((column, i) => [column.key, i]));
  const name = (policy, task, seed) => JSON.stringify([policy, task, seed]);
  const replay = new Map(data.replays.map((r, i) => [name(r.policy, r.task, r.seed), i]));
  const of = (row) => replay.get(name(row[index.policy], row[index.task], row[index.seed]));
  let order = rows.slice(), limit = part;

  function list() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = order.filter((row) => {
      const text = row.filter((v) => typeof v === "string").join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const body = $("list").tBodies[0];
    body.replaceChildren(...found.slice(0, limit).map((row) => {
      const line = document.createElement("tr"), replayed = of(row);
      columns.forEach((column, i) => {
        const cell = document.createElement(i ? "td" : "th");
        const value = row[i];
        if (!i) cell.scope = "row";
        if (column.digits !== null) cell.className = "number";
        cell.textContent = value === null ? "–" : column.digits === null ? value : value.toFixed(column.digits);
        if (!i && replayed !== undefined) cell.textContent = `▶ ${value}`;
        line.append(cell);
      });
      if (replayed !== undefined) {
        line.className = "opens"; line.tabIndex = 0;
        line.addEventListener("click", () => open(replayed));
        line.addEventListener("keydown", (event) => { if (event.key === "Enter") open(replayed); });
      }
      return line;
    }));
    $("count").textContent = `${found.length} of ${rows.length} episodes`;
    $("more").hidden = found.length <= limit;
  }

  const heads = columns.map((column, i) => {
    const head = document.createElement("th"), button = document.createElement("button");
    head.scope = "col";
    if (column.digits !== null) head.className = "number";
    button.type = "button"; button.textContent = column.heading;
    button.addEventListener("click", () => {
      const sign = flip(heads, head);
      order = rows.slice().sort((a, b) => compare(a[i], b[i], sign));
      list();
    });
    head.append(button);
    return head;
  });
  $("list").tHead.rows[0].append(...heads);
  $("filter").addEventListener("input", () => { limit = part; list(); });
  $("more").addEventListener("click", () => { limit += 4 * part; list(); });
  list();
}
