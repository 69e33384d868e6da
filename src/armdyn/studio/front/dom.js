// Small helpers: elements, numbers, scales.

export function make(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// A number to read: few digits, a true minus.
export function words(value, digits = 4) {
  if (value == null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text;
  if (size < 1e-3 || size >= 1e6) text = value.toExponential(1);
  else text = value.toFixed(Math.max(0, Math.min(digits - 1 - Math.floor(Math.log10(size)), digits)));
  return text.replace("-", "\u2212");
}

// What someone typed: "1e-2", "0,5", "30°"; null if it is no number.
export function typed(text, turns) {
  let plain = text.trim().replace("\u2212", "-").replace(",", ".");
  const degrees = turns && /(°|deg)$/i.test(plain);
  plain = plain.replace(/\s*(°|deg|rad|m|kg)$/i, "");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain) * (degrees ? Math.PI / 180 : 1);
  return Number.isFinite(value) ? value : null;
}

// The next of 1, 2, 5, 10, ... that is not below a value.
export function nice(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((k) => k * power >= value * (1 - 1e-12)) * power;
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
