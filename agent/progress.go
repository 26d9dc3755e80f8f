package agent

import (
	"github.com/pawlkit/pawl/tools"
)

// progress records what a call reports. Any goroutine may call it. Of several reports, only the
// newest is shown.
func (x *driver) progress(c *tools.Call, note tools.ProgressReport) {
	x.Lock()
	if cr := x.runningCall(c); cr != nil {
		cr.progress = &Progress{NoteMeta: x.callMeta(c), Tool: c.Name, Text: note.Text, Done: note.Done}
	}
	x.Unlock()
	x.Wake()
}

func (x *driver) showProgress(b *batch) {
	if !x.deltas {
		return
	}
	for _, cr := range b.calls {
		x.Lock()
		for cr.progress != nil && len(x.queue) > 0 { // facts before it come first
			x.Unlock()
			x.flush()
			x.Lock()
		}
		p := cr.progress
		if cr.progress = nil; cr.over {
			p = nil // its result is shown, or comes next
		}
		x.Unlock()
		if p != nil {
			x.show(p)
		}
	}
}
