// The text view of a file: line numbers, coloured syntax, problems at their lines, F8 to the next problem.
// The text area stays the element that people edit; the colours are behind it and are hidden from screen readers.

import { readLine, START } from "./yaml.js";

const MARGIN = 2; // lines that are drawn above and below the visible ones

/** Return a text as HTML. */
function escaped(text) {
  return text.replace(/[&<>]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[one]);
}

/** A text area with line numbers, colours and problems. */
export class TextView {
  #text;
  #gutter;
  #colours;
  #message;
  #lines = [];
  #states = [];
  #problems = [];
  #part = [0, 0];
  #isDue = false;

  /** Take the text area and the elements of its line numbers and of the message about the current problem. */
  constructor({ text, gutter, message }) {
    [this.#text, this.#gutter, this.#message] = [text, gutter, message];
    this.#colours = document.createElement("div");
    this.#colours.className = "colours";
    this.#colours.setAttribute("aria-hidden", "true");
    text.before(this.#colours);
    text.parentElement.classList.add("coloured");
    this.#gutter.append(document.createElement("div"));
    this.#colours.append(document.createElement("div"));
    text.addEventListener("input", () => this.changed());
    text.addEventListener("scroll", () => this.#drawSoon());
    new ResizeObserver(() => this.#drawSoon()).observe(text);
    addEventListener("keydown", (event) => {
      if (event.key !== "F8" || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.goToProblem(event.shiftKey);
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest("[data-line]");
      if (!link) return;
      event.preventDefault();
      this.#goToPlace(this.#problems.find((one) => one.link === link) ?? placeOf(link, this.#lines));
    });
  }

  /** Read the text after a change. */
  changed() {
    const lines = this.#text.value.split("\n");
    const shortest = Math.min(lines.length, this.#lines.length);
    let first = 0;
    while (first < shortest && lines[first] === this.#lines[first]) first += 1;
    let same = 0;
    while (same < shortest - first && lines.at(-1 - same) === this.#lines.at(-1 - same)) same += 1;
    this.#shift(first, this.#lines.length - same, lines.length - this.#lines.length);
    this.#lines = lines;
    this.#states.length = Math.min(this.#states.length, first + 1);
    this.#drawSoon();
  }

  /** Show the problems that the page lists, and mark the lines from `first` to `last` as those of the form. */
  show(first = 0, last = 0) {
    this.#problems = [];
    this.changed();
    const places = [...document.querySelectorAll("[data-line]")].map((link) => placeOf(link, this.#lines));
    this.#problems = places.sort((one, other) => one.line - other.line || one.column - other.column);
    this.#part = [first, last];
    this.#message.textContent = "";
  }

  /** Scroll the text to a line. */
  bringIn(line) {
    this.#text.scrollTop = Math.max(0, (line - 4) * this.#lineHeight());
  }

  /** Put the caret at the start of a line, and bring it into view. */
  goTo(line) {
    this.#goToPlace({ line, column: 0, width: 0 });
  }

  /** Go to the next problem after the caret, or to the one before it; after the last follows the first. */
  goToProblem(isBackwards) {
    const problems = this.#problems.filter((one) => one.isProblem);
    if (!problems.length) {
      this.#message.textContent = "No problems in this file.";
      return;
    }
    const caret = document.activeElement === this.#text ? this.#text.selectionStart : -1;
    const starts = problems.map((one) => this.#start(one));
    const before = starts.findLastIndex((start) => start < caret);
    const next = isBackwards ? before : starts.findIndex((start) => start > caret);
    const index = next < 0 ? (isBackwards ? problems.length - 1 : 0) : next;
    this.#goToPlace(problems[index]);
    this.#message.textContent = `Problem ${index + 1} of ${problems.length}, line ${problems[index].line}: ${problems[index].words}`;
  }

  /** Move the problems below a change with their lines; a changed line no longer marks a word. */
  #shift(first, end, n) {
    if (!this.#lines.length) return;
    for (const one of this.#problems) {
      if (one.line > end) one.line += n;
      else if (one.line > first) one.width = 0;
      one.line = Math.max(1, Math.min(one.line, this.#lines.length + n));
    }
  }

  #start({ line, column }) {
    const before = this.#lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return before + Math.min(Math.max(0, column - 1), this.#lines[line - 1]?.length ?? 0);
  }

  #goToPlace(place) {
    const start = this.#start(place);
    const end = place.column && place.width ? start + place.width : start;
    this.#text.focus({ preventScroll: true });
    this.#text.setSelectionRange(start, end);
    this.bringIn(place.line);
    this.#text.scrollIntoView({ block: "nearest" });
  }

  /** Return the height of a line; measured, since browsers round it at some zoom levels. */
  #lineHeight() {
    const style = getComputedStyle(this.#text);
    const stated = parseFloat(style.lineHeight);
    if (this.#text.scrollHeight <= this.#text.clientHeight) return stated;
    const height = this.#text.scrollHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    return height / this.#lines.length;
  }

  #drawSoon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  /** Draw the visible lines. */
  #draw() {
    const height = this.#lineHeight();
    const n = Math.ceil(this.#text.clientHeight / height) + 2 * MARGIN;
    const first = Math.max(0, Math.min(Math.floor(this.#text.scrollTop / height) - MARGIN, this.#lines.length - 1));
    const last = Math.min(this.#lines.length, first + n);
    const rows = Array.from({ length: last - first }, (_, index) => first + index);
    const down = first * height - this.#text.scrollTop;
    const [numbers, code] = [this.#gutter.firstChild, this.#colours.firstChild];
    numbers.innerHTML = rows.map((row) => this.#row(row, String(row + 1))).join("");
    code.innerHTML = rows.map((row) => this.#row(row, this.#coloured(row))).join("");
    numbers.style.transform = `translateY(${down}px)`;
    code.style.transform = `translate(${-this.#text.scrollLeft}px, ${down}px)`;
    this.#gutter.style.minWidth = `calc(${String(this.#lines.length).length}ch + 1.25rem)`;
  }

  /** Return a line as HTML, with the kind of its mark. */
  #row(row, html) {
    const here = this.#problems.filter((one) => one.isProblem && one.line === row + 1);
    const isPart = row + 1 >= this.#part[0] && row + 1 <= this.#part[1];
    const kind = here.length ? "line wrong" : isPart ? "line here" : "line";
    return `<div class="${kind}">${html}\n</div>`;
  }

  #coloured(row) {
    const line = this.#lines[row];
    const parts = this.#text.dataset.syntax === "yaml" ? readLine(line, this.#state(row)).parts : [["", line]];
    const marks = this.#problems.filter((one) => one.isProblem && one.line === row + 1 && one.column && one.width);
    let start = 0;
    return parts.map(([kind, text]) => {
      const html = pieces(text, start, marks).map(([piece, isMarked]) => span(`${kind}${isMarked ? " marked" : ""}`, piece));
      start += text.length;
      return html.join("");
    }).join("");
  }

  /** Return the state before a line. */
  #state(row) {
    if (!this.#states.length) this.#states.push(START);
    while (this.#states.length <= row) {
      const above = this.#states.length - 1;
      this.#states.push(readLine(this.#lines[above], this.#states[above]).end);
    }
    return this.#states[row];
  }
}

/** Return the place in the lines that a link names. The server counts characters, a text area UTF-16 units. */
function placeOf(link, lines) {
  const [line, column, width] = [link.dataset.line, link.dataset.column ?? 0, link.dataset.width ?? 0].map(Number);
  const characters = [...(lines[line - 1] ?? "")];
  const units = (from, to) => characters.slice(from, to).join("").length;
  const words = link.parentElement.querySelector("[data-words]")?.textContent ?? "";
  return {
    line,
    column: column && 1 + units(0, column - 1),
    width: column && units(column - 1, column - 1 + width),
    isProblem: "problem" in link.dataset,
    words,
    link,
  };
}

/** Split a text that starts at a column into pieces that are inside and outside of marks. */
function pieces(text, start, marks) {
  const cuts = new Set([0, text.length]);
  for (const { column, width } of marks) {
    for (const cut of [column - 1 - start, column - 1 + width - start]) if (cut > 0 && cut < text.length) cuts.add(cut);
  }
  const places = [...cuts].sort((one, other) => one - other);
  return places.slice(0, -1).map((from, index) => {
    const isMarked = marks.some(({ column, width }) => start + from >= column - 1 && start + from < column - 1 + width);
    return [text.slice(from, places[index + 1]), isMarked];
  });
}

function span(kind, text) {
  return kind.trim() ? `<span class="${kind.trim()}">${escaped(text)}</span>` : escaped(text);
}
