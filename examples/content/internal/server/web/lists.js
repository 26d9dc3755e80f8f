// The pages without an artifact: login, dashboard and portfolio.

import { add, button, h, icon } from "/agent/page/dom.js";
import { count, exactly, when } from "/agent/page/format.js";
import { api } from "./api.js";
import { badge, errorCard, field, meter, panel, select, toneSelect, typeSelect } from "./cards.js";
import { words } from "./words.js";

export async function login(host) {
  const { users, model } = await api("GET", "/api/users");
  return h("main", { class: "login", id: "main" }, h("img", { src: "/agent/page/icon.svg", alt: "", width: 40, height: 40 }), h("h1", {}, words.brand), h("p", { class: "muted" }, "From an idea to an illustrated article. Who are you?"),
    h("ul", { class: "people" }, users.map((u) => h("li", {}, h("button", { type: "button", class: "person", "data-user": u.id, onclick: async () => {
      await api("POST", "/api/login", { user: u.id });
      host.enter();
    } }, h("span", { class: "initials", "aria-hidden": "true" }, u.name.split(" ").map((n) => n[0]).join("")), h("span", { class: "who" }, h("b", {}, u.name), h("span", { class: "muted small" }, u.email)), h("span", { class: "badge" }, words.plan[u.plan]))))),
    h("p", { class: "muted small" }, "This is an example: there are no passwords."),
    model ? h("p", { class: "muted small" }, words.model(model)) : null);
}

function artifactList(host, all) {
  return h("ul", { class: "artifacts" }, all.map((a) => h("li", {}, h("a", { href: `/artifacts/${a.id}` }, h("span", { class: "title" }, a.title), h("span", { class: "muted small" }, `${words.type[a.type]} · ${a.tone}`), badge(a.status), h("time", { class: "muted small", dateTime: a.updatedAt, title: exactly(new Date(a.updatedAt)) }, when(new Date(a.updatedAt)))))));
}

const nothing = (host) => h("div", { class: "empty" }, icon("file", 28), h("p", {}, "Nothing here yet. Begin with a draft, or ask the assistant for ideas."), h("div", { class: "row center" }, button("New draft", () => newDraft(host), "primary"), button("Give me topic ideas", () => host.say("Give me topic ideas for LinkedIn"))));

export async function dashboard(host) {
  const [{ artifacts }, me, about] = await Promise.all([api("GET", "/api/artifacts"), api("GET", "/api/me"), api("GET", "/api/user-context")]);
  const of = (...status) => artifacts.filter((a) => status.includes(a.status)).length;
  const numbers = [["Drafts", of("draft")], ["In progress", of("research", "skeleton", "writing", "creating_visuals")], ["Ready", of("ready")], ["Published", of("published")]];
  const limits = { 60: "Requests this minute", 3600: "Requests this hour", day: "Pipelines today", concurrent: "Pipelines at once" }; // by seconds or kind
  const parts = [["bio", "Bio"], ["expertiseAreas", "Expertise"], ["targetAudience", "Audience"], ["painPoints", "Their problems"], ["contentGoals", "Goals"]];
  const inputs = parts.map(([name, label]) => [name, label, h("textarea", { class: "input", rows: 2, maxLength: 2000, value: about[name] ?? "" })]);
  return h("main", { class: "view", id: "main" },
    h("div", { class: "head" }, h("h1", {}, `Hello, ${host.user.name.split(" ")[0]}`), button("New draft", () => newDraft(host), "primary")),
    h("dl", { class: "numbers" }, numbers.map(([name, n]) => h("div", {}, h("dt", {}, name), h("dd", {}, count(n))))),
    h("div", { class: "two" },
      panel("Recently changed", artifacts.length ? artifactList(host, artifacts.slice(0, 6)) : nothing(host)),
      h("div", { class: "stack" },
        panel(words.plan[host.user.plan], meter("Tokens this month", me.tokens.used, me.tokens.limit, `${count(me.tokens.used)} of ${count(me.tokens.limit)}`),
          me.limits.map((l) => meter(limits[l.seconds || l.kind], l.limit - l.remaining, l.limit, `${count(l.remaining)} of ${count(l.limit)} left`))),
        panel("About you", h("p", { class: "muted small" }, "Every text and every topic is made with this in mind."), h("form", { class: "stack", onsubmit: async (e) => {
          e.preventDefault();
          try {
            await api("PUT", "/api/user-context", Object.fromEntries(inputs.map(([name, , input]) => [name, input.value])));
            host.toast("Saved");
          } catch (problem) {
            host.toast(problem.message);
          }
        } }, inputs.map(([, label, input]) => field(label, input)), h("div", {}, h("button", { type: "submit", class: "button" }, "Save")))))));
}

export async function portfolio(host) {
  const wanted = new URLSearchParams(location.search).get("status") ?? "";
  const { artifacts } = await api("GET", "/api/artifacts");
  const list = h("div", {});
  const show = (status) => {
    const some = artifacts.filter((a) => (status ? a.status === status : a.status !== "archived"));
    list.replaceChildren(some.length ? artifactList(host, some) : artifacts.length ? h("p", { class: "muted empty" }, "No artifact has this status.") : nothing(host));
  };
  const filter = select([["", "All but archived"], ...Object.entries(words.status)], wanted, { "aria-label": "Status", onchange: (e) => {
    show(e.target.value);
    history.replaceState(null, "", e.target.value ? `?status=${e.target.value}` : location.pathname);
  } });
  show(wanted);
  return h("main", { class: "view", id: "main" }, h("div", { class: "head" }, h("h1", {}, "Portfolio"), filter, button("New draft", () => newDraft(host), "primary")), h("section", { class: "panel", "aria-label": "Artifacts" }, list));
}

// newDraft asks for what a draft needs.
export function newDraft(host) {
  const title = h("input", { class: "input", name: "title", required: true, maxLength: 200, autocomplete: "off" });
  const type = typeSelect("blog"), tone = toneSelect("professional"), failed = h("div", {});
  const dialog = h("dialog", { "aria-labelledby": "draft-title", onclose: () => dialog.remove() }, h("h2", { id: "draft-title" }, "New draft"), h("form", { class: "stack", onsubmit: async (e) => {
    e.preventDefault();
    try {
      const a = await api("POST", "/api/artifacts", { type: type.value, title: title.value, tone: tone.value, tags: [] });
      dialog.close();
      host.go(`/artifacts/${a.id}`);
    } catch (problem) {
      failed.replaceChildren(errorCard(problem));
    }
  } }, field("Title", title, "What the text is about. It is also the topic of the research."), field("Type", type), field("Tone", tone), failed, h("div", { class: "row" }, h("button", { type: "submit", class: "button primary" }, "Create draft"), button("Cancel", () => dialog.close()))));
  add(document.body, dialog);
  dialog.showModal();
}
