// Quotes: words of the dialogue as evidence, taken with the mouse or sentence by sentence with the keyboard.

/** The evidence of a sheet's answers. */
export class Quotes {
  /**
   * @param {HTMLElement} dialogue What was said; its sentences are `.sentence` in `.words[data-turn]`.
   * @param {function(): HTMLElement} current Returns the item that evidence is for.
   * @param {function(HTMLElement): void} changed Told which item has other evidence now.
   */
  constructor(dialogue, current, changed) {
    this.dialogue = dialogue;
    this.current = current;
    this.changed = changed;
    this.button = document.querySelector("[data-take-selection]");
    document.addEventListener("selectionchange", () => this.offer());
    this.button?.addEventListener("mousedown", (event) => event.preventDefault());
    this.button?.addEventListener("click", () => this.takeSelection());
    for (const item of document.querySelectorAll(".item")) draw(item, changed);
  }

  /** Offer to take what is selected, beside the selection. */
  offer() {
    this.button.hidden = !this.selected().length;
    if (this.button.hidden) return;
    const box = getSelection().getRangeAt(0).getBoundingClientRect();
    const edge = this.button.offsetParent?.getBoundingClientRect() ?? { top: -scrollY, left: -scrollX };
    this.button.style.top = `${Math.min(box.bottom, innerHeight - 60) - edge.top + 6}px`;
    this.button.style.left = `${Math.max(8, Math.min(box.left, innerWidth - 220) - edge.left)}px`;
  }

  /** Return what is selected of the dialogue, text by text; a triple click reaches into the next one and takes nothing of it. */
  selected() {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return [];
    const range = selection.getRangeAt(0);
    const texts = [...this.dialogue.querySelectorAll(".words")].filter((words) => range.intersectsNode(words));
    return texts.map((words) => within(range, words)).filter(Boolean);
  }

  takeSelection() {
    const words = this.selected();
    if (words.length) this.add(this.current(), words);
    getSelection().removeAllRanges();
  }

  add(item, quotes) {
    const field = fieldOf(item);
    if (!field) return;
    const had = linesOf(field);
    field.value = [...had, ...quotes.map(inLine).filter((quote) => !had.includes(quote))].join("\n");
    draw(item, this.changed);
    this.changed(item);
  }

  /** Let arrows walk the sentences of the dialogue, from a turn on. */
  pick(turn) {
    const item = this.current();
    if (!fieldOf(item)) return false;
    new Picker(this.dialogue, turn, (quotes) => quotes.length && this.add(item, quotes), item);
    return true;
  }
}

/** Draw an item's evidence as a list in which each quote can be taken away. */
export function draw(item, changed) {
  const field = fieldOf(item);
  if (!field) return;
  const list = item.querySelector(".quotes");
  list.replaceChildren(
    ...linesOf(field).map((quote) => {
      const entry = document.createElement("li");
      const words = document.createElement("q");
      words.textContent = quote;
      const away = document.createElement("button");
      away.type = "button";
      away.className = "away";
      away.textContent = "Take away";
      away.setAttribute("aria-label", `Take away the quote: ${quote}`);
      away.addEventListener("click", () => {
        field.value = linesOf(field).filter((one) => one !== quote).join("\n");
        draw(item, changed);
        changed(item);
      });
      entry.append(words, " ", away);
      return entry;
    }),
  );
}

/** Walks the sentences with the keyboard: arrows move, Space takes one, Shift+arrow takes more, Enter ends. */
class Picker {
  constructor(dialogue, turn, done, item) {
    this.sentences = [...dialogue.querySelectorAll(".sentence")];
    this.list = document.querySelector("[data-picker]");
    this.box = this.list.closest(".picker");
    this.done = done;
    this.item = item;
    this.taken = new Set();
    this.list.replaceChildren(...this.sentences.map((sentence, place) => option(sentence, place)));
    this.box.hidden = false;
    this.stop = new AbortController();
    this.list.addEventListener("keydown", (event) => this.press(event), { signal: this.stop.signal });
    this.list.addEventListener("click", (event) => this.click(event), { signal: this.stop.signal });
    const first = this.sentences.findIndex((one) => one.closest(".words").dataset.turn === turn && one.closest(".reply"));
    this.list.focus();
    this.move(Math.max(0, first));
  }

  press(event) {
    const acts = {
      ArrowDown: () => this.walk(1, event.shiftKey),
      ArrowUp: () => this.walk(-1, event.shiftKey),
      Home: () => this.move(0),
      End: () => this.move(this.sentences.length - 1),
      " ": () => this.toggle(this.at),
      Enter: () => this.end(true),
      Escape: () => this.end(false),
      Tab: () => this.end(true),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }

  click(event) {
    const chosen = event.target.closest("[role=option]");
    if (!chosen) return;
    this.move(Number(chosen.dataset.place));
    this.toggle(this.at);
  }

  walk(by, taking) {
    const to = Math.max(0, Math.min(this.sentences.length - 1, this.at + by));
    if (taking) for (const place of [this.at, to]) this.take(place, true);
    this.move(to);
  }

  move(to) {
    this.at = to;
    for (const [place, entry] of [...this.list.children].entries()) entry.classList.toggle("here", place === to);
    for (const [place, sentence] of this.sentences.entries()) sentence.classList.toggle("here", place === to);
    const entry = this.list.children[to];
    this.list.setAttribute("aria-activedescendant", entry.id);
    entry.scrollIntoView({ block: "nearest" });
    this.sentences[to].scrollIntoView({ block: "nearest" });
  }

  toggle(place) {
    this.take(place, !this.taken.has(place));
  }

  take(place, wanted) {
    this.taken[wanted ? "add" : "delete"](place);
    this.list.children[place].setAttribute("aria-selected", String(wanted));
    this.sentences[place].classList.toggle("taken", wanted);
  }

  /** End the walk; sentences that follow each other in one text are one quote. */
  end(keep) {
    this.stop.abort();
    this.box.hidden = true;
    for (const sentence of this.sentences) sentence.classList.remove("here", "taken");
    const places = [...this.taken].sort((one, other) => one - other);
    const runs = [];
    for (const place of places) {
      const text = this.sentences[place];
      const last = runs.at(-1);
      const follows = last && last.end === place - 1 && last.words === text.closest(".words");
      if (follows) Object.assign(last, { end: place, text: last.text + text.textContent });
      else runs.push({ end: place, words: text.closest(".words"), text: text.textContent });
    }
    this.item.focus({ preventScroll: true });
    this.done(keep ? runs.map((run) => run.text.trim()) : []);
  }
}

function option(sentence, place) {
  const entry = document.createElement("li");
  entry.id = `sentence-${place}`;
  entry.role = "option";
  entry.dataset.place = place;
  entry.setAttribute("aria-selected", "false");
  const words = sentence.closest(".words");
  entry.textContent = `${words.dataset.turn} ${words.closest(".reply") ? "Reply" : "You"}: ${sentence.textContent.trim()}`;
  return entry;
}

/** Return the part of a range that lies within an element, as text. */
function within(range, element) {
  const part = document.createRange();
  part.selectNodeContents(element);
  if (range.compareBoundaryPoints(Range.START_TO_START, part) > 0) part.setStart(range.startContainer, range.startOffset);
  if (range.compareBoundaryPoints(Range.END_TO_END, part) < 0) part.setEnd(range.endContainer, range.endOffset);
  return part.toString().trim();
}

function fieldOf(item) {
  return item?.querySelector("textarea[name^='quotes:']") ?? null;
}

/** Return a quote as one line, since a line holds one quote; spaces are compared as one. */
function inLine(quote) {
  return quote.replace(/\s+/g, " ").trim();
}

function linesOf(field) {
  return field.value.split("\n").filter((line) => line.trim());
}
