// Light or dark: the system chooses, the reader may override it; a token as a colour that charts can use.

const THEME = "theodolite-theme";

/** Return the theme that the reader chose before; none where a file may store nothing. */
function storedTheme() {
  try {
    return localStorage.getItem(THEME) || "";
  } catch {
    return "";
  }
}

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Change between light and dark; listeners of `themechange` draw their charts again. */
function switchTheme() {
  const theme = isDark() ? "light" : "dark";
  applyTheme(theme);
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // the choice holds for this visit alone
  }
  document.dispatchEvent(new Event("themechange"));
}

/** Return a colour token as the browser computes it, e.g. `token("app-1")`: `light-dark()` is resolved. */
function token(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
