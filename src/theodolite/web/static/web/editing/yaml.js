// Kinds of the parts of YAML text, line by line, for the colours of the text view.
// A line is read from the state that the line above leaves, so that a view reads only the lines that it shows.

/** The state at the start of a text: outside of quotes, brackets and block texts. */
export const START = Object.freeze({ quote: "", depth: 0, block: null });

const SPACE = /\s+/y;
const MARKER = /(?:---|\.\.\.)(?=\s|$)/y;
const ENTRY = /[-?](?=\s|$)/y;
const PROPERTY = /[&*!][^\s,[\]{}]*/y;
const HEADER = /[|>][+-]?\d?[+-]?(?=\s*(?:#.*)?$)/y;
const QUOTES = { '"': /"(?:[^"\\]|\\.)*"/y, "'": /'(?:[^']|'')*'/y };
const ENDS = { '"': /(?:[^"\\]|\\.)*"/y, "'": /(?:[^']|'')*'(?!')/y };
const COLON = /\s*:(?=\s|$)/y;
const COLON_IN_FLOW = /\s*:(?=[\s,[\]{}]|$)/y;
const COLON_AFTER_QUOTE = /\s*:/y;
const PLAIN = /(?:[^\s:#]|:(?=\S)|#|\s+(?=[^\s#:])|\s+:(?=\S))+/y;
const PLAIN_IN_FLOW = /(?:[^\s:#,[\]{}]|:(?=[^\s,[\]{}])|#|\s+(?=[^\s#:,[\]{}]))+/y;
const TEMPLATE = /(\{\{.*?\}\})/;

/** Return the match of a pattern at a place; an empty text if there is none. */
function at(pattern, line, place) {
  pattern.lastIndex = place;
  return pattern.exec(line)?.[0] ?? "";
}

/** Return the number of spaces at the start of a line. */
function indent(line) {
  return line.length - line.trimStart().length;
}

/**
 * Read one line.
 *
 * Returns its parts as [kind, text], and the state that it leaves. Kinds: key, value, comment, template, mark, and an
 * empty kind for spaces. The texts of the parts make up the line.
 */
export function readLine(line, state) {
  if (state.block !== null && (!line.trim() || indent(line) > state.block)) return { parts: values(line), end: state };
  const reader = { line, place: 0, parts: [], quote: state.quote, depth: state.depth, block: null, column: -1 };
  if (reader.quote) closeQuote(reader);
  while (reader.place < line.length) step(reader);
  return { parts: reader.parts, end: { quote: reader.quote, depth: reader.depth, block: reader.block } };
}

/** Add the next part of a line. */
function step(reader) {
  const { line, place, depth } = reader;
  const rest = line[place];
  const isFirst = !line.slice(0, place).trim();
  let found = at(SPACE, line, place);
  if (found) return add(reader, "", found);
  if (rest === "#" && (!place || /\s/.test(line[place - 1]))) return add(reader, "comment", line.slice(place));
  if (!place && (found = at(MARKER, line, place))) return add(reader, "mark", found);
  if (!depth && (isFirst || reader.parts.every(([kind]) => kind === "" || kind === "mark")) && (found = at(ENTRY, line, place))) {
    reader.column = place;
    return add(reader, "mark", found);
  }
  if ((found = at(PROPERTY, line, place))) return add(reader, "mark", found);
  if (!depth && (found = at(HEADER, line, place))) {
    reader.block = reader.column < 0 ? indent(line) - 1 : reader.column;
    return add(reader, "mark", found);
  }
  if ("[{".includes(rest)) reader.depth += 1;
  if ("]}".includes(rest)) reader.depth = Math.max(0, depth - 1);
  if ("[]{}".includes(rest) || (depth && rest === ",")) return add(reader, "mark", rest);
  if (rest === '"' || rest === "'") return addQuoted(reader, rest);
  return addPlain(reader);
}

function add(reader, kind, text) {
  if (kind === "value") reader.parts.push(...values(text));
  else reader.parts.push([kind, text]);
  reader.place += text.length;
}

/** Return the parts of a value: its templates, and the text around them. */
function values(text) {
  const parts = text.split(TEMPLATE).map((part, index) => [index % 2 ? "template" : "value", part]);
  return parts.filter(([, part]) => part);
}

/** Add the rest of a quoted text that an earlier line has opened. */
function closeQuote(reader) {
  const found = at(ENDS[reader.quote], reader.line, 0);
  if (found) reader.quote = "";
  add(reader, "value", found || reader.line);
}

/** Add a quoted key or text; a text without its end continues in the next line. */
function addQuoted(reader, quote) {
  const found = at(QUOTES[quote], reader.line, reader.place);
  if (!found) {
    reader.quote = quote;
    return add(reader, "value", reader.line.slice(reader.place));
  }
  return addKeyOrValue(reader, found, reader.depth ? COLON_AFTER_QUOTE : COLON);
}

/** Add a key or a text without quotes. */
function addPlain(reader) {
  const found = at(reader.depth ? PLAIN_IN_FLOW : PLAIN, reader.line, reader.place);
  if (!found) return add(reader, "mark", reader.line[reader.place]);
  return addKeyOrValue(reader, found, reader.depth ? COLON_IN_FLOW : COLON);
}

function addKeyOrValue(reader, text, colon) {
  const found = at(colon, reader.line, reader.place + text.length);
  if (found && !reader.depth) reader.column = reader.place;
  add(reader, found ? "key" : "value", text);
  if (found) add(reader, "mark", found);
}
