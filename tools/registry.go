package tools

import (
	"errors"
	"slices"

	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// A Registry holds tools in the order in which they were given. It never changes and is safe for concurrent use.
type Registry struct {
	list   []*Definition
	byName map[string]*Definition
	names  []string
}

// NewRegistry compiles tools. The error joins everything that is wrong with them: types no schema can be made from, bad
// and duplicate names, prerequisites that name no tool.
func NewRegistry(list ...Tool) (*Registry, error) {
	r := &Registry{byName: make(map[string]*Definition, len(list))}
	var errs []error
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
		r.list, r.byName[d.Name()], r.names = append(r.list, d), d, append(r.names, d.Name())
	}
	for _, d := range r.list {
		for _, need := range d.spec.Needs {
			if need == d.Name() {
				errs = append(errs, specError(d.Name(), "it needs itself"))
			} else if r.byName[need] == nil {
				errs = append(errs, specError(d.Name(), "it needs %q, which is no tool here%s", need, r.suggest(need)))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, nil
}

// define calls Define of a host's own Tool and contains its panics: a nil pointer in the interface, for example.
func define(t Tool) (d *Definition, err error) {
	defer contain("a tool", &err)
	d, err = t.Define()
	if err == nil && (d == nil || d.run == nil) {
		err = specError("", "Define of %T returned no Definition", t)
	}
	return d, err
}

// Lookup returns the tool with that name.
func (r *Registry) Lookup(name string) (*Definition, bool) {
	d, ok := r.byName[name]
	return d, ok
}

// All returns the tools in order. The slice mustn't be changed.
func (r *Registry) All() []*Definition { return r.list }

// Names returns the names of the tools in order.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Len returns how many tools there are.
func (r *Registry) Len() int { return len(r.list) }

// Filter returns the tools that all filters keep, in order.
func (r *Registry) Filter(keep ...Filter) []*Definition {
	var out []*Definition
	for _, d := range r.list {
		if !slices.ContainsFunc(keep, func(f Filter) bool { return !f(d) }) {
			out = append(out, d)
		}
	}
	return out
}

// Told returns what a model is told of tools, in their order.
func Told(list []*Definition) []provider.Tool {
	if len(list) == 0 {
		return nil
	}
	out := make([]provider.Tool, len(list))
	for i, d := range list {
		out[i] = d.told
	}
	return out
}

// suggest returns a clause that names the nearest known tool, or "".
func (r *Registry) suggest(name string) string {
	if near, ok := schema.Nearest(name, r.names); ok {
		return "; did you mean \"" + near + "\"?"
	}
	return ""
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

// Tagged keeps the tools that have at least one of these tags.
func Tagged(tags ...string) Filter {
	return func(d *Definition) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(d.spec.Tags, t) })
	}
}

// InCategory keeps the tools of one of these categories.
func InCategory(categories ...string) Filter {
	return func(d *Definition) bool { return slices.Contains(categories, d.spec.Category) }
}

// ReadOnly keeps the tools that change nothing.
func ReadOnly() Filter { return func(d *Definition) bool { return d.spec.ReadOnly } }

// AtMost keeps the tools whose risk isn't higher than r.
func AtMost(r Risk) Filter { return func(d *Definition) bool { return d.spec.Risk <= r } }

// Not keeps what f doesn't.
func Not(f Filter) Filter { return func(d *Definition) bool { return !f(d) } }
