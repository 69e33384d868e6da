// The picture of a torque over time: terms stacked, the total, limits, what was measured.

import { clamp, nice, words } from "./dom.js";

export const MARGIN = { left: 56, right: 12, top: 8, bottom: 20 };

// The least and the greatest value that a plot must show.
export function reach(curve) {
  let low = 0, high = 0;
  const terms = Object.values(curve.terms);
  for (let i = 0; i < curve.t.length; i++) {
    let up = 0, down = 0;
    for (const values of terms) {
      if (values[i] > 0) up += values[i];
      else down += values[i];
    }
    const more = [curve.total[i], curve.measured?.[i] ?? 0];
    low = Math.min(low, down, ...more);
    high = Math.max(high, up, ...more);
  }
  const most = Math.max(high, -low) || 1;
  if (curve.limit && curve.limit < 1.6 * most) {
    high = Math.max(high, high > 0 ? 1.08 * curve.limit : 0);
    low = Math.min(low, low < 0 ? -1.08 * curve.limit : 0);
  }
  const room = 0.06 * (high - low || 1);
  return [low - room, high + room];
}

// The greatest and the least torque between two times, where they are: each on its side of zero.
export function peaks(curve, from, to, unit) {
  const seen = curve.t.map((t, i) => i).filter((i) => curve.t[i] >= from && curve.t[i] <= to && curve.total[i] !== null);
  return [1, -1].flatMap((side) => {
    const best = seen.reduce((most, i) => (side * curve.total[i] > side * (curve.total[most] ?? 0) ? i : most), null);
    if (best === null) return [];
    const value = curve.total[best], share = curve.limit ? ` (${Math.round((100 * Math.abs(value)) / curve.limit)} %)` : "";
    return [{ t: curve.t[best], value, side, words: `${words(value)} ${unit}${share}` }];
  });
}

export class Plot {
  constructor(canvas) {
    this.canvas = canvas;
    this.layer = document.createElement("canvas");
    this.peaks = [];
    this.stale = true; // whether the curve is another one than the layer shows
  }

  // Draw a curve between two times, with a cursor and what is pointed at.
  draw(curve, from, to, time, pointed, meaning, unit) {
    const { clientWidth: wide, clientHeight: tall } = this.canvas;
    const sharp = window.devicePixelRatio || 1, ink = getComputedStyle(this.canvas).color;
    const key = [from, to, wide, tall, sharp, ink].join();
    if (this.stale || key !== this.key) {
      Object.assign(this, { stale: false, key });
      this.rest(this.sized(this.layer, wide, tall, sharp), curve, from, to, wide, tall, meaning, unit, ink);
    }
    const paint = this.sized(this.canvas, wide, tall, sharp);
    paint.drawImage(this.layer, 0, 0, wide, tall);
    this.mark(paint, time, ink, tall, 2);
    if (pointed !== null) this.mark(paint, pointed, ink, tall, 1);
  }

  sized(canvas, wide, tall, sharp) {
    canvas.width = wide * sharp;
    canvas.height = tall * sharp;
    const paint = canvas.getContext("2d");
    paint.scale(sharp, sharp);
    return paint;
  }

  // All but the cursor, which alone changes while a motion is played.
  rest(paint, curve, from, to, wide, tall, meaning, unit, ink) {
    const { left, right, top, bottom } = MARGIN;
    const [low, high] = reach(curve);
    this.wide = wide - left - right;
    this.x = (t) => left + (this.wide * (t - from)) / (to - from || 1);
    this.t = (x) => from + ((to - from) * (x - left)) / this.wide;
    this.y = (value) => top + ((tall - top - bottom) * (high - value)) / (high - low);
    this.axes(paint, wide, tall, low, high, from, to, unit, ink);
    paint.save();
    paint.beginPath();
    paint.rect(left, 0, wide - left - right, tall - bottom);
    paint.clip();
    this.stack(paint, curve, meaning);
    this.bands(paint, curve, wide, low, high);
    this.line(paint, curve.t, curve.total, ink, 1.8);
    if (curve.limit) this.over(paint, curve);
    if (curve.measured) this.line(paint, curve.t, curve.measured, "#C2255C", 1.6, [5, 3]);
    paint.restore();
    this.peaks = peaks(curve, from, to, unit);
    for (const peak of this.peaks) this.peak(paint, peak, wide, tall, ink);
  }

  // A dot, and its value beside it, inside the picture.
  peak(paint, { t, value, side, words }, wide, tall, ink) {
    const [x, y] = [this.x(t), this.y(value)];
    paint.font = "600 11px system-ui, sans-serif";
    const half = paint.measureText(words).width / 2 + 3;
    const middle = clamp(x, MARGIN.left + half, wide - MARGIN.right - half);
    const line = clamp(y - 12 * side, 9, tall - MARGIN.bottom - 9);
    paint.fillStyle = getComputedStyle(this.canvas).getPropertyValue("--ad-card");
    paint.globalAlpha = 0.8;
    paint.fillRect(middle - half, line - 7, 2 * half, 14);
    paint.globalAlpha = 1;
    paint.fillStyle = ink;
    paint.beginPath();
    paint.arc(x, y, 3.5, 0, 2 * Math.PI);
    paint.fill();
    paint.textAlign = "center";
    paint.textBaseline = "middle";
    paint.fillText(words, middle, line);
    paint.textBaseline = "alphabetic";
  }

  axes(paint, wide, tall, low, high, from, to, unit, ink) {
    paint.font = "11px system-ui, sans-serif";
    paint.fillStyle = paint.strokeStyle = ink;
    const step = nice((high - low) / 7);
    paint.textAlign = "right";
    paint.textBaseline = "middle";
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      const y = this.y(k * step);
      paint.globalAlpha = k ? 0.12 : 0.5;
      paint.fillRect(MARGIN.left, y, wide - MARGIN.left - MARGIN.right, 1);
      paint.globalAlpha = 1;
      if (y > 6 && y < tall - MARGIN.bottom) paint.fillText(`${Number((k * step).toPrecision(6))}`.replace("-", "\u2212"), MARGIN.left - 6, y);
    }
    paint.textAlign = "left";
    paint.textBaseline = "alphabetic";
    paint.save();
    paint.translate(11, tall / 2);
    paint.rotate(-Math.PI / 2);
    paint.textAlign = "center";
    paint.fillText(unit, 0, 0);
    paint.restore();
    const second = nice((to - from) / 8);
    paint.textAlign = "center";
    for (let k = Math.ceil(from / second - 1e-9); k * second <= to + 1e-9; k++) {
      const x = this.x(k * second);
      paint.globalAlpha = 0.25;
      paint.fillRect(x, tall - MARGIN.bottom, 1, 4);
      paint.globalAlpha = 1;
      paint.fillText(`${Number((k * second).toPrecision(6))} s`, Math.min(x, wide - 16), tall - 5);
    }
  }

  stack(paint, curve, meaning) {
    const n = curve.t.length, up = new Array(n).fill(0), down = new Array(n).fill(0);
    for (const [name, values] of Object.entries(curve.terms)) {
      for (const [side, base] of [[1, up], [-1, down]]) {
        if (!values.some((value) => side * value > 0)) continue;
        paint.beginPath();
        curve.t.forEach((t, i) => paint.lineTo(this.x(t), this.y(base[i])));
        for (let i = n - 1; i >= 0; i--) {
          base[i] += side * values[i] > 0 ? values[i] : 0;
          paint.lineTo(this.x(curve.t[i]), this.y(base[i]));
        }
        paint.closePath();
        paint.fillStyle = meaning[name].colour;
        paint.globalAlpha = 0.55;
        paint.fill();
        paint.globalAlpha = 1;
      }
    }
  }

  bands(paint, curve, wide, low, high) {
    if (!curve.limit) return;
    paint.fillStyle = paint.strokeStyle = "#C92A2A";
    paint.setLineDash([6, 4]);
    for (const [limit, edge] of [[curve.limit, high], [-curve.limit, low]]) {
      if (limit > high || limit < low) continue;
      const [a, b] = [this.y(limit), this.y(edge)];
      paint.globalAlpha = 0.1;
      paint.fillRect(0, Math.min(a, b), wide, Math.abs(a - b));
      paint.globalAlpha = 0.9;
      paint.beginPath();
      paint.moveTo(0, a);
      paint.lineTo(wide, a);
      paint.stroke();
    }
    paint.globalAlpha = 1;
    paint.setLineDash([]);
  }

  over(paint, curve) {
    const beyond = curve.total.map((value, i) =>
      Math.max(Math.abs(value), Math.abs(curve.total[i + 1] ?? 0), Math.abs(curve.total[i - 1] ?? 0)) > curve.limit ? value : null);
    this.line(paint, curve.t, beyond, "#C92A2A", 2.6);
  }

  line(paint, t, values, colour, wide, dash = []) {
    paint.strokeStyle = colour;
    paint.lineWidth = wide;
    paint.setLineDash(dash);
    paint.beginPath();
    let open = false;
    values.forEach((value, i) => {
      if (value === null) open = false;
      else {
        paint[open ? "lineTo" : "moveTo"](this.x(t[i]), this.y(value));
        open = true;
      }
    });
    paint.stroke();
    paint.setLineDash([]);
  }

  mark(paint, time, ink, tall, wide) {
    const x = this.x(time);
    if (x < MARGIN.left - 1) return;
    paint.fillStyle = ink;
    paint.globalAlpha = wide > 1 ? 1 : 0.6;
    paint.fillRect(x - wide / 2, 2, wide, tall - MARGIN.bottom);
    paint.globalAlpha = 1;
  }
}
