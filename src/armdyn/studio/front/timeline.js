// The strip at the bottom: a motion that is played, and the torque of a joint over time.

import { clamp, make, words } from "./dom.js";
import { MARGIN, Plot } from "./plot.js";

export class Timeline {
  constructor(wire, settings, help) {
    Object.assign(this, { wire, settings, pointed: null, from: 0, to: 1 });
    const tool = (label, what, act) => make("button", { type: "button", class: "ad-button", "aria-label": label, title: label, onclick: act }, what);
    this.play = tool("Play", "▶", () => wire.send({ do: "play" }));
    this.clock = make("output", { class: "ad-clock", "aria-label": "Time" });
    this.speed = make("select", { "aria-label": "Speed", onchange: () => wire.send({ do: "speed", value: Number(this.speed.value) }) },
      ...[0.1, 0.25, 0.5, 1, 2].map((x) => make("option", { value: x, selected: x === 1 }, `${x}×`)));
    this.joint = make("select", { "aria-label": "Joint of the timeline", onchange: () => settings.select(Number(this.joint.value)) });
    this.note = make("p", { class: "ad-motion-note" });
    this.title = make("h2", {}, "Timeline");
    this.canvas = make("canvas", {
      class: "ad-plot", role: "slider", tabindex: "0", "aria-label": "Time of the motion", "aria-valuemin": "0",
      onmousemove: (event) => this.point(event), onmouseleave: () => this.point(null),
      onpointerdown: (event) => this.press(event), onpointermove: (event) => this.drag(event),
      onpointerup: (event) => this.drop(event), onpointercancel: (event) => this.drop(event),
      onkeydown: (event) => this.key(event),
      ondblclick: () => this.zoom(0, this.motion.duration),
    });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.tip = make("div", { class: "ad-tooltip armdyn-values", hidden: true });
    this.element = make(
      "section", { class: "ad-timeline armdyn-timeline", "aria-label": "Timeline", hidden: true },
      make("div", { class: "ad-time-tools" }, this.play, this.clock, this.speed, this.joint, this.title, this.note,
        tool("Zoom in", "+", () => this.around(0.5)), tool("Zoom out", "−", () => this.around(2)),
        tool("Whole motion", "↔", () => this.zoom(0, this.motion.duration)),
        help("timeline"), tool("Close the timeline", "×", () => wire.send({ do: "forget" }))),
      this.canvas, this.tip,
    );
    this.plot = new Plot(this.canvas);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    wire.listen((shown, changed) => this.take(shown, changed));
  }

  take(shown, changed) {
    this.shown = shown;
    if (changed.has("robot"))
      this.joint.replaceChildren(...shown.robot.joints.map((joint, i) => make("option", { value: i }, joint.name)));
    if (changed.has("motion")) {
      const before = this.motion;
      this.motion = shown.motion;
      this.element.hidden = !this.motion;
      document.documentElement.classList.toggle("ad-plays", Boolean(this.motion));
      if (this.motion && (!before || before.duration !== this.motion.duration)) [this.from, this.to] = [0, this.motion.duration];
    }
    if (!this.motion) return;
    if (["curve", "dark", "robot"].some((part) => changed.has(part))) this.plot.stale = true;
    if (changed.has("curve") && shown.curve) [this.from, this.to] = [shown.curve.from, shown.curve.to];
    if (["motion", "curve", "dark", "robot"].some((part) => changed.has(part))) this.show();
  }

  show() {
    const { time, playing, duration, title, note, speed } = this.motion;
    const label = playing ? "Pause" : "Play";
    this.play.textContent = playing ? "❚❚" : "▶";
    this.play.title = label;
    this.play.setAttribute("aria-label", label);
    this.clock.textContent = `${time.toFixed(2)} / ${duration.toFixed(2)} s`;
    this.speed.value = String(speed);
    this.title.textContent = title;
    this.note.textContent = this.note.title = note;
    this.element.dataset.time = time;
    this.canvas.setAttribute("aria-valuemax", duration);
    this.canvas.setAttribute("aria-valuenow", time);
    this.canvas.setAttribute("aria-valuetext", `${time.toFixed(2)} s`);
    this.draw();
  }

  // Once a picture, however many messages came since the last one.
  draw() {
    this.asked ??= requestAnimationFrame(() => {
      this.asked = null;
      this.paint();
    });
  }

  paint() {
    const { curve, robot } = this.shown ?? {};
    if (!this.motion || !curve || !this.canvas.clientWidth) return;
    this.joint.value = String(curve.joint);
    this.element.dataset.joint = curve.joint;
    const joint = robot.joints[curve.joint];
    if (!joint) return;
    this.plot.draw(curve, this.from, this.to, this.motion.time, this.pointed, robot.terms, joint.torque);
    this.canvas.setAttribute("aria-description", this.plot.peaks.map(({ t, words }) => `${words} at ${t.toFixed(3)} s`).join("; "));
  }

  select(joint) {
    if (this.motion) this.wire.send({ do: "curve", joint, from: this.from, to: this.to });
  }

  zoom(from, to) {
    const { duration } = this.motion;
    const span = clamp(to - from, 1e-3 * duration, duration);
    this.from = clamp(from, 0, duration - span);
    this.to = Math.min(this.from + span, duration);
    this.wire.follows("curve", { do: "curve", joint: this.shown.curve.joint, from: this.from, to: this.to });
    this.draw();
  }

  around(factor, centre = this.motion.time) {
    const middle = clamp(centre, this.from, this.to);
    this.zoom(middle - factor * (middle - this.from), middle + factor * (this.to - middle));
  }

  // Up and down zooms; sideways, or with Shift, the part that is seen moves.
  wheel(event) {
    event.preventDefault();
    const sideways = event.deltaX || (event.shiftKey ? event.deltaY : 0);
    if (sideways) this.shift(Math.sign(sideways) * 0.1 * (this.to - this.from));
    else this.around(event.deltaY > 0 ? 1.25 : 0.8, this.plot.t(event.offsetX));
  }

  shift(time) {
    const span = this.to - this.from, from = clamp(this.from + time, 0, this.motion.duration - span);
    this.zoom(from, from + span);
  }

  // A press goes to a time, and the arm follows the pointer until it is let go; what was playing goes
  // on from there. With Shift the part that is seen moves.
  press(event) {
    if (event.button || !this.plot.t) return;
    const { shiftKey: shifts, offsetX: x, pointerId } = event;
    this.held = { shifts, x, plays: !shifts && this.motion.playing };
    this.canvas.setPointerCapture(pointerId);
    if (this.held.plays) this.wire.send({ do: "play" });
    this.drag(event);
  }

  drag(event) {
    if (!this.held) return;
    this.held.time = clamp(this.plot.t(event.offsetX), this.from, this.to);
    if (!this.held.shifts) return this.seek(this.held.time);
    this.shift(((this.held.x - event.offsetX) * (this.to - this.from)) / this.plot.wide);
    this.held.x = event.offsetX;
  }

  drop() {
    if (this.held?.plays && this.held.time < this.motion.duration) this.wire.follows("play", { do: "play" }); // after the last time
    this.held = null;
  }

  seek(time) {
    this.wire.follows("seek", { do: "seek", time: clamp(time, 0, this.motion.duration) });
  }

  key(event) {
    const { time, duration } = this.motion;
    const step = (this.to - this.from) / 100;
    const far = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    if (event.key in far) this.seek(time + far[event.key] * step);
    else if (event.key === "Home") this.seek(0);
    else if (event.key === "End") this.seek(duration);
    else if (event.key === " ") this.wire.send({ do: "play" });
    else if (event.key === "+" || event.key === "=") this.around(0.5);
    else if (event.key === "-") this.around(2);
    else return;
    event.preventDefault();
  }

  // Say the values where someone points.
  point(event) {
    const { curve, robot } = this.shown ?? {};
    const inside = event && curve && event.offsetX >= MARGIN.left;
    this.tip.hidden = !inside;
    this.pointed = inside ? clamp(this.plot.t(event.offsetX), this.from, this.to) : null;
    if (inside) {
      const at = (values) => between(curve.t, values, this.pointed);
      const unit = robot.joints[curve.joint].torque;
      const row = (word, value, colour) => {
        const dot = make("i");
        dot.style.background = colour ?? "currentColor";
        return make("div", {}, dot, make("span", {}, word), make("b", {}, `${words(value)} ${unit}`));
      };
      const total = at(curve.total);
      const share = curve.limit ? ` (${Math.round((100 * Math.abs(total)) / curve.limit)} %)` : "";
      this.tip.replaceChildren(
        make("div", {}, make("b", {}, `${this.pointed.toFixed(3)} s`)),
        row(`total${share}`, total),
        ...(curve.measured ? [row("measured", at(curve.measured), "#C2255C")] : []),
        ...Object.entries(curve.terms).map(([name, values]) => row(robot.terms[name].word, at(values), robot.terms[name].colour)),
      );
      const left = event.offsetX + 16, wide = this.tip.offsetWidth;
      this.tip.style.left = `${left + wide > this.canvas.clientWidth ? event.offsetX - wide - 12 : left}px`;
    }
    this.draw();
  }
}

// A value between two instants, on a straight line.
function between(t, values, when) {
  let i = t.findIndex((time) => time > when);
  if (i < 0) i = t.length - 1;
  i = Math.max(i, 1);
  if (t.length < 2) return values[0];
  const share = (when - t[i - 1]) / (t[i] - t[i - 1] || 1);
  return values[i - 1] + clamp(share, 0, 1) * (values[i] - values[i - 1]);
}
