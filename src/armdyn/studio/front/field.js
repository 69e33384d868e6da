// A slider and a field for one number, which say what they did with what was typed.

import { clamp, make, typed, words } from "./dom.js";

const QUIET = 250; // time after which a control follows the studio again [ms]

export class Field {
  // label: for those who hear the page; send(value): called with each number
  constructor(label, { low, high, unit, turns }, send) {
    Object.assign(this, { low, high, unit, turns, send, value: 0, touched: 0 });
    const reach = high - low;
    this.step = 10 ** Math.round(Math.log10(reach / 200 || 1));
    this.slider = make("input", {
      type: "range", min: low, max: high, step: this.step / 10, "aria-label": label,
      oninput: () => this.give(Number(this.slider.value)),
      onkeydown: (event) => this.key(event),
    });
    this.input = make("input", {
      type: "text", inputmode: "decimal", spellcheck: "false", autocomplete: "off",
      "aria-label": `${label} [${unit}], number`,
      title: `${words(low)} to ${words(high)} ${unit}; 1e-2 ${turns ? "or 30° " : ""}can be typed`,
      onfocus: () => this.input.select(),
      onblur: () => this.read(),
      onkeydown: (event) => {
        if (event.key === "Enter") this.read();
        else if (event.key === "Escape") this.put(this.value, true);
        else if (event.key === "ArrowUp" || event.key === "ArrowDown") this.key(event);
      },
      oninput: () => {
        this.editing = true;
        this.say("");
      },
    });
    this.note = make("span", { class: "ad-note", role: "alert" });
    this.editing = false;
  }

  key(event) {
    const far = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
    let value = null;
    if (event.key in far) {
      const step = this.step * far[event.key] * (event.shiftKey ? 10 : 1);
      value = Number((Math.round((this.value + step) / this.step) * this.step).toPrecision(12));
    } else if (event.key === "Home" && event.target === this.slider) value = this.low;
    else if (event.key === "End" && event.target === this.slider) value = this.high;
    if (value === null) return;
    event.preventDefault();
    this.give(clamp(value, this.low, this.high));
  }

  read() {
    if (!this.editing) return;
    const text = this.input.value;
    const value = text.trim() ? typed(text, this.turns) : this.value;
    if (value === null) {
      this.put(this.value, true);
      this.say(`“${text.slice(0, 12)}” is no number`);
      return;
    }
    const taken = clamp(value, this.low, this.high);
    this.editing = false;
    this.give(taken);
    if (taken !== value) this.say(`the limit is ${words(taken)} ${this.unit}`);
    if (!text.trim()) this.say("left as it was");
  }

  give(value) {
    this.touched = performance.now();
    this.say("");
    this.put(value, true);
    this.send(value);
  }

  // Show what the studio says, unless a hand is on it.
  follow(value) {
    clearTimeout(this.later);
    const wait = QUIET - (performance.now() - this.touched);
    if (wait <= 0) this.put(value, false);
    else this.later = setTimeout(() => this.follow(value), wait);
  }

  put(value, forced) {
    this.value = value;
    this.slider.value = value;
    this.slider.setAttribute("aria-valuetext", `${words(value)} ${this.unit}`);
    this.slider.style.setProperty("--at", `${clamp((100 * (value - this.low)) / (this.slider.max - this.low || 1), 0, 100)}%`);
    if (forced || !this.editing) {
      this.input.value = Number(value.toFixed(4)).toString().replace("-", "\u2212");
      this.editing = false;
    }
  }

  say(text) {
    this.note.textContent = text;
    this.input.setAttribute("aria-invalid", text.includes("no number"));
  }
}
