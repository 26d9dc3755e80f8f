package model

import (
	"fmt"
	"strings"
)

// steps returns the nodes of a plan with these calls, one after the other.
func steps(calls ...call) (nodes []any) {
	for i, c := range calls {
		after := []string{}
		if i > 0 {
			after = append(after, fmt.Sprint("s", i))
		}
		nodes = append(nodes, values{"id": fmt.Sprint("s", i+1), "tool": c.tool, "input": encoded(c.input),
			"after": after})
	}
	return nodes
}

// choose puts three plans for a page with a form before the person. Each of them leads to one.
func (t *turn) choose(r *request) (string, error) {
	r.values["slug"] = slugged(r.values["name"])
	r.values["own"] = r.values["slug"] + "-form"
	plan := func(title, why string, calls ...call) any {
		for i := range calls {
			calls[i].input = r.fill(calls[i].input).(values)
		}
		return values{"title": title, "why": why, "nodes": steps(calls...)}
	}
	page := func(kind string) call {
		return call{tool: "cms.createPage", input: values{"name": "$name",
			"sections": []any{values{"section": kind, "content": values{"title": "$text"}}}}}
	}
	text, err := t.call("carry out one of three plans", "plan.choose", values{
		"goal": r.text("the page {name} with a form"), "plans": []any{
			plan("Reuse what exists", "One step, and the form is like the others.", page("form")),
			plan("Create new", "A form for this page alone, and one more kind to look after.",
				call{tool: "cms.createSectionDef", input: values{"name": "$own", "key": "$own", "templateKey": "form",
					"elements_structure": textSlot("title")}}, page("$own")),
			plan("Copy the start page", "It looks like the start page, with a form at its end.",
				call{tool: "cms.clonePage", input: values{"source": "home", "newSlug": "$slug", "name": "$name"}},
				call{tool: "cms.addSectionToPage", input: values{"page": "$slug", "section": "form",
					"content": values{"title": "$text"}}})}})
	line := func(begin, end string) string { // the rest of the line that begins so
		_, rest, _ := strings.Cut("\n"+text, "\n"+begin)
		rest, _, _ = strings.Cut(rest, end)
		return rest
	}
	said := fmt.Sprintf("I followed the plan %q", line("# ", "\n"))
	if failed := line(`Plan "`, `"`); failed != "" {
		said += fmt.Sprintf(", a backup: the plan %q failed", failed)
	}
	return said + r.text(". The page {name} is at /{slug}."), err
}

// propose is what becomes of requests in the mode that only plans: they are tried on a copy of the
// site, and put before a person, who may have them carried out.
func (t *turn) propose() (string, error) {
	var calls []any
	said := "The plan:"
	for i, c := range t.plan {
		calls = append(calls, values{"tool": c.tool, "input": c.input})
		said += fmt.Sprintf("\n%d. %s", i+1, t.steps[i])
	}
	text, err := t.call("try the plan", "cms.validatePlan", values{"operations": calls})
	if err != nil {
		return "", err
	}
	if report := object(text); report["valid"] != true {
		said += "\nI tried it on a copy of the site, and it doesn't work:"
		for _, key := range []string{"issues", "suggestions"} {
			notes, _ := report[key].([]any)
			for _, note := range notes {
				said += fmt.Sprint("\n- ", note)
			}
		}
		return said + "\nNothing was changed.", nil
	}
	text, err = t.call("carry out the plan", "plan.submit", values{"title": strings.Join(t.steps, ", then "),
		"nodes": steps(t.plan...)})
	if err == nil && !strings.Contains(text, "status: completed") {
		err = ending(t.failure("carry out the plan", text))
	}
	return said + "\nYou approved it, and I carried it out.", err
}
