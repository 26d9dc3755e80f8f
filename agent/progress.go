package agent

import "github.com/pawlkit/pawl/tools"

// progress records what a call reports. Any goroutine may call it. Of several reports, only the
// newest is shown.
func (w *workers) progress(c *tools.Call, note tools.ProgressReport) {
	w.log.Lock()
	if cr := w.runningCall(c); cr != nil {
		cr.progress = &Progress{NoteMeta: w.log.callMeta(c), Tool: c.Name, Text: note.Text, Done: note.Done}
	}
	w.log.Unlock()
	w.consumer.Wake()
}

func (w *workers) showProgress(b *batch) {
	if !w.log.deltas {
		return
	}
	for _, cr := range b.calls {
		w.log.Lock()
		for cr.progress != nil && len(w.log.queue) > 0 { // facts before it come first
			w.log.Unlock()
			w.consumer.flush()
			w.log.Lock()
		}
		if cr.progress != nil && !cr.over { // else its result is shown, or comes next
			w.log.note(cr.progress)
		}
		cr.progress = nil
		w.log.Unlock()
		w.consumer.flush()
	}
}
