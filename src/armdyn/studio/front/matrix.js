// The mass matrix: numbers for few joints, a map to point at and a table for many.

import { make, words } from "./dom.js";

const WRITTEN = 8; // joints up to which every element is written
const POSITIVE = "47,134,201", NEGATIVE = "224,112,58";

export class Matrix {
  constructor(wire, help) {
    this.wire = wire;
    this.grid = make("div", { class: "ad-grid armdyn-matrix" });
    this.told = make("div", { class: "ad-told", "aria-live": "off" });
    this.more = make("button", { type: "button", class: "ad-button", onclick: () => this.enlarge() }, "As a table");
    this.element = make(
      "details", { class: "ad-card ad-matrix", open: true, ontoggle: () => this.look() },
      make("summary", {}, make("h2", {}, "Mass matrix"), help("matrix")),
      this.grid, this.told, this.more,
    );
    wire.listen((shown, changed) => {
      this.shown = shown;
      if (changed.has("matrix") || changed.has("robot")) this.draw();
    });
  }

  look() {
    this.wire.send({ do: "matrix", shown: this.element.open });
  }

  at(i, j) {
    const n = this.n, [a, b] = i < j ? [i, j] : [j, i];
    return this.shown.matrix[a * n - (a * (a - 1)) / 2 + (b - a)];
  }

  draw() {
    const { matrix, robot } = this.shown;
    if (!robot) return;
    this.n = robot.joints.length;
    const there = Array.isArray(matrix) && matrix.length === (this.n * (this.n + 1)) / 2;
    this.more.hidden = !there || this.n <= WRITTEN;
    if (!there) {
      this.grid.replaceChildren();
      this.told.textContent = matrix === null ? "Not computed for an arm of more than 40 joints." : "";
      return;
    }
    this.largest = Math.max(...matrix.map(Math.abs)) || 1;
    if (this.n > WRITTEN) this.map();
    else this.cells();
    if (this.dialog?.open) this.fill();
  }

  colour(value) {
    const depth = 0.05 + 0.65 * Math.sqrt(Math.abs(value) / this.largest);
    return `rgba(${value < 0 ? NEGATIVE : POSITIVE},${depth.toFixed(3)})`;
  }

  name(i, j) {
    const { joints } = this.shown.robot;
    const unit = (joints[i].turns ? 1 : 0) + (joints[j].turns ? 1 : 0);
    return `${joints[i].name}, ${joints[j].name}: ${words(this.at(i, j))} ${["kg", "kg·m", "kg·m²"][unit]}`;
  }

  cells() {
    const n = this.n;
    if (this.grid.childElementCount !== (n + 1) ** 2 || this.canvas) {
      this.canvas = null;
      const { joints } = this.shown.robot;
      const heads = ["", ...joints.keys()].map((i) => make("span", { class: "ad-head" }, i === "" ? "" : `${i + 1}`));
      const rows = joints.flatMap((_, i) => [
        make("span", { class: "ad-head" }, `${i + 1}`),
        ...joints.map((_, j) => make("span", { class: "ad-cell", "data-row": i, "data-column": j })),
      ]);
      this.grid.style.gridTemplateColumns = `1.2em repeat(${n}, 1fr)`;
      this.grid.setAttribute("role", "img");
      this.grid.replaceChildren(...heads, ...rows);
      this.told.textContent = "";
    }
    for (const cell of this.grid.querySelectorAll(".ad-cell")) {
      const i = Number(cell.dataset.row), j = Number(cell.dataset.column), value = this.at(i, j);
      const text = Math.abs(value) < 1e-5 * this.largest ? "0" : words(value, 3);
      if (cell.dataset.value === String(value)) continue;
      cell.dataset.value = value;
      cell.textContent = text;
      cell.title = this.name(i, j);
      cell.style.background = this.colour(value);
    }
    this.grid.setAttribute("aria-label", `Mass matrix of ${n} joints; the largest element is ${words(this.largest)}`);
  }

  map() {
    const n = this.n, size = 352;
    if (!this.canvas) {
      this.canvas = make("canvas", {
        role: "img", "aria-label": `Mass matrix of ${n} joints; use “As a table” for its numbers`,
        onmousemove: (event) => this.point(event),
        onmouseleave: () => (this.told.textContent = "Point at an element to read it."),
      });
      this.grid.style.gridTemplateColumns = "1fr";
      this.grid.removeAttribute("role");
      this.grid.replaceChildren(this.canvas);
      this.told.textContent = "Point at an element to read it.";
    }
    const sharp = window.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = size * sharp;
    const paint = this.canvas.getContext("2d"), cell = (size * sharp) / n;
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        paint.fillStyle = this.colour(this.at(i, j));
        paint.fillRect(j * cell + 0.5, i * cell + 0.5, cell - 1, cell - 1);
      }
    const { joints } = this.shown.robot;
    paint.fillStyle = getComputedStyle(this.element).color;
    for (let i = 1; i < n; i++)
      if (joints[i].group !== joints[i - 1].group) {
        paint.fillRect(i * cell - 0.75, 0, 1.5, size * sharp);
        paint.fillRect(0, i * cell - 0.75, size * sharp, 1.5);
      }
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const j = Math.floor((this.n * (event.clientX - box.left)) / box.width);
    const i = Math.floor((this.n * (event.clientY - box.top)) / box.height);
    if (i >= 0 && j >= 0 && i < this.n && j < this.n) this.told.textContent = this.name(i, j);
  }

  enlarge() {
    this.dialog ??= document.body.appendChild(make(
      "dialog", { class: "ad-dialog ad-wide", "aria-label": "Mass matrix" },
      make("form", { method: "dialog" }, make("h2", {}, "Mass matrix"), make("button", { class: "ad-button" }, "Close")),
      (this.table = make("div", { class: "ad-scroll", tabindex: "0" })),
    ));
    this.fill();
    this.dialog.showModal();
  }

  fill() {
    const { joints } = this.shown.robot;
    const head = make("tr", {}, make("th"), ...joints.map((joint) => make("th", { scope: "col" }, joint.name)));
    const rows = joints.map((joint, i) => make(
      "tr", {}, make("th", { scope: "row" }, joint.name),
      ...joints.map((_, j) => {
        const cell = make("td", {}, Math.abs(this.at(i, j)) < 1e-5 * this.largest ? "0" : words(this.at(i, j), 3));
        cell.style.background = this.colour(this.at(i, j));
        return cell;
      }),
    ));
    this.table.replaceChildren(make("table", {}, head, ...rows));
  }
}
