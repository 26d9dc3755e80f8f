package consenttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// An Assistant is what a talk is held with. Send, Decide and Stop return when nothing is in
// progress any more. All but Send are called in the goroutine of Hold.
type Assistant interface {
	Send(turn *Turn) error
	Decide(d agent.Decision)
	Stop() // while Send is in progress
	Pending() []agent.Pause
	State() []string // lines
}

// Hold holds a talk with an assistant whose model is s. The error says what a turn does, asks or
// leaves otherwise than it should. judged is how many calls the model has judged.
func Hold(talk Talk, s *Speaker, a Assistant) (judged int, err error) {
	for _, turn := range talk.Turns {
		before := a.State()
		err := turn.hold(s, a)
		wrong, n := s.Over()
		judged += n
		if err = errors.Join(append(wrong, err)...); err == nil {
			err = turn.check(before, a.State())
		}
		if err != nil {
			return judged, fmt.Errorf("%q: %w", turn.Text, err)
		}
	}
	return judged, nil
}

// hold sends the turn, and decides what is asked.
func (turn *Turn) hold(s *Speaker, a Assistant) error {
	stuck, sent := s.Begin(turn), make(chan error, 1)
	go func() { sent <- a.Send(turn) }()
	var err error
	select {
	case <-stuck:
		a.Stop()
		err = <-sent
	case err = <-sent:
	}
	if err != nil {
		return err
	}
	asked := 0
	for pending := a.Pending(); len(pending) > 0; pending = a.Pending() {
		m, p := s.Now(), pending[0]
		about := p.Title + ": " + p.Reason
		if m == nil || m.Asks == "" || len(pending) > 1 || !strings.Contains(about, m.Asks) {
			return fmt.Errorf("it asks: %s", about)
		}
		if asked++; m.Decision == "" {
			break
		}
		a.Decide(map[string]agent.Decision{"yes": agent.Approve(p.ID), "no": agent.Reject(p.ID, m.With),
			"edit": agent.Edit(p.ID, json.RawMessage(Fill(m.With, s.Ref)))}[m.Decision])
	}
	for _, m := range turn.Moves {
		if m.Asks != "" {
			asked--
		}
	}
	if asked != 0 {
		return errors.New("it doesn't ask, or asks twice")
	}
	return nil
}

// check compares what is there before and after the turn.
func (turn *Turn) check(before, now []string) error {
	all := strings.Join(now, "\n")
	if turn.Same && !slices.Equal(before, now) {
		return fmt.Errorf("something has changed:\n%s\nis now\n%s", strings.Join(before, "\n"), all)
	}
	has := func(begin string) bool {
		return slices.ContainsFunc(now, func(line string) bool { return strings.HasPrefix(line, begin) })
	}
	for _, want := range turn.Has {
		if !has(want) {
			return fmt.Errorf("there is no %q in\n%s", want, all)
		}
	}
	for _, not := range turn.Lacks {
		if has(not) {
			return fmt.Errorf("there is %q in\n%s", not, all)
		}
	}
	return nil
}
