package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
)

// Require returns hooks with a condition without which no run completes, not even by
// Config.StopWhen. Whenever a run would complete, missing looks at what the run has done, and
// returns what is missing from it, in words for the model, or "" if the condition holds. The model
// is sent back to work with them as by [SendBack], at most Limits.SendBacks times (2); after that
// the run ends as stopped, with the code [machine.CodeUnproven], the answer in its Result, and what
// is missing in [Result].Missing. A stop condition ends such a run at once.
//
// An error of missing means that it isn't known whether the condition holds: see [Hooks]. The name
// is in the reason. Runs that make one call without a model have no conditions.
func Require(name string, missing func(ctx context.Context, r *Result) (string, error)) Hooks {
	h := Hooks{Name: name, required: true}
	if missing == nil { // New refuses it
		return h
	}
	h.BeforeFinish = func(ctx context.Context, r *Result) error {
		what, err := missing(ctx, r)
		if err != nil || what == "" {
			return err
		}
		return SendBack(what)
	}
	return h
}

// A finishing is what the BeforeFinish hooks say about a run that would complete.
type finishing struct {
	back     *machine.SentBack // the run goes on; nil: no hook that may send it back wants more
	missing  []string          // what hooks want that have sent it back as often as they may
	unproven error             // a condition doesn't hold, and the run ends
}

// beforeFinish calls the BeforeFinish hooks, or, for a stop condition, those of Require alone,
// which may not send the run back then.
func (x *driver) beforeFinish(byCondition bool) (end finishing, err error) {
	r, most := x.log.Run(), x.log.Run().Limits.SendBacks
	var texts, hooks []string
	for i := range x.agent.cfg.Hooks {
		h := &x.agent.cfg.Hooks[i]
		if h.BeforeFinish == nil || byCondition && !h.required {
			continue
		}
		res := x.log.Machine().Result(Completed, "", nil)
		_, err := x.log.callHook(h, "BeforeFinish", func() error { return h.BeforeFinish(x.log.ctx, res) })
		var send *sendBackError
		switch id := x.agent.hookID(i); {
		case err == nil:
		case !errors.As(err, &send):
			return end, err
		case byCondition || most >= 0 && r.SentBack+r.SentBackBy[id] >= most:
			end.missing = append(end.missing, send.what)
			if h.required && end.unproven == nil {
				end.unproven = fmt.Errorf("agent: the run doesn't meet the condition %q: %s", h.Name, send.what)
			}
		default:
			texts, hooks = append(texts, send.what), append(hooks, id)
		}
	}
	if len(texts) > 0 {
		end.back = &machine.SentBack{Why: machine.SendBackHook, Text: strings.Join(texts, "\n"), Hooks: hooks}
	}
	return end, nil
}

// hookID returns what the log calls a hook: its name, with a number if it isn't the first with that
// name, or has none.
func (a *Agent) hookID(i int) string {
	h, n := &a.cfg.Hooks[i], 1
	for _, o := range a.cfg.Hooks[:i] {
		if o.Name == h.Name {
			n++
		}
	}
	if name := machine.ValidText(h.Name); n == 1 && name != "" {
		return name
	}
	return fmt.Sprintf("%s#%d", machine.ValidText(h.Name), n)
}

// concludeBy returns how a run ends of which a stop condition holds. What Require asks for must
// hold, too.
func (x *driver) concludeBy(why string) *outcome {
	end, err := x.beforeFinish(true)
	switch {
	case err != nil:
		return x.stops.abort(err)
	case end.unproven != nil:
		out := stopping(machine.CodeUnproven, end.unproven)
		out.missing = end.missing
		return out
	}
	return ending(Completed, machine.CodeCondition, fmt.Errorf("agent: a stop condition holds: %s", why))
}
