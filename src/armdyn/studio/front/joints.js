// The column of joints: position, velocity or acceleration, and the torque that it takes.

import { Bar, needed, Scale } from "./bars.js";
import { make, words } from "./dom.js";
import { Field } from "./field.js";

export const KINDS = { q: ["Position", ""], qd: ["Velocity", "/s"], qdd: ["Acceleration", "/s²"] };
const SEARCHED = 10; // joints beyond which there is a search

export class Joints {
  constructor(wire, settings, help) {
    Object.assign(this, { wire, settings });
    this.scale = new Scale();
    this.rows = [];
    this.kinds = radio("What the sliders move", "kind", KINDS, (kind) => {
      settings.kind = kind;
      this.build();
    });
    this.scales = radio("Scale of the bars", "scale", { percent: ["% of motor"], torque: ["N·m"] }, (scale) => {
      settings.scale = scale;
      this.torque();
    });
    this.search = make("input", {
      type: "search", placeholder: "Find a joint", "aria-label": "Find a joint",
      oninput: () => this.filter(),
    });
    this.legend = make("div", { class: "ad-legend", "aria-label": "Terms of the torque" });
    this.list = make("div", { class: "ad-rows armdyn-torque" });
    this.held = make("div", { class: "ad-held" });
    this.element = make(
      "section", { class: "ad-card ad-joints", "aria-labelledby": "ad-joints-title" },
      make("div", { class: "ad-title" }, make("h2", { id: "ad-joints-title" }, "Joints and torques"), help("joints")),
      make("div", { class: "ad-tools" }, this.kinds, this.scales),
      this.search, this.legend, this.list, this.held,
    );
    wire.listen((shown, changed) => {
      if (changed.has("robot")) {
        this.robot = shown.robot;
        this.scale = new Scale();
        this.build();
      }
      if (!this.robot || !shown.state || shown.state.q.length !== this.robot.joints.length) return;
      this.shown = shown;
      if (changed.has("state") || changed.has("robot")) this.state();
      if (changed.has("torque") || changed.has("robot")) this.torque();
    });
  }

  build() {
    const { joints, payload } = this.robot;
    const limited = joints.some((joint) => joint.effort !== null);
    const [percent, torque] = this.scales.querySelectorAll("input");
    percent.disabled = !limited;
    percent.parentElement.title = limited ? "Bars end at the limit of the motor" : "No motor has a known limit";
    const mode = limited ? this.settings.scale : "torque";
    (mode === "percent" ? percent : torque).checked = true;
    this.mode = () => (percent.checked ? "percent" : "torque");
    this.kinds.querySelector(`[value=${this.settings.kind}]`).checked = true;
    this.search.hidden = joints.length <= SEARCHED;
    this.names = short(joints.map((joint) => joint.name));
    const longest = Math.max(...this.names.map((name) => name.length));
    this.element.style.setProperty("--ad-name", `${Math.min(Math.max(7.5 * longest + 6, 66), 112)}px`);
    this.rows = joints.map((joint, i) => this.row(joint, i));
    this.list.replaceChildren(...this.grouped());
    const send = (value) => this.wire.follows("hold", { do: "hold", value });
    this.payload = new Field("Payload at the tool", { low: 0, high: payload, unit: "kg" }, send);
    this.payload.high = 1e6;
    this.held.replaceChildren(
      make("label", {}, "Payload"), this.payload.slider, this.payload.input,
      make("span", { class: "ad-unit" }, "kg"), this.payload.note,
    );
    if (this.shown && this.shown.state.q.length === joints.length) {
      this.state();
      this.torque();
    }
    this.filter();
  }

  row(joint, i) {
    const kind = this.settings.kind;
    const [word, per] = KINDS[kind];
    const [low, high] = joint[kind];
    const send = (value) => this.wire.follows(`${kind}${i}`, { do: "move", joint: i, kind, value });
    const field = new Field(`${word} of ${joint.name}`, { low, high, unit: joint.unit + per, turns: joint.turns && !per }, send);
    const bar = new Bar();
    const total = make("output", { class: "total", "data-joint": i });
    const share = make("span", { class: "ad-share" });
    const name = make("button", {
      class: "ad-name", type: "button", title: `${joint.name}: show its equation, and its torque over time`,
      "aria-label": joint.name, "aria-pressed": "false", onclick: () => this.settings.select(i),
    }, this.names[i]);
    const element = make(
      "div", { class: "ad-row", "data-joint": i, role: "group", "aria-label": joint.name },
      name, field.slider, field.input, make("span", { class: "ad-unit" }, joint.unit + per),
      bar.track, total, share, field.note,
    );
    return { joint, field, bar, total, share, element, name };
  }

  grouped() {
    const names = [...new Set(this.robot.joints.map((joint) => joint.group))];
    if (names.length < 2) return this.rows.map((row) => row.element);
    return names.map((group) => {
      const own = this.rows.filter((row) => row.joint.group === group);
      const most = make("span", { class: "ad-most" });
      own.forEach((row) => (row.most = { element: most, own }));
      return make(
        "details", { open: true, class: "ad-group" },
        make("summary", {}, make("span", {}, group.replaceAll("_", " ")), most),
        ...own.map((row) => row.element),
      );
    });
  }

  filter() {
    const wanted = this.search.hidden ? "" : this.search.value.trim().toLowerCase();
    for (const row of this.rows) {
      row.element.hidden = !`${row.joint.name} ${row.joint.group}`.toLowerCase().includes(wanted);
    }
    for (const group of this.list.querySelectorAll("details"))
      group.hidden = !group.querySelector(".ad-row:not([hidden])");
  }

  state() {
    const { state } = this.shown;
    this.rows.forEach((row, i) => row.field.follow(state[this.settings.kind][i]));
    this.payload.follow(state.payload);
  }

  torque() {
    const { torque } = this.shown ?? {};
    if (!torque || torque.total.length !== this.rows.length) return;
    const reach = this.rows.map((_, i) => Math.max(needed(torque.terms, i), Math.abs(torque.total[i])));
    const percent = this.mode() === "percent";
    const ends = this.ends(reach, percent);
    this.rows.forEach((row, i) => this.value(row, i, torque, ends[i]));
    for (const { most } of this.rows) {
      if (!most) continue;
      const shares = most.own.map((row) => Number(row.share.dataset.share || 0));
      most.element.textContent = Math.max(...shares) ? `${Math.round(Math.max(...shares))} %` : "";
    }
    const meaning = this.robot.terms;
    const acting = Object.keys(torque.terms).join();
    if (this.legend.dataset.acting !== acting) {
      this.legend.dataset.acting = acting;
      this.legend.replaceChildren(...Object.keys(torque.terms).map((name) => {
        const dot = make("i");
        dot.style.background = meaning[name].colour;
        return make("span", { "data-legend": name }, dot, meaning[name].word);
      }));
      if (!acting) this.legend.replaceChildren(make("span", {}, "No torque acts."));
    }
  }

  // Where each bar ends: at one share of its motor for all, or at one torque for all of a unit.
  ends(reach, percent) {
    const joints = this.robot.joints;
    const over = Math.max(1, ...joints.map((joint, i) => (joint.effort ? reach[i] / joint.effort : 0)));
    const share = over > 1 ? this.scale.end("%", over) : (this.scale.kept["%"] = 1);
    const units = {};
    joints.forEach((joint, i) => {
      if (!percent || joint.effort === null) units[joint.torque] = Math.max(units[joint.torque] ?? 0, reach[i]);
    });
    for (const unit of Object.keys(units)) units[unit] = this.scale.end(unit, units[unit]);
    return joints.map((joint) => (percent && joint.effort !== null ? share * joint.effort : units[joint.torque]));
  }

  value(row, i, torque, end) {
    const { joint } = row;
    const total = torque.total[i];
    row.bar.show(joint, i, torque, end, this.robot.terms);
    row.bar.track.dataset.end = end;
    row.total.textContent = `${words(total)} ${joint.torque}`;
    row.total.dataset.value = total;
    const share = joint.effort === null ? null : (100 * Math.abs(total)) / joint.effort;
    const over = share !== null && share > 100;
    row.element.classList.toggle("ad-over", over);
    row.share.textContent = share === null ? "no limit" : `${share >= 0.5 || !total ? Math.round(share) : "< 1"} %`;
    row.share.dataset.share = share ?? "";
    row.share.title = share === null ? "The limit of this motor is not known"
      : `of the ${words(joint.effort)} ${joint.torque} that the motor of ${joint.name} has`;
  }
}

// Names as people read them: without what all of them end with, and with spaces.
function short(names) {
  const all = (end) => names.length > 1 && names.every((name) => name.endsWith(end) && name.length > end.length);
  const end = ["_joint", "-joint", " joint"].find(all) ?? "";
  return names.map((name) => name.slice(0, name.length - end.length).replaceAll("_", " "));
}

function radio(label, name, choices, chosen) {
  const group = make("fieldset", { class: "ad-radio" }, make("legend", {}, label));
  for (const [value, [word]] of Object.entries(choices)) {
    const input = make("input", { type: "radio", name: `ad-${name}`, value, onchange: () => chosen(value) });
    group.append(make("label", {}, input, make("span", {}, word)));
  }
  return group;
}
