package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/tools"
)

// Check returns what the host should know about its tools: those whose command is one text, which
// no rule allows, those of high risk without Spec.AllowAlways, which ask in every mode and can't be
// granted, and rules that are about none of the tools. Log it at the start. Tools of sources aren't
// known before they are listed.
func (s *Set) Check(list ...tools.Tool) (notes []string) {
	var names []string
	for _, t := range list {
		d, err := t.Define()
		if err != nil { // agent.New returns it
			continue
		}
		names = append(names, d.Name())
		if !d.Spec().ReadOnly && !grantable(d.Spec()) {
			notes = append(notes, d.Name()+" is of high risk, so it asks in every mode, and can't be granted without "+
				"Spec.AllowAlways")
		}
		if member := s.textOf(d); member != "" {
			notes = append(notes, fmt.Sprintf("the command of %s is one text, %q: rules that deny or ask see the words of "+
				"plain texts, and match all others, and no rule allows one; take the program and its arguments as a list, "+
				"or set Config.Subjects", d.Name(), member))
		}
	}
	for _, r := range slices.Concat(s.cfg.Rules.Hard, s.cfg.Rules.Rules) {
		if !slices.ContainsFunc(names, r.about) {
			notes = append(notes, fmt.Sprintf("a rule is about %q, and no tool has such a name", r.Tool))
		}
	}
	return notes
}

// textOf returns the member of a tool's input that is a command as one text, or "": one that says
// so by its name, or any text if a rule about words names the tool.
func (s *Set) textOf(d *tools.Definition) string {
	if s.cfg.Subjects[d.Name()] != nil {
		return ""
	}
	sample, _ := json.Marshal(sampleOf("", d.Tool().Schema, 0))
	of, err := defaultSubject(sample, nil)
	scope, ok := d.Scope(sample)
	switch {
	case err != nil:
		return ""
	case len(of.Texts) > 0:
		return of.Texts[0]
	case len(of.others) > 0 && len(of.Args) == 0 && scope == "" && ok &&
		takesWords(d.Name(), slices.Concat(s.cfg.Rules.Hard, s.cfg.Rules.Rules)):
		return of.others[0]
	}
	return ""
}

// declaredBy has the members that a tool's schema declares as its keys.
func declaredBy(d *tools.Definition) map[string]any {
	members, _ := sampleOf("", d.Tool().Schema, 0).(map[string]any)
	return members
}

// sampleOf returns an input for a schema in which each text is the name of its member. What it
// doesn't know may be a text.
func sampleOf(name string, schema json.RawMessage, depth int) any {
	const deepest = 20
	var s struct {
		Type                any
		Properties          map[string]json.RawMessage
		Items               json.RawMessage
		AnyOf, OneOf, AllOf []json.RawMessage
	}
	if json.Unmarshal(schema, &s) != nil || depth > deepest {
		return nil
	}
	object := make(map[string]any)
	var other any
	for _, one := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		switch v := sampleOf(name, one, depth+1).(type) {
		case map[string]any:
			maps.Copy(object, v)
		case string:
			other = v
		case []any:
			if other == nil {
				other = v
			}
		}
	}
	for inner, of := range s.Properties {
		object[inner] = sampleOf(inner, of, depth+1)
	}
	types := fmt.Sprint(s.Type) // one, or a list
	switch {
	case len(object) > 0 || strings.Contains(types, "object"):
		return object
	case other != nil:
		return other
	case strings.Contains(types, "string"):
		return name
	case strings.Contains(types, "array"):
		return []any{sampleOf(name, s.Items, depth+1)}
	case s.Type == nil && len(s.AnyOf)+len(s.OneOf)+len(s.AllOf) == 0:
		return name
	}
	return nil
}
