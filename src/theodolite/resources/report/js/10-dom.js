// Elements are made from text alone: nothing of a dialogue is ever read as markup.

const byId = (id) => document.getElementById(id);

/** Return a new element; `attributes` may hold `text`, listeners as `onclick`, and data attributes. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === "") continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return the entries of a definition list; entries without text are left out. */
function definitions(entries) {
  const list = make("dl");
  for (const [term, text] of entries) {
    if (text === undefined || text === null || text === "") continue;
    list.append(make("dt", { text: term }), text instanceof Node ? make("dd", {}, text) : make("dd", { text }));
  }
  return list;
}

const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");


/** Return one of the page's icons. */
function icon(name) {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("class", "i");
  picture.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  picture.append(use);
  return picture;
}
