// The dashboard: what is next for the user, what is in progress, ideas, limits, and what texts are to know about the user.

import { button, h, icon } from "/agent/page/dom.js";
import { count } from "/agent/page/format.js";
import { api } from "./api.js";
import { badge, field, meter, panel } from "./cards.js";
import { artifactList, newDraft, nothing } from "./lists.js";
import { words } from "./words.js";

const order = ["ready", "creating_visuals", "writing", "skeleton", "research"];

// dashboard shows what there is, and again what the assistant has changed.
export async function dashboard(host, chat) {
  const w = words.dashboard, about = aboutYou(host, await api("GET", "/api/user-context")), waits = h("div", {}), numbers = h("dl", { class: "numbers" }), list = h("div", { class: "stack" }), limits = h("div", {});
  const todo = (a) => h("li", {}, h("a", { href: `/artifacts/${a.id}` }, h("span", { class: "title" }, a.title), h("span", { class: "muted small" }, words.next[a.status]), badge(a.status)));
  let was = "";
  const load = async () => {
    const got = await Promise.all([api("GET", "/api/artifacts"), api("GET", "/api/me")]), [{ artifacts }, me] = got;
    if (was === (was = JSON.stringify(got))) return; // what has the focus stays
    const of = (...status) => artifacts.filter((a) => status.includes(a.status)), drafts = of("draft").slice(0, 4);
    const counts = [of("draft"), of("research", "skeleton", "writing", "creating_visuals"), of("ready"), of("published")];
    const next = of(...order).sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status)).slice(0, 5);
    numbers.hidden = artifacts.length === 0;
    numbers.replaceChildren(...w.numbers.map((name, i) => h("div", {}, h("dt", {}, name), h("dd", {}, count(counts[i].length)))));
    list.replaceChildren(...(artifacts.length ? [
      panel(w.next, next.length ? h("ul", { class: "artifacts todo" }, next.map(todo)) : h("p", { class: "muted" }, w.nothing)),
      panel(w.ideas, h("div", { class: "row between" }, h("p", { class: "muted small" }, w.ideasText), button(w.find, () => host.say(words.ideas))), drafts.length ? h("ul", { class: "artifacts todo" }, drafts.map(todo)) : null),
      panel(w.recent, artifactList(artifacts.slice(0, 6)))] : [h("section", { class: "panel" }, nothing(host))]));
    limits.replaceChildren(panel(words.plan[host.user.plan], meter(words.limits.tokens, Math.max(0, me.tokens.limit - me.tokens.used), me.tokens.limit, words.left(count(Math.max(0, me.tokens.limit - me.tokens.used)), count(me.tokens.limit))),
      me.limits.map((l) => meter(words.limits[l.seconds || l.kind], l.remaining, l.limit, words.left(count(l.remaining), count(l.limit))))));
  };
  const asked = () => waits.replaceChildren(...(chat.page.model.asked().length ? [h("p", { class: "waits row between" }, icon("question", 18), h("b", {}, w.decide), button(w.open, () => (host.toggleChat(true), chat.page.conversation.firstOpen()?.focus())))] : []));
  host.waiting = () => (asked(), load().catch(() => {})); // the chat says what is wrong
  asked();
  await load();
  return h("main", { class: "view", id: "main" }, h("div", { class: "head" }, h("h1", {}, w.hello(host.user.name.split(" ")[0])), button(words.newDraft.open, () => newDraft(host), "primary")), waits, numbers,
    h("div", { class: "two" }, list, h("div", { class: "stack" }, limits, about)));
}

function aboutYou(host, about) {
  const w = words.dashboard;
  const inputs = w.parts.map(([name, label]) => [name, label, h("textarea", { class: "input", rows: 2, maxLength: 2000, value: about[name] ?? "" })]);
  return panel(w.about, h("p", { class: "muted small" }, w.aboutText), h("form", { class: "stack", onsubmit: (e) => {
    e.preventDefault();
    api("PUT", "/api/user-context", Object.fromEntries(inputs.map(([name, , input]) => [name, input.value]))).then(() => host.toast(words.saved), (problem) => host.toast(problem.message));
  } }, inputs.map(([, label, input]) => field(label, input)), h("div", {}, h("button", { type: "submit", class: "button" }, w.save))));
}
