/* Returns one line for each layout fault of the page as it stands: see test_layout.py. */
() => {
  const TOLERANCE = 1.5, found = new Set();
  const SILENT = new Set(["SCRIPT", "STYLE", "OPTION", "OPTGROUP", "BR", "COL", "COLGROUP", "SOURCE", "NOSCRIPT", "TEMPLATE", "DATALIST"]);
  const styles = new Map();
  const styleOf = el => styles.get(el) ?? styles.set(el, getComputedStyle(el)).get(el);
  const words = text => `"${text.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const name = el => el.tagName.toLowerCase() + (el.id ? `#${el.id}` : "") + [...el.classList].map(each => `.${each}`).join("") + ` ${words(el.textContent ?? "")}`;
  const span = box => `${Math.round(box.left)}-${Math.round(box.right)} x ${Math.round(box.top)}-${Math.round(box.bottom)}`;
  const root = document.documentElement;
  /* Remembers a property that an element has by itself or inherits from its parent; pages hold thousands of elements. */
  const inherited = (own, top) => {
    const known = new Map();
    const find = el => {
      if (!el || el === root) return top;
      if (!known.has(el)) known.set(el, own(el) ?? find(el.parentElement));
      return known.get(el);
    };
    return find;
  };
  /* For screen readers only: clipped to nothing, or off the page until it has the focus. */
  const unseen = inherited(el => {
    const style = styleOf(el), box = el.getBoundingClientRect();
    return style.clipPath === "inset(50%)" || style.clip.startsWith("rect(0px") || style.clip === "rect(1px, 1px, 1px, 1px)" || style.opacity === "0"
      || (["absolute", "fixed"].includes(style.position) && (box.right <= 0 || box.bottom + scrollY <= 0)) || null;
  }, false);
  /* Line numbers beside an editor and the colours behind it scroll with its text. */
  const seen = el => !SILENT.has(el.tagName) && !el.closest(".gutter, .colours") && (!el.closest("svg") || el.tagName === "svg")
    && el.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}) && !unseen(el);
  const scrolls = inherited(el => (el !== document.body && ["auto", "scroll"].includes(styleOf(el).overflowX)) || null, false);
  const blockOf = inherited(el => ["inline", "contents"].includes(styleOf(el).display) ? null : el, document.body);
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > TOLERANCE && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > TOLERANCE;
  const linesOf = node => { const range = document.createRange(); range.selectNodeContents(node); return [...range.getClientRects()].filter(box => box.width && box.height); };

  if (root.scrollWidth > root.clientWidth) found.add(`the page scrolls sideways: ${root.scrollWidth} px in ${root.clientWidth}`);
  const elements = [...document.querySelectorAll("body *")].filter(seen);

  for (const el of elements) {
    const style = styleOf(el), box = el.getBoundingClientRect();
    if (!box.width || !box.height || style.display === "inline" || style.display === "contents") continue;
    const clips = ["hidden", "clip"];
    if (el.tagName !== "PROGRESS" && el.textContent.trim()) {
      if (clips.includes(style.overflowX) && el.scrollWidth > el.clientWidth + 1) found.add(`text is clipped: ${name(el)}, ${el.scrollWidth} px wide in ${el.clientWidth}`);
      if (clips.includes(style.overflowY) && el.scrollHeight > el.clientHeight + 1) found.add(`text is clipped: ${name(el)}, ${el.scrollHeight} px high in ${el.clientHeight}`);
    }
    if (style.position === "fixed") {
      if (box.right > innerWidth + TOLERANCE || box.left < -TOLERANCE) found.add(`off the screen: ${name(el)} ${span(box)}`);
      continue;
    }
    if (scrolls(el.parentElement)) continue;
    if (box.right > root.clientWidth + TOLERANCE || box.left < -TOLERANCE) found.add(`off the screen: ${name(el)} ${span(box)}`);
    const inside = blockOf(el.parentElement), around = inside.getBoundingClientRect();
    const pulled = parseFloat(style.marginLeft) < 0 || parseFloat(style.marginRight) < 0;
    if (style.position !== "absolute" && !pulled && (box.right > around.right + TOLERANCE || box.left < around.left - TOLERANCE))
      found.add(`leaves its container: ${name(el)} ${span(box)} in ${name(inside)} ${span(around)}`);
  }

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const el = node.parentElement;
    if (!node.data.trim() || !seen(el) || el.closest("svg, textarea, select")) continue;
    const lines = linesOf(node), inside = blockOf(el), around = inside.getBoundingClientRect();
    const length = node.data.trim().length;
    if (lines.length > 5 && length / lines.length < 3) found.add(`one letter per line: ${name(el)}, ${length} characters on ${lines.length} lines`);
    if (["auto", "scroll"].includes(styleOf(inside).overflowX) || (scrolls(el) && inside.tagName !== "BUTTON")) continue;
    const out = lines.find(line => line.right > around.right + TOLERANCE || line.left < around.left - TOLERANCE);
    if (out) found.add(`text leaves its container: ${words(node.data)} ${span(out)} in ${name(inside)} ${span(around)}`);
  }

  for (const row of document.querySelectorAll(".section-tabs")) {
    const tabs = [...row.querySelectorAll("a")].map(tab => ({tab, box: tab.getBoundingClientRect()})), around = row.getBoundingClientRect();
    if (new Set(tabs.map(({box}) => Math.round(box.top))).size > 1) found.add(`tabs are in several rows: ${name(row)}`);
    for (const {tab, box} of tabs)
      if (tab.hasAttribute("aria-current") && (box.left < around.left - TOLERANCE || box.right > around.right + TOLERANCE))
        found.add(`the current tab is out of view: ${name(tab)} ${span(box)} in ${span(around)}`);
  }

  /* An open popover of an action lies over the page by design. */
  const over = el => el.closest("details.act > :not(summary)");
  const controls = elements.filter(el => el.matches("input, select, textarea, button"))
    .map(el => ({el, box: el.getBoundingClientRect(), over: over(el)})).filter(({box}) => box.width);
  controls.forEach(({el: control, box, over: above}, index) => {
    for (const label of control.labels ?? []) {
      if (!seen(label)) continue;
      const walk = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode())
        if (node.data.trim() && !control.contains(node) && seen(node.parentElement) && linesOf(node).some(line => overlap(line, box)))
          found.add(`a control overlaps its label: ${name(control)} ${span(box)} over ${words(node.data)}`);
    }
    for (const other of controls.slice(index + 1))
      if (control.form === other.el.form && above === other.over && !control.contains(other.el) && overlap(box, other.box))
        found.add(`controls overlap: ${name(control)} ${span(box)} and ${name(other.el)} ${span(other.box)}`);
  });
  return [...found];
}
