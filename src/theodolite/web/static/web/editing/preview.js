// The preview of a questionnaire, a category or a guideline beside its form. It follows the text and the fields
// before they are saved; the server stores nothing. Without this script a button opens the preview in a new tab.

const WAIT_MS = 600; // after the last letter
const CARRIED = new Set(["csrfmiddlewaretoken", "file", "text", "act", "answered", "framed"]);

const VALID = "The preview follows your edits and stores no answers.";
const INVALID = "The text contains an error. The preview shows the last valid text.";

/** The preview of the part that a form shows. */
export class LivePreview {
  #form;
  #section;
  #holder;
  #state;
  #act = "";
  #sent = "";
  #width = 390;
  #timer = 0;
  #latest = null;

  /** Take the form of the editor, and the section of the preview; null without a form of a part. */
  constructor(form, section) {
    if (!section) return;
    [this.#form, this.#section] = [form, section];
    [this.#holder, this.#state] = [section.querySelector("[data-frame]"), section.querySelector("[data-state]")];
    form.addEventListener("input", () => this.#soon());
    form.addEventListener("change", () => this.#soon());
    new ResizeObserver(() => this.#fit()).observe(this.#holder);
    for (const button of section.querySelectorAll("[data-width]")) {
      button.addEventListener("click", () => {
        for (const one of section.querySelectorAll("[data-width]")) one.setAttribute("aria-pressed", String(one === button));
        this.#width = Number(button.dataset.width);
        this.#fit();
      });
    }
  }

  /** Show the preview of the current part; a part that has none, or is not valid yet, keeps what it shows. */
  update() {
    clearTimeout(this.#timer);
    if (!this.#section) return;
    this.#act = this.#form.querySelector("[data-live]")?.value ?? this.#act;
    this.#section.hidden = !this.#act;
    if (!this.#act) return;
    const fields = new FormData(this.#form);
    fields.set("act", this.#act);
    fields.set("framed", "yes");
    const answers = [...this.#answers()];
    for (const [name, value] of answers) fields.append(name, value);
    if (answers.length) fields.set("answered", "yes");
    const sent = new URLSearchParams(fields).toString();
    if (sent === this.#sent) return;
    this.#sent = sent;
    this.#load(fields);
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.update(), WAIT_MS);
  }

  get #shown() {
    return this.#holder.querySelector("iframe:not([hidden])");
  }

  /** Yield the answers that the person tries in the preview. */
  *#answers() {
    const sheets = this.#shown?.contentDocument?.querySelectorAll("main form[method=post]") ?? [];
    for (const sheet of sheets) {
      for (const [name, value] of new FormData(sheet)) if (!CARRIED.has(name) && value) yield [name, value];
    }
  }

  /** Load the preview in a new frame: it replaces the old one when it is there, and adds nothing to the history. */
  #load(fields) {
    const frame = document.createElement("iframe");
    frame.name = `preview-${Date.now()}`;
    frame.title = this.#section.dataset.title;
    frame.hidden = true;
    this.#latest = frame;
    frame.addEventListener("load", () => this.#arrived(frame));
    this.#holder.append(frame);
    const sheet = Object.assign(document.createElement("form"), { method: "post", action: this.#form.action, target: frame.name, hidden: true });
    for (const [name, value] of fields) sheet.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    document.body.append(sheet);
    sheet.submit();
    sheet.remove();
  }

  #arrived(frame) {
    const page = frame.contentDocument;
    if (!frame.hidden || page?.URL === "about:blank") return;
    if (frame !== this.#latest || !page?.body?.classList.contains("framed")) {
      if (frame === this.#latest) this.#say(INVALID);
      frame.remove();
      return;
    }
    const old = this.#shown;
    const top = old?.contentWindow.scrollY ?? 0;
    frame.hidden = false;
    this.#fit();
    frame.contentWindow.scrollTo({ top, behavior: "instant" });
    old?.remove();
    this.#say(VALID);
  }

  #say(words) {
    if (this.#state.textContent !== words) this.#state.textContent = words;
  }

  /** Give the frame the width of a screen, made smaller where the page is narrower. */
  #fit() {
    const frame = this.#shown;
    if (!frame) return;
    const scale = Math.min(1, this.#holder.clientWidth / this.#width);
    Object.assign(frame.style, { width: `${this.#width}px`, height: `${this.#holder.clientHeight / scale}px`, transform: `scale(${scale})` });
  }
}
