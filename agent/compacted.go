package agent

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// spans says how a conversation became another. Messages are known again by where their parts are, as they aren't changed
// once they are shared.
func spans(before, after []provider.Message) (out []Span) {
	index := make(map[*provider.Part]int, len(before))
	for i := range before {
		if p := before[i].Parts; len(p) > 0 {
			index[&p[0]] = i
		}
	}
	at := 0 // of before: what comes before it is accounted for
	was := func(m *provider.Message) int {
		if len(m.Parts) > 0 {
			if i, ok := index[&m.Parts[0]]; ok && i >= at && len(before[i].Parts) == len(m.Parts) && before[i].Role == m.Role {
				return i
			}
		}
		return -1
	}
	for i := 0; i < len(after); {
		begin, from := i, was(&after[i])
		if from >= 0 { // it stays, and so do those that follow it as before
			for at = from; i < len(after) && was(&after[i]) == at; i++ {
				at++
			}
			out = append(out, Span{From: from, To: at})
			continue
		}
		to := len(before)
		for i++; i < len(after); i++ {
			if next := was(&after[i]); next >= 0 {
				to = next
				break
			}
		}
		out = append(out, Span{From: at, To: to, Messages: after[begin:i:i]})
		at = to
	}
	return out
}

// compacted takes over a conversation that was made shorter.
func (m *Machine) compacted(r *RunState, f *Compacted) string {
	if f.Report == nil {
		return "it has no report"
	}
	if len(f.Spans) > 0 {
		messages, first, problem := m.s.applySpans(f.Spans)
		if problem != "" {
			return problem
		}
		if now, was := &messages[first], &m.s.Messages[r.First]; &now.Parts[0] != &was.Parts[0] {
			r.Whole = m.s.input()
		}
		m.s.Messages, r.First = messages, first
	}
	if f.Usage.Total() > 0 || f.Cost > 0 {
		r.book(f.Usage, f.Cost, f.Priced)
	}
	return ""
}

// applySpans returns the conversation that spans make of the one there is, and where the input of the run is in it.
func (s *State) applySpans(spans []Span) (out []provider.Message, first int, problem string) {
	at, first, acting := 0, -1, s.Run.Stage == stageActing
	for i, p := range spans {
		if p.From < at || p.To < p.From || p.To > len(s.Messages) || p.From == p.To && len(p.Messages) == 0 {
			return nil, 0, fmt.Sprintf("span %d (%d to %d) doesn't follow, or isn't within %d messages", i, p.From, p.To, len(s.Messages))
		}
		if first < 0 && s.Run.First < p.To {
			first = len(out)
			if in := s.Run.First - p.From; in > 0 { // else it is in what was left out before
				first += in
				if n := len(p.Messages); n > 0 {
					first = len(out) + min(in, n-1)
				}
			}
		}
		if len(p.Messages) > 0 {
			out = append(out, p.Messages...)
		} else {
			out = append(out, s.Messages[p.From:p.To]...)
		}
		at = p.To
	}
	last := &spans[len(spans)-1]
	settled := out
	if acting {
		if at != len(s.Messages) || len(last.Messages) > 0 {
			return nil, 0, "it changes the reply whose calls are open"
		}
		settled = out[:len(out)-1]
	}
	if !orderly(settled) {
		return nil, 0, "its conversation isn't in order"
	}
	if first < 0 {
		first = len(out) - 1
	}
	return out, first, ""
}

// recordCompaction records what a compaction did, if it did anything. mu is not held.
func (x *exec) recordCompaction(p *memory.Prepared) error {
	f := Compacted{Report: p.Report, Usage: p.Report.Usage(), Cost: p.Report.Cost(), Priced: p.Report.Priced()}
	if p.Report.Changed() {
		f.Spans = spans(x.m.s.Messages, p.Messages)
	}
	if len(f.Spans) == 0 && f.Usage.Total() == 0 {
		return nil
	}
	x.redactReport(&f)
	x.lock()
	f.Meta = x.stamp(0, "")
	err := x.recordLocked(nil, f)
	x.mu.Unlock()
	if err != nil {
		return err
	}
	x.flush()
	if len(f.Spans) > 0 {
		x.forgot()
	}
	return nil
}

// bookFailedCompaction records what the model calls of a compaction took that came to nothing: was is what c had used before. Where a price
// wasn't known then, it counts as not known now, which changes nothing for the run.
func (x *exec) bookFailedCompaction(c *memory.Compactor, was provider.Usage, cost provider.Money, why error) {
	used, total, priced := c.Used()
	used.Input, used.Output, used.Reasoning = used.Input-was.Input, used.Output-was.Output, used.Reasoning-was.Reasoning
	used.CacheRead, used.CacheWrite = used.CacheRead-was.CacheRead, used.CacheWrite-was.CacheWrite
	if used.Total() == 0 || x.lostLog() {
		return
	}
	n := len(x.m.s.Messages)
	f := Compacted{Usage: used, Cost: total - cost, Priced: priced, Report: &memory.Report{Trigger: "without effect", MessagesBefore: n, MessagesAfter: n,
		Steps: []memory.StepReport{{Error: x.a.redact(strings.ToValidUTF8(why.Error(), "\uFFFD")), Usage: used, Cost: total - cost, Priced: priced}}}}
	x.lock()
	f.Meta = x.stamp(0, "")
	_ = x.recordLocked(nil, f) // loop ends a run whose journal refuses it
	x.mu.Unlock()
	x.flush()
}

// redactReport redacts what a compaction has written.
func (x *exec) redactReport(f *Compacted) {
	if x.a.cfg.Redact == nil {
		return
	}
	for i := range f.Spans {
		if ms := f.Spans[i].Messages; len(ms) > 0 {
			own := make([]provider.Message, len(ms))
			for j := range ms {
				own[j] = ms[j]
				own[j].Parts = x.redactParts(ms[j].Parts)
			}
			f.Spans[i].Messages = own
		}
	}
	report := *f.Report
	report.Steps = append([]memory.StepReport(nil), report.Steps...)
	for i := range report.Steps {
		report.Steps[i].Error = x.a.redact(report.Steps[i].Error)
	}
	f.Report = &report
}

// forgot tells the host that the conversation has lost something.
func (x *exec) forgot() {
	tell := x.a.memory.OnForget
	if tell == nil {
		return
	}
	err := func() (err error) {
		defer contain(&err)
		tell(x.ctx, x.s.name)
		return nil
	}()
	if err != nil {
		x.warn("Memory.OnForget: " + err.Error())
	}
}
