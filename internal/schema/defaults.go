package schema

import (
	"errors"
	"fmt"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// maxDefault limits a default in canonical form, because defaults within defaults can grow without
// limit.
const maxDefault = 64 << 10

var errDefault = errors.New("it contains itself, or more than 64 KiB of other defaults")

// A settler converts the defaults of a document to canonical form, once. It drops a default that
// its own schema rejects, or that is endless.
type settler struct {
	s       *Schema
	part    func(pointer string) (*validator.Schema, error)
	state   map[*property]bool // false while its default is being settled
	refused error              // the error of the first dropped default
}

// settle converts the default of a property. The reader calls it for defaults that are missing in
// other defaults.
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
	r := reader{in: p.fallback, settle: s.settle}
	err := r.run(p.node)
	if err == nil && r.length() > maxDefault {
		err = errDefault
	}
	if err == nil {
		err = s.check(p, r.output())
	}
	switch {
	case err != nil:
		s.drop(p, err)
	case p.fallback != nil: // not dropped in the meantime
		p.fallback = r.output()
	}
	s.state[p] = true
}

func (s *settler) drop(p *property, err error) {
	if s.refused == nil {
		s.refused = fmt.Errorf("the default of %s (%s): %w", quoteShort(p.name), shorten(p.fallback, shownBytes), err)
	}
	p.fallback = nil
}

func (s *settler) check(p *property, text []byte) error {
	full, err := s.part("#" + p.pointer)
	if err != nil {
		return err
	}
	return s.s.judge(full, text)
}
