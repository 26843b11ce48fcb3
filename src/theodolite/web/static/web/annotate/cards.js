// Cards: a question with its follow-ups, one card at a time; which of them is current, and what is still open.

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
    for (const item of root.querySelectorAll(".item")) {
      item.addEventListener("focusin", () => this.choose(item));
      badge(item);
    }
  }

  /** Show the card that holds a key, or the first one. */
  start(key) {
    const item = key && this.item(key);
    this.show(item ? item.closest("[data-card]") : this.all[0]);
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

  /** Show the next card about another turn, forwards or back. */
  turn(by) {
    const visible = this.visible;
    const here = visible.indexOf(this.card);
    const rest = by > 0 ? visible.slice(here + 1) : visible.slice(0, here).reverse();
    const next = rest.find((card) => card.dataset.turn !== this.card.dataset.turn);
    if (!next) return;
    const first = visible.find((card) => card.dataset.turn === next.dataset.turn && card.contains(next));
    this.show(by > 0 ? next : this.firstOf(first.dataset.turn, visible), { focus: true });
  }

  firstOf(turn, visible) {
    return visible.find((card) => card.dataset.turn === turn);
  }

  /** Show the next open answer after the current one, or the first; with `first`, the first in any case. */
  nextOpen({ first = false } = {}) {
    const items = this.visible.flatMap((card) => this.asked(card));
    const open = items.filter((item) => this.open.has(item.dataset.key));
    const here = items.indexOf(this.current);
    const next = (first ? undefined : open.find((item) => items.indexOf(item) > here)) ?? open[0];
    if (!next) return false;
    this.show(next.closest("[data-card]"), { focus: true });
    this.choose(next);
    return true;
  }

  /** Give the answer that a key stands for; tells whether it stands for one here. */
  answer(key) {
    const items = this.asked(this.card);
    const others = items.filter((item) => item !== this.current).reverse();
    for (const item of [this.current, ...others]) {
      const field = fieldFor(item, key);
      if (field) {
        this.choose(item);
        field.checked = field.type === "checkbox" ? !field.checked : true;
        field.dispatchEvent(new Event("change", { bubbles: true }));
        return true;
      }
    }
    return false;
  }

  /** Take in which items are asked and which are open; once one is answered or opened, go to the next open one. */
  hear({ asked, open }) {
    const before = this.open;
    this.open = new Set(open);
    const isAsked = new Set(asked);
    for (const card of this.all) {
      const items = [...card.querySelectorAll(".item")];
      for (const item of items) {
        item.hidden = !isAsked.has(item.dataset.key);
        item.querySelectorAll("input, textarea, select").forEach((field) => (field.disabled = item.hidden));
      }
      card.classList.toggle("closed", items.every((item) => item.hidden));
    }
    const items = this.asked(this.card);
    const key = this.current?.dataset.key;
    const isAnswered = before.has(key) && !this.open.has(key);
    const isOpened = items.some((item) => this.open.has(item.dataset.key) && !before.has(item.dataset.key));
    if (isAnswered || isOpened || !items.includes(this.current)) this.settle();
  }
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
    label.append(mark);
  }
}
