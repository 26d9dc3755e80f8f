package agent

import "github.com/pawlkit/pawl/tools"

// progress records what a call reports. Any goroutine may call it. Of several reports, only the
// newest is shown.
func (w *workers) progress(c *tools.Call, note tools.ProgressReport) {
	w.Lock()
	if cr := w.runningCall(c); cr != nil {
		cr.progress = &Progress{NoteMeta: w.callMeta(c), Tool: c.Name, Text: note.Text, Done: note.Done}
	}
	w.Unlock()
	w.Wake()
}

func (w *workers) showProgress(b *batch) {
	if !w.deltas {
		return
	}
	for _, cr := range b.calls {
		w.Lock()
		for cr.progress != nil && len(w.queue) > 0 { // facts before it come first
			w.Unlock()
			w.flush()
			w.Lock()
		}
		if cr.progress != nil && !cr.over { // else its result is shown, or comes next
			w.note(cr.progress)
		}
		cr.progress = nil
		w.Unlock()
		w.flush()
	}
}
