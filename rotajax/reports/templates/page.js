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
