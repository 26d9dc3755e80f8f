package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	planTitle  = regexp.MustCompile(`(?m)^# (.*)$`)
	planFailed = regexp.MustCompile(`(?m)^Plan "([^"]*)"`)
	planAnswer = regexp.MustCompile(`(?m)^create answered: (.*)$`)
)

// choose puts three ways to a page with a section before a person.
func (t *turn) choose(o *operation) move {
	var plans []any
	for _, w := range table.Ways {
		var nodes []any
		for _, n := range w.Nodes {
			input, _ := json.Marshal(o.value(n.Input))
			nodes = append(nodes, map[string]any{"id": n.ID, "tool": n.Tool, "input": string(input), "after": n.After})
		}
		plans = append(plans, map[string]any{"title": w.Title, "why": o.fill(w.Why), "nodes": nodes})
	}
	i := slices.IndexFunc(t.past, func(c call) bool { return c.tool == "plan.choose" })
	if i < 0 {
		return move{think: "I propose three plans.", calls: []call{{tool: "plan.choose",
			input: map[string]any{"goal": o.fill("the page {{.name}} with a {{.way}}"), "plans": plans}}}}
	}
	came := t.past[i].result
	title, answer := planTitle.FindStringSubmatch(came), planAnswer.FindStringSubmatch(came)
	if t.past[i].failed || title == nil || answer == nil {
		return move{text: failed("create the page", came, false)}
	}
	said := fmt.Sprintf("I followed the plan %q", title[1])
	if was := planFailed.FindStringSubmatch(came); was != nil && was[1] != title[1] {
		said += fmt.Sprintf(", a backup: the plan %q failed", was[1])
	}
	return move{text: said + fmt.Sprintf(". The page %q is at /%v.", o.slots["name"], object(answer[1])["slug"])}
}

// onlyPlan is what becomes of operations in a mode that doesn't have their tools: a plan that is
// tried on a copy of the site, and then put before a person.
func (t *turn) onlyPlan(ops []*operation, lacks string) move {
	if !t.offered["cms.validatePlan"] {
		return move{text: fmt.Sprintf("I can't do that here: it needs %s, which isn't available in this mode. The mode Edit has it.", lacks)}
	}
	var calls, nodes []any
	var list strings.Builder
	for i, o := range ops {
		if o.from > 0 {
			o.input["page"] = slugged(ops[o.from-1].slots["name"])
		}
		calls = append(calls, map[string]any{"tool": o.tool(), "input": o.input})
		input, _ := json.Marshal(o.input) // it is made of texts and numbers
		node := map[string]any{"id": fmt.Sprintf("s%d", i+1), "tool": o.tool(), "input": string(input)}
		if i > 0 {
			node["after"] = []string{fmt.Sprintf("s%d", i)}
		}
		nodes = append(nodes, node)
		fmt.Fprintf(&list, "%d. %s\n", i+1, o.fill(o.form.Doing))
	}
	checked, ok := t.read("cms.validatePlan", map[string]any{"operations": calls})
	if !ok {
		return move{}
	}
	report := object(checked)
	said := "The plan:\n" + list.String() + "I tried it on a copy of the site, and it "
	if report["valid"] != true {
		said += "doesn't work:"
		for _, key := range []string{"issues", "suggestions"} {
			issues, _ := report[key].([]any)
			for _, issue := range issues {
				said += map[string]string{"issues": "\n- ", "suggestions": "\nNote: "}[key] + fmt.Sprint(issue)
			}
		}
		return move{text: cmp.Or(said, checked) + "\nNothing was changed."}
	}
	if t.offered["plan.submit"] {
		came, ok := t.read("plan.submit", map[string]any{"title": ops[0].fill(ops[0].form.Doing), "nodes": nodes})
		if !ok {
			return move{}
		}
		return move{text: said + "works.\n" + came}
	}
	return move{text: said + "works.\nNothing was changed. In the mode Edit I carry it out."}
}
