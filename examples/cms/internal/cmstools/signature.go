package cmstools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
)

// A shape is what a schema says about the form of a value.
type shape struct {
	Type       string
	Enum       []any
	Required   []string
	Properties map[string]shape
	Items      *shape
}

// signatures says how the tools that write are called, for models that plan with them and aren't
// offered them: a line for each, and one for each of their properties. That has a tenth of the
// characters of the schemas.
var signatures = sync.OnceValue(func() string {
	var calls []string
	about := map[string]string{}
	for _, t := range operations(Config{}) {
		d, err := t.Define()
		var s shape
		if err != nil || d.Spec().ReadOnly || json.Unmarshal(d.Tool().Schema, &s) != nil {
			continue // NewRegistry says what is wrong
		}
		delete(s.Properties, "prune") // it can only be left out
		calls = append(calls, strings.Replace(d.Name(), ".", "_", 1)+" "+s.form(false))
		for name, p := range s.Properties {
			about[name], _ = theTable().Properties[name]["description"].(string)
			if form := p.form(true); strings.Contains(form, "{") && form != "{}" {
				about[name] += ", " + form
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(about)) {
		calls = append(calls, name+": "+about[name])
	}
	return strings.Join(calls, "\n")
})

// form returns a value in short. Properties with a question mark may be left out, and texts have no
// type; what is in properties is left out unless it is deep.
func (s shape) form(deep bool) string {
	switch {
	case len(s.Enum) > 0:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", "|"), "[]")
	case s.Items != nil:
		return "[" + s.Items.form(deep) + "]"
	case s.Type != "object":
		return s.Type
	}
	names := slices.Concat(s.Required, slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)),
		func(name string) bool { return slices.Contains(s.Required, name) }))
	for i, name := range names {
		p := s.Properties[name]
		if !slices.Contains(s.Required, name) {
			names[i] += "?"
		}
		if form := p.form(deep); form != "string" && (deep || !strings.ContainsAny(form, "[{")) {
			names[i] += ": " + form
		}
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// Names are hooks that let plans name tools as models read their names. Providers take no dots, so
// that is cms_createPage for cms.createPage.
func Names() agent.Hooks {
	return agent.Hooks{Name: "names", BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
		if strings.HasPrefix(c.Name, "plan.") || c.Name == ValidatePlan {
			c.Input = sentName.ReplaceAll(c.Input, []byte("${1}cms."))
		}
		return nil
	}}
}

var sentName = regexp.MustCompile(`("tool"\s*:\s*")cms_`)
