package agent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
)

// conclude ends a run as the machine says, unless something is still missing.
func (x *exec) conclude(act Action) {
	if act.Status != Completed {
		err := act.Err
		if err == nil && act.Status == Failed {
			err = fault.New(fault.Permanent, "agent: the model call failed")
		}
		x.finish(act.Status, act.Code, err)
		return
	}
	if back, err := x.checkOutput(); err != nil {
		x.finish(Failed, CodeOutput, err)
		return
	} else if back != "" {
		x.sendBack(SendBackOutput, back)
		return
	}
	if back, err := x.beforeFinish(); err != nil {
		x.cancel(err)
		return
	} else if back != "" {
		x.sendBack(SendBackHook, back)
		return
	}
	if x.s.hasMessages.Load() { // it came while the hooks were asked: the loop reads it, and comes back
		return
	}
	x.finish(Completed, "", nil)
}

func (x *exec) sendBack(why, text string) {
	if text = x.a.redact(text); text == "" {
		text = "Something is missing."
	}
	x.lock()
	x.recordLocked(nil, SentBack{Meta: x.stamp(0, ""), Why: why, Text: text})
	x.mu.Unlock()
	x.flush()
}

// An OutputError is a structured answer that didn't fit its schema, after the model had its corrections.
type OutputError struct {
	Text string // the answer
	Err  error  // what is wrong with it
}

// Error says what is wrong with the answer.
func (e *OutputError) Error() string {
	return fmt.Sprintf("agent: the structured answer doesn't fit its schema: %v", e.Err)
}

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// Fault returns Permanent.
func (e *OutputError) Fault() fault.Class { return fault.Permanent }

// checkOutput checks a structured answer. It returns what to tell the model if it should try again.
func (x *exec) checkOutput() (back string, err error) {
	r := x.m.s.Run
	if len(r.Output) == 0 {
		return "", nil
	}
	s, err := schema.Parse(r.Output)
	if err != nil {
		return "", fmt.Errorf("agent: the schema of the answer: %w", err)
	}
	text := x.m.result(Completed, "", nil).Text()
	_, problem := s.Accept([]byte(unfence(text)))
	switch {
	case problem == nil:
		return "", nil
	case r.Limits.OutputCorrections >= 0 && r.Corrected >= r.Limits.OutputCorrections:
		return "", &OutputError{Text: text, Err: problem}
	}
	return "Your answer doesn't fit the schema that was asked for: " + problem.Error() + "\nAnswer again, with nothing but JSON that fits.", nil
}

// unfence returns the JSON in an answer that has it in a code fence.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") || !strings.HasSuffix(text, "```") || len(text) < 6 {
		return text
	}
	text = strings.TrimSuffix(text[3:], "```")
	if line, rest, ok := strings.Cut(text, "\n"); ok && !strings.ContainsAny(line, "{[\"") {
		text = rest
	}
	return strings.TrimSpace(text)
}

// beforeFinish asks the hooks whether the run may finish. It returns what is missing.
func (x *exec) beforeFinish() (back string, err error) {
	var missing []string
	for i := range x.a.cfg.Hooks {
		h := &x.a.cfg.Hooks[i]
		if h.BeforeFinish == nil {
			continue
		}
		res := x.m.result(Completed, "", nil)
		err := x.call(h, "BeforeFinish", func() error { return h.BeforeFinish(x.ctx, res) })
		var send *sendBackError
		var warn *warnError
		switch {
		case err == nil:
		case errors.As(err, &send):
			missing = append(missing, send.what)
		case errors.As(err, &warn):
			x.a.log.WarnContext(x.ctx, "agent: a hook warns at the end of a run", "hook", h.Name, "warning", warn.text)
		default:
			return "", err
		}
	}
	r := x.m.s.Run
	if len(missing) == 0 {
		return "", nil
	}
	if r.Limits.SendBacks >= 0 && r.SentBack >= r.Limits.SendBacks {
		x.a.log.WarnContext(x.ctx, "agent: the run finishes though something is missing: it was sent back often enough", "session", x.s.name, "missing", missing)
		return "", nil
	}
	return strings.Join(missing, "\n"), nil
}
