// Dead letters: runs that have failed for good.

import { button, h, icon } from "/page/dom.js";
import { count, exactly, when } from "/page/format.js";
import { api, confirm } from "./parts.js";

export class Dead {
  title = "Dead letters";
  source = "/events?view=dead";

  constructor(host) {
    this.host = host;
    this.list = h("ul", { class: "dead" });
    this.element = h("main", { class: "view", id: "main", tabIndex: -1 }, h("div", { class: "head" }, h("h1", {}, this.title)), h("p", { class: "muted lead" }, "Runs that have failed for good. A retry goes on where the run failed: nothing that it has done is done again."), this.list);
  }

  update(all) {
    const known = JSON.stringify(all);
    if (known === this.known) return;
    this.known = known;
    this.list.replaceChildren(...(all.length ? all.map((d) => this.item(d)) : [h("li", { class: "empty panel" }, icon("check", 28), h("p", {}, "No run has failed for good. The topic “fishing quotas” fails at first."))]));
  }

  item(d) {
    const failed = h("p", { class: "error-text", role: "alert" });
    const act = (method, path, done) => async () => {
      try {
        await api(method, `/runs/${d.id}${path}`);
        this.host.toast(done);
      } catch (problem) {
        failed.textContent = problem.message;
      }
    };
    const purge = act("DELETE", "", "The run is purged.");
    return h("li", { class: "panel" }, h("div", { class: "what" }, h("a", { href: `/show/${d.id}` }, d.topic), h("p", { class: "reason" }, icon("warning", 16), d.reason), h("p", { class: "muted small" }, `Failed ${when(new Date(d.updated))} in model call ${count(d.steps)} · retried ${d.retries} of 3 times`, d.stays ? ` · ${d.stays}` : "", h("time", { class: "hidden-visually", dateTime: new Date(d.updated).toISOString() }, exactly(d.updated))), failed),
      h("div", { class: "row" }, d.stays ? null : button("Retry", act("POST", "/retry", "The run is queued again."), "primary"), button("Purge", async () => (await confirm("Purge the run?", "The run and its report are deleted for good.", "Purge it")) && purge())));
  }
}
