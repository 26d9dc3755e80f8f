// What a text is made from and measured by: sources, patterns, and the changes of its status.

import { add, h } from "/agent/page/dom.js";
import { count, exactly, when } from "/agent/page/format.js";
import { statusName, toolName, words } from "./words.js";

const title = (s) => (/^https?:/.test(s.sourceUrl ?? "") ? h("a", { href: s.sourceUrl, target: "_blank", rel: "noopener noreferrer nofollow" }, s.sourceName) : h("span", {}, s.sourceName));

// footnotes lists the sources that a text cites, by their numbers.
export function footnotes(page, article) {
  const used = new Set([...article.querySelectorAll("a[href^='#source-']")].map((a) => Number(a.hash.slice(8))));
  const cited = page.research.filter((s) => used.has(s.number)).sort((a, b) => a.number - b.number);
  if (cited.length === 0) return null;
  const back = (s) => article.querySelector(`a[href="#source-${s.number}"]`);
  return h("section", { class: "footnotes", "data-testid": "footnotes", "aria-label": "Sources of the text" }, h("h2", {}, "Sources"), h("ol", {}, cited.map((s) => h("li", { id: `source-${s.number}`, tabIndex: -1, value: s.number }, title(s),
    s.sourceUrl ? h("span", { class: "muted small" }, ` ${s.sourceUrl}`) : null, s.sourceType === "made_up" ? h("span", { class: "badge" }, words.source.made_up) : null,
    h("button", { type: "button", class: "link small", "aria-label": `Back to the text from source ${s.number}`, onclick: () => (back(s).focus(), back(s).scrollIntoView({ block: "center" })) }, "↩")))));
}

// outlined says in words what an outline has in brackets, and returns the first place where a text is to come.
export function outlined(article) {
  let first = null;
  for (const p of article.querySelectorAll("p")) {
    const [, what, shows] = /^\[(WRITE|IMAGE): ([^\]]*)\]$/.exec(p.textContent) ?? [];
    if (!what) continue;
    p.className = "comes";
    p.textContent = `${what === "IMAGE" ? "A picture comes here" : "To be written"}: ${shows}`;
    if (what === "WRITE") first ??= p;
  }
  return first;
}

// sources lists all that the research has found.
export function sources(page) {
  if (page.research.length === 0) return h("p", { class: "muted", "data-testid": "research" }, page.a.metadata?.researchNote || "No sources yet. The research finds them, and the text cites them by their numbers.");
  return h("ul", { class: "sources", "data-testid": "research" }, page.research.map((s) => h("li", {},
    h("div", { class: "row between" }, h("b", { class: "small" }, `[${s.number}] ${words.source[s.sourceType] ?? s.sourceType}`), s.sourceType === "made_up" ? null : h("span", { class: "muted small" }, `Relevance ${Math.round(s.relevanceScore * 100)} %`)),
    title(s), h("p", { class: "muted small" }, s.excerpt))));
}

// patterns says how many patterns of machines the text has, and where.
export function patterns(page) {
  const { humanity: now, metadata, content } = page.a, found = Object.entries(now.found ?? {}), last = metadata?.humanity;
  if (!content) return null;
  const summary = h("span", { "data-testid": "humanity-score" }, now.summary.replace(" patterns found", " found"));
  if (found.length === 0) return summary;
  return h("details", { class: "patterns", open: page.unfolded, ontoggle: (e) => e.target.isConnected && (page.unfolded = e.target.open) }, h("summary", { onclick: (e) => (page.unfolded = !e.currentTarget.parentElement.open) }, summary), h("ul", {}, found.map(([name, n]) => h("li", {}, h("b", {}, `${name} (${count(n)})`), (now.where?.[name] ?? []).map((text) => h("q", {}, text))))),
    last?.before ? h("p", { class: "muted small" }, `The last revision: ${last.before} before, ${last.after} after.`) : null);
}

// past lists the changes of the status, the newest first.
export function past(page) {
  if (page.history.length === 0) return h("p", { class: "muted" }, "Nothing has happened yet.");
  return add(h("ol", { class: "past" }), [...page.history].reverse().map((c) => h("li", { class: "small" }, h("span", {}, c.from === c.to ? "Changed" : statusName(c.to), h("span", { class: "muted" }, c.tool ? ` · ${toolName(c.tool).toLowerCase()}` : ` · by ${c.by === "user" ? "you" : c.by}`)), h("time", { class: "muted", title: exactly(new Date(c.at)) }, when(new Date(c.at))))));
}
