package cmstools

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/tools"
)

//go:embed tools.json
var text []byte

// A table is what models and people read about the tools.
type table struct {
	Properties map[string]map[string]any // their schemas
	Tools      map[string]row
}

// A row is about one tool.
type row struct {
	Does string // for the model
	Risk tools.Risk
	// Titles say what a call does, and Asks why it needs approval: the first one whose condition
	// holds for the input: properties that it has (name, name=value, or several with & between
	// them). What is in braces is a property, shown by the name of what it refers to. Parts are
	// what else a call may do, and every one that holds is said: see title.
	Titles, Parts, Asks [][2]string
	Bulk                string   // a property with things of which a call may have few without approval
	Modes               []string // in which it can be called; none: Edit and Debug
	// Words are the descriptions of properties, and Enums their values, where they differ here.
	Words map[string]string
	Enums map[string][]string
}

// theTable is the table of tools.json.
var theTable = sync.OnceValue(func() (t table) {
	if err := json.Unmarshal(text, &t); err != nil {
		panic(err) // the file is tested
	}
	return t
})

// first returns the text of the first condition that holds for an input.
func first(texts [][2]string, input map[string]any) string {
	for _, t := range texts {
		if holds(t[0], input) {
			return t[1]
		}
	}
	return ""
}

func holds(condition string, input map[string]any) bool {
	for c := range strings.SplitSeq(condition, "&") {
		name, want, valued := strings.Cut(c, "=")
		if value, ok := input[name]; c != "" && (!ok || valued && fmt.Sprint(value) != want) {
			return false
		}
	}
	return true
}

// title says all that a call does. One part alone may have a title of its own, with the same
// condition.
func (r row) title(input map[string]any) string {
	var parts [][2]string
	for _, p := range r.Parts {
		if holds(p[0], input) {
			parts = append(parts, p)
		}
	}
	own := slices.DeleteFunc(slices.Clone(r.Titles), func(t [2]string) bool { // the titles of parts
		return slices.ContainsFunc(r.Parts, func(p [2]string) bool { return p[0] == t[0] })
	})
	text := first(own, input)
	for i, p := range parts {
		at := slices.IndexFunc(r.Titles, func(t [2]string) bool { return t[0] == p[0] })
		if len(parts) == 1 && at >= 0 {
			return r.Titles[at][1]
		}
		text += []string{": ", ", "}[min(i, 1)] + p[1]
	}
	return text
}

// specOf returns the spec of a tool with a type of inputs.
func specOf[In any](name string) tools.Spec {
	r := theTable().Tools[name]
	properties := map[string]any{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for field := range t.Fields() {
			property, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if property == "" {
				add(field.Type)
				continue
			}
			schema := map[string]any{}
			for key, v := range theTable().Properties[property] {
				schema[key] = v
			}
			if word := r.Words[property]; word != "" {
				schema["description"] = word
			}
			if values := r.Enums[property]; values != nil {
				schema["enum"] = values
			}
			properties[property] = schema
		}
	}
	add(reflect.TypeFor[In]())
	schema, _ := json.Marshal(map[string]any{"properties": properties}) // it comes from JSON
	return tools.Spec{Name: name, Description: r.Does, Category: "cms", Risk: r.Risk, Schema: schema,
		Modes: slices.Clone(r.Modes)}
}
