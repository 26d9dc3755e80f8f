// The head of the page of an article: its title, what it is, and what can be done with it.

import { add, button, h, icon, iconButton } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { api } from "./api.js";
import { badge, toneSelect } from "./cards.js";
import { countWords } from "./diff.js";
import { patterns } from "./sources.js";
import { words } from "./words.js";

// The one thing to do next in each status. "go on" sends the sentence that makes the rest of the article.
const next = {
  draft: ["Create content", "go on"], research: ["Continue: write the outline", "go on"], skeleton: ["Continue: write the text", "go on"], writing: ["Continue: write the text", "go on"], creating_visuals: ["Continue: revise and illustrate", "go on"],
  ready: ["Publish", "publish"], published: ["Take it back and edit", "edit"], archived: ["Take it out of the archive", "edit"],
};

const halted = (page) => ["stopped", "failed"].includes(page.a.pipeline?.state);
export const nextLabel = (page) => (page.a.status === "draft" && halted(page) ? "Continue" : next[page.a.status][0]);

export function title(page) {
  const { a } = page, fixed = page.working() || a.status === "archived";
  const h1 = h("h1", {}, a.title), names = h("div", { class: "names" }, h1, fixed ? null : iconButton("pen", "Change the title", () => {
    const input = h("input", { class: "input title-input", value: a.title, maxLength: 500, "aria-label": "Title", onkeydown: (e) => e.key === "Escape" && ((input.value = a.title), input.blur()), onblur: () => {
      input.remove();
      if (input.value.trim() && input.value.trim() !== a.title) page.change({ title: input.value.trim() });
      else page.show(page.head.key = "");
    } });
    names.replaceChildren(h("form", { onsubmit: (e) => (e.preventDefault(), input.blur()) }, input));
    input.select();
  }));
  return names;
}

// facts are the type, the tone, the tags, the length, and the patterns, in one line.
export function facts(page) {
  const { a } = page, fixed = page.working() || a.status === "archived", n = /\[WRITE: /.test(a.content) ? 0 : countWords(a.content); // an outline is no text
  const fact = (name, value) => (value ? h("div", {}, h("dt", {}, name), h("dd", {}, value)) : null);
  const tone = toneSelect(a.tone), tags = h("input", { class: "input", value: a.tags.join(", "), placeholder: "none", "aria-label": "Tags, separated by commas", onchange: () => page.change({ tags: tags.value.split(",").map((t) => t.trim()).filter(Boolean) }) });
  tone.setAttribute("aria-label", "Tone");
  tone.addEventListener("change", () => page.change({ tone: tone.value }));
  return h("dl", { class: "facts" }, fact("Status", badge(a.status)), fact("Type", words.type[a.type]), fact("Tone", fixed ? a.tone.replace(/^./, (c) => c.toUpperCase()) : tone), fact("Tags", fixed ? a.tags.join(", ") : tags), fact("Length", n ? `${count(n)} words` : ""), fact("Machine patterns", n ? patterns(page) : null));
}

export function actions(page) {
  const { a } = page, busy = page.working(), row = h("div", { class: "row" });
  const on = (label, run, kind = "", props = {}) => add(row, button(label, run, kind, { disabled: busy, ...props }));
  const what = next[a.status][1];
  if (!busy) on(nextLabel(page), () => (what === "go on" ? page.say(halted(page) ? "Continue" : `Create content for artifact ${a.id}: ${a.title}`) : a.status === "published" ? page.host.edit(a.id) : page.act(what)), page.editor ? "" : "primary", { "data-testid": a.status === "draft" ? "create-content-button" : "next-button" });
  if (a.content && ["ready", "published"].includes(a.status)) on("Humanize", () => page.say("Humanize this content"), "", { title: "Revises what sounds like a machine. The text as it is stays among the versions" });
  if (/\[IMAGE: /.test(a.content) && a.status === "ready") on("Draw the images", () => page.say("now add images"));
  if (!page.editor && !["published", "archived"].includes(a.status)) on("Edit", () => page.edit());
  const more = add(h("div", { class: "row more" }), a.content ? [iconButton("copy", "Copy as Markdown", () => copy(page), { "data-testid": "copy-markdown" }), h("a", { class: "icon-button", href: `/api/artifacts/${a.id}/markdown`, target: "_self", download: `${a.title}.md`, title: "Download .md", "aria-label": "Download .md", "data-testid": "download-markdown" }, icon("download", 18))] : null,
    a.status !== "archived" ? button("Archive", () => page.act("archive"), "quiet", { disabled: busy }) : button("Delete", () => confirmed(`Delete “${a.title}”?`, "The text, its sources and its images can’t be brought back.", "Delete", () => api("DELETE", `/api/artifacts/${a.id}`).then(() => page.host.go("/portfolio"))), "quiet"));
  row.append(more);
  return row;
}

const copy = (page) => fetch(`/api/artifacts/${page.id}/markdown`).then((r) => r.text()).then((text) => navigator.clipboard.writeText(text)).then(() => page.host.toast("Copied as Markdown, with its sources as footnotes"), () => page.host.toast("The browser doesn’t allow copying. Download it instead."));

// confirmed asks before something that can't be undone.
export function confirmed(title, text, label, run) {
  const dialog = h("dialog", { role: "alertdialog", "aria-labelledby": "sure", onclose: () => dialog.remove() }, h("h2", { id: "sure" }, title), h("p", {}, text), h("div", { class: "row" }, button("Cancel", () => dialog.close()), button(label, () => (dialog.close(), run()), "danger")));
  add(document.body, dialog);
  dialog.showModal();
}
