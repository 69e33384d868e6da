// Torque bars: each term on its side of the middle, on one scale for all joints.

import { make, nice, words } from "./dom.js";

const KEPT = 0.35; // a scale shrinks when less than this part of it is needed

export class Scale {
  constructor() {
    this.kept = {};
  }

  // The end of the bars in a unit: round, and never far beyond what is shown.
  end(unit, needed) {
    const wanted = nice(needed);
    const before = this.kept[unit] ?? 0;
    this.kept[unit] = wanted < before && needed > KEPT * before ? before : wanted;
    return this.kept[unit];
  }
}

// What is needed to each side of the middle by the terms of a joint.
export function needed(terms, joint) {
  let up = 0, down = 0;
  for (const values of Object.values(terms)) {
    const value = values[joint];
    if (value > 0) up += value;
    else down -= value;
  }
  return Math.max(up, down);
}

export class Bar {
  constructor() {
    this.pieces = new Map();
    this.track = make("div", { class: "ad-track", role: "img" });
    this.middle = make("i", { class: "ad-middle" });
    this.limits = [make("i", { class: "ad-limit" }), make("i", { class: "ad-limit" })];
    this.tip = make("i", { class: "ad-tip" });
    this.track.append(...this.limits, this.middle, this.tip);
  }

  // joint: its description; end: where the bar ends [N m or N]; meaning: words and colours of terms
  show(joint, index, torque, end, meaning) {
    const total = torque.total[index];
    let up = 50, down = 50;
    const said = [];
    for (const [name, values] of Object.entries(torque.terms)) {
      const value = values[index];
      let piece = this.pieces.get(name);
      if (!value) {
        if (piece) piece.hidden = true;
        continue;
      }
      if (!piece) {
        piece = make("b", { "data-term": name });
        piece.style.background = meaning[name].colour;
        this.pieces.set(name, piece);
        this.track.insertBefore(piece, this.middle);
      }
      const width = (50 * Math.abs(value)) / end;
      piece.hidden = false;
      piece.style.left = `${value > 0 ? up : down - width}%`;
      piece.style.width = `${width}%`;
      piece.dataset.value = value;
      piece.title = `${meaning[name].word} ${words(value)} ${joint.torque}`;
      if (value > 0) up += width;
      else down -= width;
      said.push(piece.title);
    }
    for (const [name, piece] of this.pieces) if (!(name in torque.terms)) piece.hidden = true;
    const limit = joint.effort === null ? null : joint.effort / end;
    this.limits.forEach((mark, side) => {
      mark.hidden = limit === null || limit > 1;
      mark.style.left = `${50 + (side ? -50 : 50) * (limit ?? 0)}%`;
    });
    this.tip.style.left = `${50 + (50 * total) / end}%`;
    this.track.setAttribute("aria-label", said.length ? said.join(", ") : "no torque");
  }
}
