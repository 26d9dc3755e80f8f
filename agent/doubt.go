package agent

import (
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// resolveDoubt handles calls that were started by a process that died. A call that may be repeated
// runs again. For any other, a person decides or the model is informed, as Config.InDoubt says.
func (w *workers) resolveDoubt(indexes []int) {
	for _, c := range w.callStates(indexes) {
		cr := w.newCall(c)
		if c.Repeat && cr.d.Spec().Repeatable() {
			w.runTogether([]*callRun{cr})
		} else {
			w.inDoubt(cr, "the process that ran it ended")
		}
		if w.consumer.left || w.log.ctx.Err() != nil {
			return
		}
	}
}

// inDoubt asks a person about a call of which it isn't known how it ended, or informs the model, as
// Config.InDoubt says.
func (w *workers) inDoubt(cr *callRun, why string) {
	if w.agent.cfg.InDoubt == TellInDoubt {
		w.finishCall(cr, doubtful(why))
		w.consumer.flush()
		return
	}
	w.suspend(cr, Pause{Kind: PauseInDoubt, IdempotencyKey: cr.call.IdempotencyKey,
		Reason: "the call was started, and it is not known whether it had its effect: " + why}, 0)
}

// doubtful returns the outcome of a call of which it isn't known how it ended.
func doubtful(why string) tools.Outcome {
	return tools.Outcome{Status: tools.InDoubt, Class: fault.Permanent, Parts: []provider.Part{
		provider.TextPart("The call was started, and it is not known whether it had its effect: " + why +
			". Find out before you make it again."),
	}}
}
