// Cards: the questions of a turn or of the whole dialogue, one card at a time; which is current, and what is open.

const DIGIT = /^[0-9]$/;
const LETTERS = { y: "yes", n: "no", u: "unable to determine", a: "does not apply" };

/** The cards of a sheet. */
export class Cards {
  /**
   * @param {HTMLElement} root Holds the cards.
   * @param {function(HTMLElement): void} shown Told which card is shown now.
   */
  constructor(root, shown) {
    this.all = [...root.querySelectorAll("[data-card]")];
    this.shown = shown;
    this.open = new Set(JSON.parse(root.dataset.open));
    this.pending = null;
    this.queue = [];
    for (const item of root.querySelectorAll(".item")) {
      item.addEventListener("focusin", () => this.choose(item));
      badge(item);
    }
  }

  /** Show the card that holds a key, or the first one. */
  start(key, { focus = false } = {}) {
    const item = key && this.item(key);
    this.show(item ? item.closest("[data-card]") : this.all[0]);
    if (item && !item.hidden) this.choose(item);
    if (focus) this.current.focus({ preventScroll: true });
  }

  item(key) {
    return this.all.flatMap((card) => [...card.querySelectorAll(".item")]).find((item) => item.dataset.key === key);
  }

  get visible() {
    return this.all.filter((card) => !card.classList.contains("closed"));
  }

  show(card, { focus = false } = {}) {
    for (const other of this.all) other.classList.toggle("current", other === card);
    this.card = card;
    this.settle();
    if (focus) this.current.querySelector("legend, h3")?.closest(".item").focus({ preventScroll: true });
    this.shown(card);
  }

  /** Let the first open item of the card be current, else keep the one that was chosen last. */
  settle() {
    const items = this.asked(this.card);
    const open = items.find((item) => this.open.has(item.dataset.key));
    this.choose(open ?? (items.includes(this.current) ? this.current : items.at(-1)));
  }

  choose(item) {
    this.current?.classList.remove("chosen");
    this.current = item;
    item?.classList.add("chosen");
    item?.dispatchEvent(new CustomEvent("chosen", { bubbles: true }));
  }

  asked(card) {
    return [...card.querySelectorAll(".item")].filter((item) => !item.hidden);
  }

  /** Go to the next question or the one before, follow-ups of a card included. */
  step(by) {
    const items = this.asked(this.card);
    const beside = items[items.indexOf(this.current) + by];
    if (beside && items.includes(this.current)) {
      this.choose(beside);
      beside.focus({ preventScroll: true });
      beside.scrollIntoView({ block: "nearest" });
      return;
    }
    const visible = this.visible;
    const next = visible[visible.indexOf(this.card) + by];
    if (next) this.show(next, { focus: true });
  }

  /** Show the next card, or the one before. */
  turn(by) {
    const visible = this.visible;
    const next = visible[visible.indexOf(this.card) + by];
    if (next) this.show(next, { focus: true });
  }

  /** Show the next open answer after the current one, or the first; with `first`, the first in any case. */
  nextOpen({ first = false } = {}) {
    const items = this.visible.flatMap((card) => this.asked(card));
    const open = items.filter((item) => this.open.has(item.dataset.key));
    const here = items.indexOf(this.current);
    const next = (first ? undefined : open.find((item) => items.indexOf(item) > here)) ?? open[0];
    if (!next) return false;
    const card = next.closest("[data-card]");
    if (card !== this.card) this.show(card);
    this.choose(next);
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Go on from an item with a single choice: at once, or once the server has said which follow-ups it opens. */
  advance(item) {
    this.open.delete(item.dataset.key);
    if (item.closest("[data-group]").querySelectorAll(".item").length > 1 || !this.hasOpen) this.pending = item;
    else this.nextOpen();
  }

  get hasOpen() {
    return this.visible.some((card) => this.asked(card).some((item) => this.open.has(item.dataset.key)));
  }

  /** Tell whether keys wait until the server has answered about an item. */
  waitsFor(item) {
    return Boolean(item) && this.pending === item;
  }

  /** Go on from an item that waited for the server, then do what was asked meanwhile. */
  release(item) {
    if (this.pending !== item) return;
    this.pending = null;
    this.choose(item);
    this.nextOpen();
    while (this.queue.length && !this.pending) this.queue.shift()();
  }

  /** Do something now, or after the item that waits for the server. */
  inTurn(act) {
    if (!this.pending) return act();
    this.queue.push(act);
    return true;
  }

  /** Give the current question the answer that a key stands for; tells whether it stands for one here. */
  answer(key) {
    const field = this.current && fieldFor(this.current, key);
    if (!field) return false;
    field.checked = field.type === "checkbox" ? !field.checked : true;
    field.dispatchEvent(new CustomEvent("change", { bubbles: true, detail: { isKey: true } }));
    return true;
  }

  /**
   * Show the items of a category that are asked, and mark those that are open.
   *
   * @param {object} state What the server knows of one category; `scope` precedes its keys.
   * @param {Set<string>} unsent Keys of answers that the server does not know yet.
   */
  update({ scope = "", asked, open }, unsent) {
    const isOther = (key) => scopeOf(key) !== scope;
    this.open = new Set([...[...this.open].filter(isOther), ...open.filter((key) => !unsent.has(key))]);
    const isAsked = new Set(asked);
    for (const card of this.all) {
      const items = [...card.querySelectorAll(".item")];
      for (const item of items) {
        if (isOther(item.dataset.key)) continue;
        item.hidden = !isAsked.has(item.dataset.key);
        item.querySelectorAll("input, textarea, select").forEach((field) => (field.disabled = item.hidden));
      }
      card.classList.toggle("closed", items.every((item) => item.hidden));
    }
    if (!this.asked(this.card).includes(this.current)) this.settle();
  }
}

/** Return what precedes the question in a key: the category and `/`, or nothing. */
function scopeOf(key) {
  return key.slice(0, key.lastIndexOf("/") + 1);
}

/** Return the choice of an item that a key stands for. */
function fieldFor(item, key) {
  const fields = choices(item);
  if (LETTERS[key]) return fields.find((field) => field.value === LETTERS[key]);
  if (!DIGIT.test(key)) return undefined;
  const plain = fields.filter((field) => !Object.values(LETTERS).includes(field.value));
  return plain.find((field, place) => digitOf(plain, field, place) === key);
}

/** Return the digit of a choice: its value on a scale of numbers (`0` means 10), else its place. */
function digitOf(fields, field, place) {
  const isScale = fields.every((one) => /^\d+$/.test(one.value));
  const number = isScale ? Number(field.value) : place + 1;
  const lowest = isScale ? Number(fields[0].value) : 1;
  if (number === 10 && lowest > 0) return "0";
  return number < 10 ? String(number) : undefined;
}

function choices(item) {
  return [...item.querySelectorAll("input[type=radio], input[type=checkbox]")];
}

/** Write beside each choice which key gives it. */
function badge(item) {
  const fields = choices(item);
  const plain = fields.filter((field) => !Object.values(LETTERS).includes(field.value));
  for (const field of fields) {
    const letter = Object.keys(LETTERS).find((key) => LETTERS[key] === field.value);
    const digit = letter ? undefined : digitOf(plain, field, plain.indexOf(field));
    const key = letter ?? digit;
    const label = field.closest("label") ?? item.querySelector(`label[for="${CSS.escape(field.id)}"]`);
    if (!key || !label || key === field.value) continue;
    const mark = document.createElement("kbd");
    mark.className = "key";
    mark.setAttribute("aria-hidden", "true");
    mark.textContent = key;
    if (label.closest(".point")) label.append(mark);
    else label.prepend(mark, " ");
  }
}
