package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// rolesTimeout is how long Config.Roles has. If it ignores the end of its context, it is abandoned
// after the grace period of a call.
const rolesTimeout = 10 * time.Second

// A deciding is what is known while decisions are taken: the tools of the run, and the roles that
// were asked for, so that one decision asks once.
type deciding struct {
	agent *Agent
	set   *toolset
	roles map[string][]string
}

type decidingKey struct{}

func decidingIn(ctx context.Context) *deciding {
	d, _ := ctx.Value(decidingKey{}).(*deciding)
	return d
}

// rolesOf asks Config.Roles. The error is a *[RolesError].
func (a *Agent) rolesOf(ctx context.Context, session, user string) (roles []string, err error) {
	memo, key := decidingIn(ctx), fmt.Sprintf("%p %q %q", a, session, user) // a subagent has its own
	if memo != nil {
		if roles, ok := memo.roles[key]; ok {
			return roles, nil
		}
	}
	if a.cfg.Roles == nil {
		err = fault.New(fault.Permanent, "this agent has no Config.Roles; set it, or decide where the agent has it")
	} else {
		ctx, cancel := context.WithTimeout(withoutRun(ctx), rolesTimeout)
		defer cancel()
		roles, err = abandonable(ctx, a, "Config.Roles", session,
			func() ([]string, error) { return a.cfg.Roles(ctx, session, user) })
	}
	if err != nil {
		return nil, &RolesError{Session: session, User: user, Err: usable(err)}
	}
	if memo != nil {
		memo.roles[key] = roles
	}
	return roles, nil
}

// mayDecide returns nil if a user may decide on calls of a tool, a *[DecisionError] if they may
// not, and a *[RolesError] if that isn't known now. session is the one that Config.Roles is asked
// about, and self says that the user started the run.
func (a *Agent) mayDecide(ctx context.Context, session string, spec *tools.Spec, user string, self bool) error {
	switch {
	case len(spec.Approvers) == 0:
		return nil
	case user == "":
		return refuse(machine.DecisionForbidden, fmt.Errorf("it doesn't say who decides, and only somebody "+
			"with the role %s may decide on %q; name them (Decision.By)", strings.Join(spec.Approvers, " or "),
			spec.Name))
	case spec.NotSelf && self:
		return refuse(machine.DecisionForbidden,
			fmt.Errorf("%s has started the run, so somebody else has to decide on %q", user, spec.Name))
	}
	roles, err := a.rolesOf(ctx, session, user)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(spec.Approvers, r) }) {
		return refuse(machine.DecisionForbidden,
			fmt.Errorf("%s may not decide on %q; somebody with the role %s has to", user, spec.Name,
				strings.Join(spec.Approvers, " or ")))
	}
	return nil
}

// isApproval reports whether a decision on a pause of that kind may let its call run, or says what
// came of it, in the place of those who approve. The others are the tool's own questions.
func isApproval(k PauseKind) bool {
	return k == PauseApproval || k == PauseInDoubt || k == PauseCorrection
}

// checkRoles returns why a decision on a call of this agent isn't taken because of who made it, as
// mayDecide does.
func (a *Agent) checkRoles(ctx context.Context, s *machine.State, c *machine.CallState, user string) error {
	p := c.Pause
	if !isApproval(p.Kind) {
		return nil
	}
	spec := tools.Spec{Name: c.Call.Name, Approvers: p.Approvers, NotSelf: p.NotSelf}
	if now := a.definitionOf(ctx, s, c.Call.Name).Spec(); len(now.Approvers) > 0 {
		spec.Approvers, spec.NotSelf = now.Approvers, now.NotSelf || p.NotSelf
	}
	return a.mayDecide(ctx, s.Outermost(), &spec, user, s.StartedBy(user))
}

// definitionOf returns a tool of a session: noTool if there is none.
func (a *Agent) definitionOf(ctx context.Context, s *machine.State, name string) *tools.Definition {
	if d, ok := a.registry.Lookup(name); ok {
		return d
	}
	if d := decidingIn(ctx); d != nil && d.agent == a {
		return d.set.lookup(name)
	}
	return a.toolsOf(ctx, s).lookup(name)
}
