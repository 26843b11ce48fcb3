// Light or dark: set by the system unless the reader overrides it; resolves colour tokens for charts.

const THEME = "theodolite-theme";

/** Return the theme that the reader chose earlier; none if a file cannot store it. */
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
    // the choice applies to this visit only
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
