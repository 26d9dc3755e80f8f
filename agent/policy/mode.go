package policy

import (
	"cmp"
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// A Mode says what is permitted without a question.
type Mode string

// The modes. In all of them, what a rule denies or asks about is denied or asked about, and tools
// of high risk without Spec.AllowAlways ask.
const (
	// Plan permits tools that are read-only, and those for planning: of the Category "planning", as
	// those of agent/plan are, or with the mode "plan" in Spec.Modes. All others are denied.
	Plan Mode = "plan"
	// Ask asks about every call that isn't read-only.
	Ask Mode = "ask"
	// Edits permits calls with a preview of what they change, unless they are of high risk or name
	// a path that leads elsewhere. It asks about others that aren't read-only.
	Edits Mode = "edits"
	// Auto permits every call that can be compared with rules: no path leads elsewhere, and no URL
	// has a port or a user.
	Auto Mode = "auto"
)

func (m Mode) check() error {
	if !slices.Contains([]Mode{Plan, Ask, Edits, Auto}, m) {
		return invalid("there is no mode %q; give plan, ask, edits or auto", m)
	}
	return nil
}

const planSays = "The mode is plan: you can read, and change nothing. Say what you would do, step by step, or " +
	"submit it as a plan. A person decides whether the mode changes."

// inPlan reports whether a tool may be called in Plan.
func inPlan(s *tools.Spec) bool {
	return s.ReadOnly || s.Category == "planning" || slices.Contains(s.Modes, string(Plan))
}

// Modes returns the modes as those of an agent, for agent.Config.Modes: plan, ask, edits, auto. A
// session begins in the first of them, so a host may want another order. All tools are offered in
// each, so that a change of the mode doesn't cost the provider's prompt cache; in Plan the model is
// told what to do instead.
func (s *Set) Modes() []agent.Mode {
	return []agent.Mode{
		{Name: string(Plan), Instructions: planSays},
		{Name: string(Ask)}, {Name: string(Edits)}, {Name: string(Auto)},
	}
}

// Switch sets the mode of a session from its next call on, for hosts with Config.Mode, whose
// agent's modes are roles. The Book keeps it. It is for this session alone, not for those of its
// subagents. "" goes back to what Config.Mode says; do that when a session is deleted. Without
// Config.Mode it is an error: the agent's mode is switched instead (agent.Session.SetMode,
// Input.Mode).
func (s *Set) Switch(ctx context.Context, session string, m Mode) error {
	if s.cfg.Mode == nil {
		return invalid("Config.Mode is nil, so the agent's mode counts; switch that (agent.Session.SetMode, " +
			"Input.Mode), or set Config.Mode")
	}
	if err := m.check(); m != "" && err != nil {
		return err
	}
	return s.cfg.Book.SetMode(ctx, session, m)
}

// mode returns the mode of a call.
func (s *Set) mode(ctx context.Context, c *tools.Call) (Mode, error) {
	if m := Mode(c.Mode); s.cfg.Mode == nil {
		if m.check() != nil {
			m = Ask
		}
		return m, nil
	}
	m, err := s.cfg.Book.Mode(ctx, c.Session)
	if err == nil && m == "" {
		m = s.cfg.Mode(c)
	}
	return m, cmp.Or(err, m.check())
}

// byMode decides about a call that no rule is about.
func (m *matter) byMode(mode Mode, previews bool) tools.Verdict {
	free := grantable(m.spec)
	switch {
	case m.spec.ReadOnly || mode == Plan && free:
		return tools.Verdict{Standing: mode == Auto && m.sure}
	case !free:
		return tools.Verdict{Effect: tools.Ask, Standing: true, Reason: "this tool is of high risk"}
	case m.sure && (mode == Auto || mode == Edits && m.spec.Risk < tools.High && previews):
		return tools.Verdict{Standing: true}
	}
	return tools.Verdict{Effect: tools.Ask, Standing: true, Reason: "the mode is " + string(mode)}
}
