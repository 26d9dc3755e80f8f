// The difference of two texts: by paragraphs, and within them by words.

import { add, h } from "/agent/page/dom.js";

// compare returns the items of two lists: those that both have ("same"), those that go ("gone"), and those that come ("new").
export function compare(a, b) {
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const rows = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) rows.push(["same", a[i++], j++]);
    else if (i < a.length && (j === b.length || longest[i + 1][j] >= longest[i][j + 1])) rows.push(["gone", a[i++]]);
    else rows.push(["new", b[j++]]);
  }
  return rows;
}

const paragraphs = (text) => text.split(/\n{2,}/).map((p) => p.trim()).filter(Boolean);
const pieces = (text) => text.split(/(\s+)/).filter(Boolean);
const picture = /^!\[([^\]\n]*)\]\((\/images\/[\w-]+)\)$/;

const heading = /^#{1,6} +/;

// marked returns a paragraph as it is shown: a heading without its signs.
function marked(text, other, side) {
  const plain = words(text.replace(heading, ""), other?.replace(heading, ""), side);
  return heading.test(text) ? h("b", {}, plain) : plain;
}

// words returns a paragraph whose words that the other one hasn't are marked. Paragraphs that share little are marked by nothing.
function words(text, other, side) {
  const shows = picture.exec(text);
  if (shows) return h("img", { src: shows[2], alt: shows[1] });
  if (!other || picture.test(other)) return text;
  const rows = side === "gone" ? compare(pieces(text), pieces(other)) : compare(pieces(other), pieces(text));
  const same = rows.filter(([kind, word]) => kind === "same" && word.trim()).length;
  if (same * 3 < Math.max(text.split(/\s+/).length, 1)) return text;
  return rows.filter(([kind]) => kind === "same" || kind === side).map(([kind, word]) => (kind === side && word.trim() ? h("mark", {}, word) : word));
}

// paired puts each paragraph that comes behind the one whose place it takes, and gives both the text of the other.
function paired(rows) {
  const out = [], gone = [], fresh = [];
  for (const [kind, text] of [...rows, ["end"]]) {
    if (kind === "gone") gone.push(text);
    else if (kind === "new") fresh.push(text);
    else {
      for (let old = gone.shift(), now = fresh.shift(); old ?? now; old = gone.shift(), now = fresh.shift()) out.push(...(old ? [["gone", old, now]] : []), ...(now ? [["new", now, old]] : []));
      if (kind === "same") out.push([kind, text]);
    }
  }
  return out;
}

// difference shows what changes. Long stretches that stay are folded.
export function difference(before, after, label = "Difference") {
  const rows = paired(compare(paragraphs(before), paragraphs(after))), box = h("div", { class: "difference", tabIndex: 0, role: "region", "aria-label": label });
  if (rows.every(([kind]) => kind === "same")) return add(box, h("p", { class: "muted" }, "The text is the same."));
  rows.forEach(([kind, text, twin], i) => {
    if (kind === "same") {
      const near = rows[i - 1]?.[0] !== "same" && i > 0, next = rows[i + 1] && rows[i + 1][0] !== "same";
      if (near || next) add(box, h("p", { class: "same" }, marked(text.length > 200 ? `${text.slice(0, 200)}…` : text)));
      else if (rows[i - 1]?.[0] !== "same") add(box, h("p", { class: "muted small" }, "…"));
      return;
    }
    add(box, h(kind === "gone" ? "del" : "ins", {}, h("span", { class: "hidden-visually" }, kind === "gone" ? "Goes: " : "Comes: "), marked(text, twin, kind)));
  });
  return box;
}

export const countWords = (text) => (text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? []).length;
