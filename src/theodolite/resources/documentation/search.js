// Search over PAGES, which the program writes above: works from files, without a server or a network.
"use strict";

const NEAR = 80;
const MOST = 30;
const field = document.getElementById("search");
const matches = document.getElementById("matches");
const article = document.querySelector("article");

function rank(page, words) {
  const title = page.title.toLowerCase();
  const text = page.text.toLowerCase();
  if (!words.every((word) => text.includes(word) || title.includes(word))) return 0;
  const inTitle = words.filter((word) => title.includes(word)).length;
  const often = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
  return (page.file.startsWith("adr/") ? 1 : 1000) * (1 + inTitle) + Math.min(often, 900);
}

function excerpt(page, words) {
  const text = page.text;
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]));
  const from = Math.max(0, at - NEAR);
  const cut = text.slice(from, at + words[0].length + NEAR);
  return (from ? "... " : "") + cut + (from + cut.length < text.length ? " ..." : "");
}

function entry(page, words) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = document.body.dataset.up + page.file;
  link.textContent = page.title;
  const text = document.createElement("p");
  text.textContent = excerpt(page, words);
  item.append(link, text);
  return item;
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  matches.hidden = !words.length;
  article.hidden = Boolean(words.length);
  if (!words.length) return;
  const ranked = PAGES.map((page) => [rank(page, words), page]).filter(([points]) => points);
  ranked.sort(([one], [other]) => other - one);
  const heading = document.createElement("h1");
  heading.textContent = ranked.length === 1 ? "1 page has all words" : `${ranked.length} pages have all words`;
  const list = document.createElement("ol");
  list.append(...ranked.slice(0, MOST).map(([, page]) => entry(page, words)));
  matches.replaceChildren(heading, list);
}

field.addEventListener("input", show);
field.form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === "Escape" && document.activeElement === field) {
    field.value = "";
    show();
  }
});
if (window.matchMedia("(max-width: 60rem)").matches) document.querySelector("nav details").open = false;
