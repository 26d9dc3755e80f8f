package agent

import (
	"github.com/pawlkit/pawl/tools"
)

// progress records what a call reports. Any goroutine may call it. Of several reports, only the
// newest is shown.
func (x *driver) progress(c *tools.Call, note tools.ProgressReport) {
	x.lock()
	if cr := x.runningCall(c); cr != nil {
		cr.progress = &Progress{NoteMeta: x.callMeta(c), Tool: c.Name, Text: note.Text, Done: note.Done}
	}
	x.mu.Unlock()
	x.poke()
}

func (x *driver) showProgress(b *batch) {
	if !x.deltas {
		return
	}
	for _, cr := range b.calls {
		x.lock()
		for cr.progress != nil && len(x.queue) > 0 { // facts before it come first
			x.mu.Unlock()
			x.flush()
			x.lock()
		}
		p := cr.progress
		if cr.progress = nil; cr.over {
			p = nil // its result is shown, or comes next
		}
		x.mu.Unlock()
		if p != nil {
			x.show(p)
		}
	}
}
