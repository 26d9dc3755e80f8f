package agent

import (
	"errors"

	"github.com/pawlkit/pawl/agent/journal"
)

// pending says which facts of a run may wait for the next append. With it a step with tool calls
// takes two appends: the reply with the starts of its calls, and the last result with the start of
// the next model call.
//
// A fact that waits is applied and not stored. So nobody may see it, and nothing may happen because
// of it, until it is stored: no event is shown, and no function of the host is called.
//
//	the fact      waits for    if
//	Replied       ToolStarted  there are no policies, no sources, and no hooks before a tool call
//	ToolFinished  StepStarted  there is no memory, no Compose, no stop condition and no hook before a
//	                           model call, and the driving goroutine is free
//
// What waits is stored before anything slow: by driver.next, unless the next action begins at once,
// by consumer.flush before events are shown, and by workers before a tool is asked about a call.
//
// The append that begins such an action is stored only if nothing is in the inbox. So the inbox
// needn't be read at the safe point before it. If something is there, what waited is stored alone,
// the action hasn't begun, and driver.next reads the inbox.
type pending struct {
	log *sessionLog

	// fixed for an agent
	resultWaits bool // a ToolFinished may wait
	replyWaits  bool // a Replied may

	// of the driving goroutine
	quiet  bool // the next action begins only if nothing is in the inbox
	unread bool // something was, so it hasn't begun
}

// appendReply appends a reply, or lets it wait for the starts of its calls.
func (p *pending) appendReply(f *Replied) error {
	if p.replyWaits {
		return p.log.Defer(f)
	}
	return p.log.append(f)
}

// appendStep appends the start of a model call, with what waits for it.
func (p *pending) appendStep(f *StepStarted) error {
	err := p.log.AppendQuiet(p.quiet, f)
	p.unread = errors.Is(err, journal.ErrInbox)
	return err
}
