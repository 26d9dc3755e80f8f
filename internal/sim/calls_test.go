package sim

import (
	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A told is what a log says about a call.
type told struct {
	tool      string
	started   int
	permitted bool // by a decision or a rule
	result    *machine.ToolResult
	pauses    map[string]machine.PauseKind
}

// checkCalls compares what a log says about its calls with their effects. The caller holds mu.
func (s *simulation) checkCalls(l *log) {
	calls, rules, keys, decided := map[string]*told{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	texts := map[string]bool{}
	get := func(id, tool string) *told {
		if calls[id] == nil {
			calls[id] = &told{tool: tool, pauses: make(map[string]machine.PauseKind)}
		}
		return calls[id]
	}
	copied, open := false, false
	for _, f := range l.facts {
		switch f := f.(type) {
		case *machine.Snapshot:
			copied = copied || f.From != ""
			if r := f.State.Run; r != nil && len(calls) == 0 { // what came before it is gone
				open = r.IsOpen()
				for i := range r.Calls {
					get(r.Calls[i].Call.ID, r.Calls[i].Call.Name).remember(&r.Calls[i])
				}
				for _, rule := range f.State.Rules {
					rules[rule.Tool] = true
				}
			}
		case *machine.RunStarted:
			copied = f.From != ""
			if open {
				s.failLocked("%s: a run starts in a run", l.session)
			}
			if open = true; f.Key != "" && keys[f.Key] && !copied {
				s.failLocked("%s: the key %s has started two runs", l.session, f.Key)
			}
			keys[f.Key] = true
		case *machine.RunEnded:
			open = f.Status == agent.Paused
		case *machine.Steered:
			if text := f.Message.Text(); f.Key != "" && texts[text] {
				s.failLocked("%s: the message %q was delivered twice", l.session, text)
			} else {
				texts[text] = true
			}
		case *machine.Replied:
			for _, c := range f.Message.Calls() {
				get(c.ID, c.Name)
			}
		case *machine.ToolStarted:
			c := get(f.Call.ID, f.Call.Name)
			if c.started++; c.result != nil {
				s.failLocked("%s: %s%s starts after it has its result", l.session, c.tool, f.Call.Input)
			}
			if c.tool == "wire" && !c.permitted && !rules[c.tool] {
				s.failLocked("%s: %s%s starts without approval", l.session, c.tool, f.Call.Input)
			}
			if c.started > 1 && onceTools[c.tool] && !c.permitted {
				s.failLocked("%s: %s%s starts again, though nobody decided so", l.session, c.tool, f.Call.Input)
			}
		case *machine.Suspended:
			c := get(f.Pause.Call.ID, f.Pause.Call.Name)
			c.pauses[f.Pause.ID], c.permitted = f.Pause.Kind, false
			for _, nested := range f.Pause.Flat() {
				c.pauses[nested.ID] = nested.Kind
			}
		case *machine.Decided:
			s.checkDecided(l, f, calls, decided, rules)
		case *machine.RuleRevoked:
			rules[f.Tool] = false
		case *machine.ToolFinished:
			c := get(f.Call.ID, f.Call.Name)
			if c.result != nil {
				s.failLocked("%s: %s%s has two results", l.session, c.tool, f.Call.Input)
			}
			c.result = f.Result
			s.checkEffect(l, f, c, copied)
		}
	}
	for id, c := range calls {
		if c.result == nil && !open {
			s.failLocked("%s: %s %s has no result", l.session, c.tool, id)
		}
	}
}

// remember takes over what a snapshot says about the call.
func (c *told) remember(s *machine.CallState) {
	if s.Started {
		c.started = 1
	}
	c.result, c.permitted = s.Result, s.Status == machine.CallApproved
	if s.Pause != nil {
		c.pauses[s.Pause.ID] = s.Pause.Kind
		for _, nested := range s.Pause.Flat() {
			c.pauses[nested.ID] = nested.Kind
		}
	}
}

// checkDecided looks at a decision: its pause is open, and no other one was made on it.
func (s *simulation) checkDecided(l *log, f *machine.Decided, calls map[string]*told, decided, rules map[string]bool) {
	c, id := calls[f.Call], f.Decision.ID
	if c == nil || c.pauses[id] == "" {
		s.failLocked("%s: a decision on %s, which isn't open", l.session, id)
		return
	}
	if decided[id] {
		s.failLocked("%s: two decisions on %s", l.session, id)
	}
	decided[id] = true
	switch f.Decision.Kind {
	case machine.Approved, machine.Edited, machine.AnswerGiven:
		c.permitted = true
	case machine.AlwaysAllow:
		c.permitted, rules[c.tool] = true, true
	}
}

// checkEffect compares the result of a call with its effect.
func (s *simulation) checkEffect(l *log, f *machine.ToolFinished, c *told, copied bool) {
	key := f.IdempotencyKey
	if key == "" {
		key = f.Call.ID
	}
	effects := len(s.effects[key])
	acts := onceTools[c.tool] || c.tool == "mark" || c.tool == "slow" || c.tool == "flaky"
	switch {
	case f.Result.Status == tools.OK && acts && effects == 0:
		s.failLocked("%s: %s%s is ok, but has had no effect", l.session, c.tool, f.Call.Input)
	case c.started == 0 && effects > 0 && !copied && key == f.Call.ID:
		s.failLocked("%s: %s%s wasn't started, and has had an effect", l.session, c.tool, f.Call.Input)
	case f.Result.Status == tools.OK && acts && c.started == 0:
		s.failLocked("%s: %s%s is ok, but wasn't started", l.session, c.tool, f.Call.Input)
	}
}
