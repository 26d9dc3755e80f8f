package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Escalated is a note about a failure that the run can't fix by itself: a model call that failed
// permanently, which ends the run, or a tool call whose failure a person can fix
// ([fault.UserFixable]). It comes before the result of the call, or before the end of the run,
// whose [Result.Err] is the same error. After a failed tool call the run continues, because the
// model may find another way.
type Escalated struct {
	NoteMeta             // it names the tool call; without one it is about the model call of the step
	Tool     string      `json:"tool,omitempty"` // empty: the model
	Class    fault.Class `json:"class"`          // of Err
	Reason   string      `json:"reason"`         // what failed, in words
	// the same, as it came; for the host: it may say more than a person should see
	Err error `json:"-"`
	// Attempts is how many were made, 0 if that isn't known, and Errors are the errors of those
	// before the last, as far as they are known.
	Attempts int     `json:"attempts,omitempty"`
	Errors   []error `json:"-"`
	// Remedies are what may help, for a person, the most likely first. There is at least one.
	Remedies []string `json:"remedies"`
}

// escalation returns the note about a failure.
func (l *sessionLog) escalation(meta NoteMeta, tool string, class fault.Class, failure error, text string, attempts int,
	tried []error) (e *Escalated) {
	e = &Escalated{NoteMeta: meta, Tool: tool, Class: class, Reason: l.agent.redact.Text(text), Err: failure,
		Attempts: attempts, Errors: tried}
	for _, r := range remedies(failure, class, tool) {
		e.Remedies = append(e.Remedies, l.agent.redact.Text(r))
	}
	l.agent.logger.ErrorContext(l.ctx, "agent: something failed that the run can't help by itself", "session", l.Name,
		"call", meta.Call, "tool", tool,
		"class", class, "attempts", attempts, "reason", e.Reason, "remedies", e.Remedies)
	return e
}

// remedies returns what may help: what the errors themselves say, then what their class suggests.
func remedies(err error, class fault.Class, tool string) []string {
	var says interface{ Remedies() []string }
	if errors.As(err, &says) {
		if list := ask(says.Remedies); len(list) > 0 {
			return list
		}
	}
	var out []string
	if r, ok := fault.Remedy(err); ok {
		out = append(out, r)
	}
	again := "try it again later"
	if wait, ok := fault.RetryAfter(err); ok && wait > 0 {
		again = fmt.Sprintf("try it again in %v", wait.Round(time.Second))
	}
	model := tool == ""
	switch {
	case class == fault.Transient:
		out = append(out, again, "look at the network between here and there")
	case class == fault.RateLimited:
		out = append(out, again, "make fewer calls, or ask for higher limits")
	case class == fault.Degraded:
		out = append(out, again, "look whether there is an outage")
	case len(out) > 0: // the error's own remedy is enough
	case class == fault.UserFixable && model:
		out = append(out, "look at the provider's account: its key, its billing and its quota")
	case class == fault.UserFixable:
		out = append(out, fmt.Sprintf("look at what the tool %q needs: keys, permissions, settings", tool))
	default:
		out = append(out, "change what is asked for: the same would fail again")
	}
	var b *budget.Error // a budget that holds for every provider may have refused the call
	if model && class != fault.Permanent && !(errors.As(err, &b) && b != nil && b.Scope != budget.ScopeProvider) {
		out = append(out, "use another provider")
	}
	return out
}

func ask(says func() []string) (list []string) {
	defer contain.Panic(new(error))
	return says()
}
