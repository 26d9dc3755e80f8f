package agent

import (
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// What a model or a tool gives may be larger than a journal's record. A log that refuses it would stay open, and whoever continues
// with it would come to the same again: so such a reply is a model call that failed, and such a result a call that failed.

// roomForResult is the share of a record that a reply leaves free, for its calls stand in the records of their results, too.
const roomForResult = 64

// roomForEnd is what the record of a result has besides, in bytes: how long the call took, what an agent used in it, and the
// note that the call repeats itself.
const roomForEnd = 1 << 10

// large reports whether a fact with so much content may not fit into a record: up to an eighth of it always does, however
// it is quoted.
func (x *exec) large(content int) bool { return x.a.cfg.Journal != nil && content > x.a.record/8 }

// fits reports whether a journal takes a fact, with so much room to spare.
func (x *exec) fits(f Fact, spare int) bool {
	rec, err := EncodeFact(f)
	return err == nil && len(rec.Data) <= x.a.record-spare
}

// contentOf returns about how many bytes parts hold.
func contentOf(parts []provider.Part) (n int) {
	for i := range parts {
		p := &parts[i]
		n += len(p.Text)
		if p.Call != nil {
			n += len(p.Call.Input) + len(p.Call.Invalid) + len(p.Call.Name)
		}
		if p.Result != nil {
			n += contentOf(p.Result.Parts)
		}
		if p.Media != nil {
			n += len(p.Media.Data)
		}
		if p.Opaque != nil {
			n += len(p.Opaque.Data)
		}
	}
	return n
}

// tooLarge records that an answer can't be kept, and ends the run. Nothing of it is kept but what it took.
func (x *exec) tooLarge(f *Replied) {
	err := fault.Errorf(fault.Permanent, "agent: the answer is larger than a journal's record, which has at most %d bytes; ask for less, or set Config.MaxOutput", x.a.record)
	x.lock()
	rerr := x.recordLocked(nil, StepFailed{Meta: x.stamp(0, ""), Class: fault.Permanent, Error: err.Error(), Usage: f.Usage, Cost: f.Cost, Priced: f.Priced})
	x.mu.Unlock()
	if rerr == nil {
		x.flush()
		x.escalateModel(err)
		x.finish(Failed, CodeProvider, err)
	}
}

// cutToFit leaves out of a result what doesn't fit with its call: first what is for the host, then what is for the model.
func (x *exec) cutToFit(cr *callRun, res *ToolResult) {
	if !x.large(contentOf(res.Parts) + len(res.Data) + len(res.Cause) + len(cr.shown.Input) + len(cr.shown.Invalid)) {
		return
	}
	f := ToolFinished{Meta: Meta{Origin: x.origin, Step: cr.call.Step, Call: cr.call.ID}, Call: cr.shown, Result: res}
	if x.fits(f, roomForEnd) {
		return
	}
	if n := len(res.Data); n > 0 {
		res.Data, res.Cause = nil, joinLines(res.Cause, fmt.Sprintf("agent: Data has %d bytes, is too large for the journal, and left out", n))
		if x.fits(f, roomForEnd) {
			return
		}
	}
	res.Parts, res.Notes = []provider.Part{provider.TextPart("The call ran, but its result is too large to be kept.")}, 0
	if res.Cause = ""; res.Status == tools.OK {
		res.Status, res.Error, res.Class = tools.Failed, true, fault.Permanent
	}
}
