package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A Rewind is the starting point of a run that replaces an earlier run and those after it: see
// [RunStarted].Replaces.
type Rewind struct {
	// State is that of the session before the replaced run started.
	State State
	// Before is the conversation before the input of the replaced run, for [Replaced].Before, and
	// Outside the text from outside in it.
	Before  []Span
	Outside []OutsideText

	from uint64 // the number of the fact with which the replaced run started
}

// NewRewind returns the Rewind for a run that replaces the one that started with the fact number
// start. facts are those of the session, from its beginning or from the [Snapshot] that a prune has
// left, in order. A run that replaced another begins where that one did. If there is no such run,
// problem says why, and which there are. The error is a *[FactError].
func NewRewind(session string, facts []Fact, start uint64) (w *Rewind, problem string, err error) {
	from, problem := replaceable(facts, start)
	if problem != "" {
		return nil, problem, nil
	}
	w = &Rewind{from: from}
	m := NewAfter(session, facts[0].Envelope().Seq-1)
	var before []provider.Message
	var long tooLong
	for _, f := range facts {
		isStart := f.Envelope().Seq == from
		if isStart {
			w.State = m.s
		}
		if err := m.Apply(f); err != nil {
			return nil, "", err
		}
		if isStart {
			before = m.s.Messages[:m.s.Run.First]
			was := &State{Outside: outsideIn(m.s.Outside, len(before))}
			if w.State.TooLong() {
				left := long.leaveOut(before)
				was.Outside = was.compactedOutside([]Span{{To: left.From}, left, {From: left.To, To: len(before)}})
				before = slices.Concat(before[:left.From], left.Messages, before[left.To:])
			}
			w.Outside = was.Outside
		}
		long.follow(f, &m.s)
	}
	w.Before = Spans(m.s.Messages, before)
	return w, "", nil
}

// replaceable says where the conversation ends if the run that started with the fact number start
// is replaced: before the input of the run that started with the fact number from. If the run can't
// be replaced, problem says why.
func replaceable(facts []Fact, start uint64) (from uint64, problem string) {
	if len(facts) == 0 {
		return 0, "the session has no run yet"
	}
	// runs are named by the numbers of the facts that started them
	var runs []uint64                 // those that can be replaced
	begins := map[uint64]uint64{0: 0} // the result from, for each run
	replaced := map[uint64]uint64{}   // which run replaced another
	for _, f := range facts {
		f, ok := f.(*RunStarted)
		if !ok || f.ContextReset != nil {
			continue
		}
		start := uint64(0)
		if f.Replaces != nil {
			start = f.Replaces.Start
		}
		for n := len(runs) - 1; start > 0 && n >= 0 && runs[n] >= start; n-- {
			replaced[runs[n]], runs = f.Seq, runs[:n]
		}
		if from, known := begins[start]; known { // else the facts before it are missing
			begins[f.Seq], runs = cmp.Or(from, f.Seq), append(runs, f.Seq)
		}
	}
	if slices.Contains(runs, start) {
		return begins[start], ""
	}
	switch first := facts[0].Envelope().Seq; {
	case replaced[start] > 0:
		problem = fmt.Sprintf("the run that started with fact %d was replaced by that of fact %d", start,
			replaced[start])
	case start < first:
		problem = fmt.Sprintf("fact %d was pruned", start)
	default:
		problem = fmt.Sprintf("no run that can be replaced started with fact %d", start)
	}
	if len(runs) == 0 {
		return 0, problem + "; there is none in the log"
	}
	var list []string
	for _, seq := range runs[max(len(runs)-maxListed, 0):] {
		list = append(list, fmt.Sprint(seq))
	}
	return 0, problem + "; these are possible: " + strings.Join(list, ", ")
}

// maxListed is how many runs or calls a text lists.
const maxListed = 20

// Note returns what the model is told: that the request before the replaced runs wasn't answered,
// and in one line, which calls of the replaced runs may have had an effect and weren't undone, and
// which earlier calls were undone since. It returns "" if there is nothing to tell. facts are those
// of [NewRewind] and what was appended since. The calls of tools that are readOnly have no effect.
func (w *Rewind) Note(facts []Fact, readOnly func(tool string) bool) string {
	var e effects
	own := make(map[string]bool)
	var calls, undone []string
	for _, f := range facts {
		replaced := f.Envelope().Seq > w.from
		if e.add(f, replaced) {
			own[f.(*ToolFinished).Call.ID] = true
		}
		if f, ok := f.(*Undone); ok && replaced {
			for _, c := range f.Calls {
				if c.Why == "" && !own[c.Call.ID] {
					undone = append(undone, describe(c.Call))
				}
			}
		}
	}
	for _, f := range e.left() {
		if !readOnly(f.Call.Name) {
			calls = append(calls, fmt.Sprintf("%s (%s)", describe(f.Call), f.Result.Status))
		}
	}
	var texts []string
	if len(calls) > 0 {
		texts = append(texts, "The conversation went back to this point. What followed isn't in it any more, but these "+
			"calls were made there, may have had an effect, and weren't undone: "+listed(calls))
	}
	if len(undone) > 0 {
		texts = append(texts, "Effects of these earlier calls were undone: "+listed(undone))
	}
	before := w.State.unanswered()
	if len(texts) == 0 {
		return before
	}
	return JoinLines(before, "Note: "+strings.Join(texts, " "))
}

// describe returns the name and the input of a call, enough to recognize it.
func describe(c *provider.ToolCall) string {
	return strings.TrimSpace(c.Name + " " + CleanName(string(c.Input)))
}

// listed returns the newest of the texts as a sentence's end.
func listed(texts []string) string {
	if more := len(texts) - maxListed; more > 0 {
		texts = append([]string{fmt.Sprintf("%d earlier ones", more)}, texts[more:]...)
	}
	return strings.Join(texts, "; ") + "."
}
