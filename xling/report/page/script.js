"use strict";
// Sorting and filtering and, before printing or at a link, opening of what is folded. The page is whole without it.

const NUMBER = /^[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?/i;

function sortKey(cell) {
  const text = cell.textContent.trim();
  const match = text.replace("−", "-").match(NUMBER);
  return { text, number: match ? Number(match[0].replaceAll(",", "")) : NaN };
}

function isEmpty(key) {
  return key.text === "" || key.text === "-" || key.text === "not run";
}

function compare(left, right, direction, numeric) {
  if (isEmpty(left) || isEmpty(right)) return isEmpty(left) - isEmpty(right);
  if (numeric) return direction * (left.number - right.number);
  return direction * left.text.localeCompare(right.text, "en", { numeric: true });
}

function sortBy(table, column, direction) {
  const body = table.tBodies[0];
  const rows = table.originalRows.filter((row) => !row.classList.contains("group"));
  const keyed = rows.map((row) => ({ row, key: sortKey(row.cells[column]) }));
  const numeric = keyed.every(({ key }) => isEmpty(key) || !Number.isNaN(key.number));
  keyed.sort((left, right) => compare(left.key, right.key, direction, numeric));
  body.replaceChildren(...keyed.map(({ row }) => row));
}

function onSort(table, heading, column) {
  const before = heading.getAttribute("aria-sort");
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  if (before === "descending") {
    table.tBodies[0].replaceChildren(...table.originalRows);
    return;
  }
  const next = before === "ascending" ? "descending" : "ascending";
  heading.setAttribute("aria-sort", next);
  sortBy(table, column, next === "ascending" ? 1 : -1);
}

for (const table of document.querySelectorAll("table.sortable")) {
  if (table.tBodies[0].rows.length < 2) continue;
  table.originalRows = [...table.tBodies[0].rows];
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.title = "Sort by this column";
    button.addEventListener("click", () => onSort(table, heading, column));
    heading.replaceChildren(button);
  });
}

// The filter: claims, rows of tables, figures and models that hold every word; what is folded opens to show them.
const PIECES = ".claim, .absent li, tbody tr:not(.group), figure";

function filter(query, output) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const piece of document.querySelectorAll(PIECES)) {
    const inClaim = piece.parentElement.closest(".claim") !== null;
    const head = piece.closest("table")?.tHead.textContent ?? "";  // a row is found by its columns too
    const text = `${piece.textContent} ${head}`.toLowerCase();
    piece.hidden = !inClaim && !words.every((word) => text.includes(word));
    if (!piece.hidden && !inClaim) found += 1;
  }
  for (const group of document.querySelectorAll("tr.group")) group.hidden = words.length > 0 && !group.closest(".claim");
  for (const folded of document.querySelectorAll("details:not(.claim):not(.claim details)")) {
    const wanted = folded.querySelector("tbody tr:not([hidden]):not(.group), li:not([hidden]), figure:not([hidden])");
    folded.open = words.length > 0 && wanted !== null;
  }
  output.textContent = words.length === 0 ? "" : `${found} found`;
}

const nav = document.querySelector("nav");
const box = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter: ner fr, sep emb…" });
box.setAttribute("aria-label", "Filter claims, rows, figures and models");
const told = document.createElement("output");
box.addEventListener("input", () => filter(box.value, told));
nav.append(box, told);

function openTarget() {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
}

window.addEventListener("hashchange", openTarget);
openTarget();

window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
