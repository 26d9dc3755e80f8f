package schema

import (
	"errors"
	"fmt"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// maxDefault bounds a default in canonical form: defaults within defaults can grow without measure.
const maxDefault = 64 << 10

var errDefault = errors.New("it contains itself, or more than 64 KiB of other defaults")

// A settler brings the defaults of a graph of nodes into canonical form, once. A default that its own schema refuses, or
// that has no end, is dropped.
type settler struct {
	part    func(pointer string) (*validator.Schema, error)
	state   map[*property]bool // false while it is in work
	refused error              // the first
}

// settle settles the defaults of all nodes. It returns why the first of those that it had to drop was no default.
func (b *nodes) settle(part func(pointer string) (*validator.Schema, error)) error {
	s := settler{part: part, state: map[*property]bool{}}
	for _, n := range b.all {
		for i := range n.properties {
			s.settle(&n.properties[i])
		}
	}
	for _, n := range b.all {
		for i, p := range n.properties {
			if p.fallback != nil && i < 64 {
				n.defaults |= 1 << i
			}
		}
	}
	return s.refused
}

// settle is called for each property, and by the rewriter for those that are missing in the default of another.
func (s *settler) settle(p *property) {
	done, begun := s.state[p]
	if p.fallback == nil || done {
		return
	}
	if begun {
		s.drop(p, errDefault)
		return
	}
	s.state[p] = false
	r := rewriter{in: p.fallback, settle: s.settle}
	err := r.run(p.node)
	if err == nil && len(r.out) > maxDefault {
		err = errDefault
	}
	if err == nil {
		err = s.check(p, r.out)
	}
	switch {
	case err != nil:
		s.drop(p, err)
	case p.fallback != nil: // not dropped on the way
		p.fallback = r.out
	}
	s.state[p] = true
}

func (s *settler) drop(p *property, err error) {
	p.fallback = nil
	if s.refused == nil {
		s.refused = fmt.Errorf("the default of %s: %w", quoteShort(p.name), err)
	}
}

func (s *settler) check(p *property, text []byte) error {
	full, err := s.part("#" + p.pointer)
	if err != nil {
		return err
	}
	v, err := decode(text)
	if err != nil {
		return err
	}
	var invalid *validator.ValidationError
	if err := apply(full, v); errors.As(err, &invalid) {
		return errors.New("it doesn't fit its own schema")
	} else if err != nil {
		return err
	}
	return nil
}
