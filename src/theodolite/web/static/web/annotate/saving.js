// Saving: every answer goes to the server when it is given; what could not go waits here and is tried again.

const AGAIN_MS = 3000;

/** Sends the answers of a sheet one after another and says where they stand. */
export class Saving {
  /**
   * @param {HTMLFormElement} form The sheet; `data-save` and `data-undo` are its addresses.
   * @param {HTMLElement} status Where it is said that something is saved.
   * @param {function(object, HTMLElement): void} onAnswer Gets the server's state and the item after each answer;
   *   null in place of the state if the answer could not be sent.
   */
  constructor(form, status, onAnswer) {
    this.form = form;
    this.status = status;
    this.onAnswer = onAnswer;
    this.waiting = new Set();
    this.busy = false;
    addEventListener("beforeunload", (event) => (this.waiting.size || this.busy) && event.preventDefault());
    addEventListener("online", () => this.send());
  }

  /** Save what stands in an item now. */
  keep(item) {
    this.waiting.add(item);
    this.say("Saving ...");
    return this.send();
  }

  /** Take the latest answer back; resolves to what the server says. */
  async undo() {
    await this.settle();
    const state = await this.post(this.form.dataset.undo, new FormData());
    if (state) this.showState(state);
    return state;
  }

  /** Wait until nothing waits. */
  async settle() {
    while (this.waiting.size || this.busy) await new Promise((wake) => setTimeout(wake, 50));
  }

  async send() {
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.size) {
      const [item] = this.waiting;
      this.waiting.delete(item);
      const state = await this.post(this.form.dataset.save, this.fieldsOf(item));
      if (!state) {
        this.waiting.add(item);
        this.onAnswer(null, item);
        break;
      }
      this.showState(state, item);
    }
    this.busy = false;
    if (this.waiting.size) setTimeout(() => this.send(), AGAIN_MS);
  }

  /** Return what stands in an item; the whole sheet, where the server keeps none of it. */
  fieldsOf(item) {
    return "whole" in this.form.dataset ? fieldsOf(this.form, "") : fieldsOf(item, item.dataset.key);
  }

  async post(address, body) {
    body.append("csrfmiddlewaretoken", this.form.elements.csrfmiddlewaretoken.value);
    try {
      const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" } });
      if (answer.status === 409 || answer.status === 404 || answer.redirected) {
        location.reload();
        return null;
      }
      if (answer.ok || answer.status === 422) return await answer.json();
    } catch {
      // no connection: said below, and tried again
    }
    this.say("Not saved. Your answer is kept here and tried again.", true);
    return null;
  }

  showState(state, item) {
    const done = state.saved ? `Saved ${clock(state.saved)}` : "Noted";
    this.say(state.problem || (this.waiting.size ? "Saving ..." : done), Boolean(state.problem));
    this.onAnswer(state, item);
  }

  say(words, alarming = false) {
    this.status.textContent = words;
    this.status.classList.toggle("alarming", alarming);
  }
}

/** Return a moment as a clock of the reader's own zone shows it: `14:02:11`. */
export function clock(moment) {
  return moment ? new Date(moment).toLocaleTimeString("en-GB") : "";
}

/** Return everything that stands in the fields of a box, with the key that it is about. */
function fieldsOf(box, key) {
  const body = new FormData();
  body.append("key", key);
  for (const field of box.querySelectorAll("input, textarea, select")) {
    const isChosen = field.type === "radio" || field.type === "checkbox" ? field.checked : true;
    if (field.name && field.name !== "csrfmiddlewaretoken" && isChosen) body.append(field.name, field.value);
  }
  return body;
}
