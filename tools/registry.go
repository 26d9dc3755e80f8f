package tools

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// A Registry holds tools in the order in which they were given. It never changes and is safe for
// concurrent use.
type Registry struct {
	list   []*Definition
	loaded []*Definition // those that aren't lazy
	byName map[string]*Definition
}

// MaxShown is how many bytes the names, descriptions and schemas of the tools of a [Registry] may
// have together, with those of lazy tools: 8 MiB. That is more than a request can have.
const MaxShown = 8 << 20

// NewRegistry compiles tools. The error joins all mistakes in them: types that have no schema, bad
// and duplicate names, prerequisites that name no tool or form a cycle. If they have more than
// [MaxShown] bytes together, it says from which tool on, and those after it aren't compiled.
func NewRegistry(list ...Tool) (*Registry, error) {
	r := &Registry{byName: make(map[string]*Definition, len(list))}
	var errs []error
	shown := 0
	for i, t := range list {
		if t == nil {
			errs = append(errs, specError("", "tool %d is nil", i))
			continue
		}
		d, err := define(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if r.byName[d.Name()] != nil {
			errs = append(errs, specError(d.Name(), "two tools have this name"))
			continue
		}
		if shown += len(d.shown.Name) + len(d.shown.Description) + len(d.shown.Schema); shown > MaxShown {
			return nil, errors.Join(append(errs, specError(d.Name(), "it is tool %d of %d, and the descriptions and "+
				"schemas of the tools up to it have %d bytes; all of them may have %d. Give fewer tools, or shorter "+
				"descriptions and schemas", i+1, len(list), shown, MaxShown))...)
		}
		r.list, r.byName[d.Name()] = append(r.list, d), d
		if !d.Lazy() {
			r.loaded = append(r.loaded, d)
		}
	}
	for _, d := range r.list {
		for _, need := range d.spec.Requires {
			if r.byName[need] == nil {
				errs = append(errs,
					specError(d.Name(), "it needs %q, which is no tool here%s", need, suggest(need, r.list)))
			}
		}
		if r.needs(d, d.Name(), make(map[string]bool)) {
			errs = append(errs,
				specError(d.Name(), "it needs itself, directly or by way of others, and so can never be called"))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, nil
}

// needs reports whether tool is among the prerequisites of d, and theirs.
func (r *Registry) needs(d *Definition, tool string, seen map[string]bool) bool {
	return slices.ContainsFunc(d.spec.Requires, func(need string) bool {
		if need == tool {
			return true
		}
		next := r.byName[need]
		if next == nil || seen[need] {
			return false
		}
		seen[need] = true
		return r.needs(next, tool, seen)
	})
}

// define calls Define of a host's own Tool and contains its panics: a nil pointer in the interface,
// for example.
func define(t Tool) (d *Definition, err error) {
	defer contain(fmt.Sprintf("Define of %T", t), &err)
	d, err = t.Define()
	if err == nil && (d == nil || d.run == nil) {
		err = specError("", "Define of %T returned no Definition", t)
	}
	return d, err
}

// Lookup returns the tool with that name.
func (r *Registry) Lookup(name string) (*Definition, bool) {
	if r == nil {
		return nil, false
	}
	d, ok := r.byName[name]
	return d, ok
}

// All returns the tools in order. The slice mustn't be changed.
func (r *Registry) All() []*Definition {
	if r == nil {
		return nil
	}
	return r.list
}

// Names returns the names of the tools in order.
func (r *Registry) Names() []string { return names(r.All()) }

// Len returns how many tools there are.
func (r *Registry) Len() int { return len(r.All()) }

// Filter returns the tools that all filters keep, in order. The result is never nil, which
// elsewhere means all tools. A nil filter keeps every tool.
func (r *Registry) Filter(keep ...Filter) []*Definition {
	out := make([]*Definition, 0, r.Len())
	for _, d := range r.All() {
		if !slices.ContainsFunc(keep, func(f Filter) bool { return f != nil && !f(d) }) {
			out = append(out, d)
		}
	}
	return out
}

// ProviderTools returns the definitions that a model is shown, in the order of the tools.
func ProviderTools(list []*Definition) []provider.Tool {
	if len(list) == 0 {
		return nil
	}
	out := make([]provider.Tool, len(list))
	for i, d := range list {
		out[i] = d.shown
	}
	return out
}

// suggest returns a clause that names the tool of list with the nearest name, or "".
func suggest(name string, list []*Definition) string {
	if near, ok := schema.Nearest(name, names(list)); ok {
		return "; did you mean \"" + near + "\"?"
	}
	return ""
}

func names(list []*Definition) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.spec.Name
	}
	return out
}

// A Filter keeps some of the tools.
type Filter func(*Definition) bool

// InMode keeps the tools that may be called in a mode.
func InMode(mode string) Filter {
	return func(d *Definition) bool { return d.spec.InMode(mode) }
}

// Named keeps the tools with one of these names.
func Named(names ...string) Filter {
	return func(d *Definition) bool { return slices.Contains(names, d.spec.Name) }
}

// ReadOnly keeps the tools that change nothing.
func ReadOnly() Filter { return func(d *Definition) bool { return d.spec.ReadOnly } }

// AtMost keeps the tools whose risk isn't higher than r.
func AtMost(r Risk) Filter { return func(d *Definition) bool { return d.spec.Risk <= r } }

// Not keeps the tools that f doesn't keep: none if f is nil.
func Not(f Filter) Filter { return func(d *Definition) bool { return f != nil && !f(d) } }
