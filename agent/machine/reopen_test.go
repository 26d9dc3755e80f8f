package machine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
)

// reopen gives the pause of a call another id, and reports whether there was one.
func (s *sim) reopen() bool {
	r := s.m.State().Run
	var own []*machine.CallState
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Status == machine.CallSuspended && c.Pause.Kind != machine.PauseAgent {
			own = append(own, c)
		}
	}
	if len(own) == 0 {
		return false
	}
	if r.Status == machine.Paused {
		s.apply(&machine.Continued{Meta: s.meta("")})
	}
	c := pick(s, own...)
	s.apply(&machine.Suspended{Meta: s.meta(c.Call.ID), Pause: c.Reopened(s.m.State().Session, s.text())})
	return true
}

// badlyReopened returns facts that replace the pause of a call, and that aren't legal, by what is
// wrong.
func badlyReopened(session string, c *machine.CallState) map[string]machine.Fact {
	if c.Pause.Kind == machine.PauseAgent {
		return map[string]machine.Fact{
			"another id for the pause of a subagent": &machine.Suspended{Pause: c.Reopened(session, "why")}}
	}
	bad := map[string]func(p *machine.Pause){
		"the same id again":                func(p *machine.Pause) { p.ID = c.Pause.ID },
		"no new id":                        func(p *machine.Pause) { p.ID = "" },
		"a replacement of another pause":   func(p *machine.Pause) { p.Replaces = []string{"p-0"} },
		"a replacement of another kind":    func(p *machine.Pause) { p.Kind += "x" },
		"a replacement with another input": func(p *machine.Pause) { p.Call.Input = json.RawMessage(`{"n":666}`) },
		"a replacement that expires later": func(p *machine.Pause) { p.Expires = p.Expires.Add(time.Hour) },
		"a replacement that runs again":    func(p *machine.Pause) { p.Again = !p.Again },
		"a replacement with nested pauses": func(p *machine.Pause) {
			p.Nested = []machine.Pause{{ID: "p-1", Kind: "question"}}
		},
		"a replacement of the call's former": func(p *machine.Pause) { p.Replaces = []string{p.ID} },
	}
	out := make(map[string]machine.Fact, len(bad))
	for why, change := range bad {
		p := c.Reopened(session, "why")
		change(&p)
		out[why] = &machine.Suspended{Pause: p}
	}
	out["a replacement with a state"] = &machine.Suspended{Pause: c.Reopened(session, "why"),
		State: json.RawMessage(`1`)}
	return out
}

func TestAPauseThatOpensAgainIsTheSameUnderAnIDThatNeverWas(t *testing.T) {
	reopened, decided := 0, 0
	eachLog(t, 40, func(t *testing.T, s *sim) {
		ids := make(map[string]string) // calls by the ids of their own pauses
		var old *machine.CallState
		s.before = func(f machine.Fact) {
			if f, ok := f.(*machine.Suspended); ok && len(f.Pause.Replaces) > 0 {
				c := *s.m.State().Run.Call(f.Meta.Call)
				old = &c
			}
		}
		s.after = func(f machine.Fact) {
			switch f := f.(type) {
			case *machine.Suspended:
				require.Empty(t, ids[f.Pause.ID], "an id was used again")
				ids[f.Pause.ID] = f.Meta.Call
				if len(f.Pause.Replaces) == 0 {
					return
				}
				reopened++
				was, run := old.Pause.ID, s.m.State().Run
				now := run.Call(f.Meta.Call)
				require.Equal(t, f.Pause, *now.Pause)
				require.Equal(t, f.Pause.ID,
					machine.PauseID(s.m.State().Session, now.Call, now.Pause.Kind, now.Pauses-1, ""))
				require.Contains(t, s.m.State().Used, was)
				require.Equal(t, f.Pause.ID, run.Replacement(was).ID)
				gone, _ := run.Suspended(was)
				require.Nil(t, gone)
				same := *now
				pause := *now.Pause
				pause.ID, pause.Replaces, pause.Refused = was, old.Pause.Replaces, old.Pause.Refused
				same.Pause, same.Pauses = &pause, old.Pauses
				require.Equal(t, *old, same, "nothing else about the call has changed")
			case *machine.Decided:
				if c := s.m.State().Run.Call(f.Meta.Call); c != nil && c.Pauses > 1 {
					decided++
				}
				require.Nil(t, s.m.State().Run.Replacement(f.Decision.ID))
			}
		}
	})
	require.Greater(t, reopened, 50)
	require.Greater(t, decided, 20)
}

func TestAPauseKeepsTheNewestSixteenOfItsEarlierIDs(t *testing.T) {
	b := inRun(t)
	b.add(&machine.StepStarted{Meta: step(1)}, replyWith("tool_calls", b.call(0)), suspendCall(b.call(0)))
	ids := []string{"p-" + b.call(0).ID}
	for i := range 20 {
		p := b.m.State().Run.Calls[0].Reopened("s-1", fmt.Sprint("why ", i))
		b.add(&machine.Suspended{Meta: machine.Meta{Call: b.call(0).ID}, Pause: p})
		ids = append(ids, p.ID)
	}
	p := b.m.State().Run.Pending()[0]
	require.Equal(t, ids[4:20], p.Replaces)
	require.Equal(t, "why 19", p.Refused)
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 21)
}
