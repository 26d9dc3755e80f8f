package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Label returns a label to look for: see [SessionFilter].
func Label(key, value string) journal.Label { return journal.Label{Key: key, Value: value} }

const (
	maxLabelText = 512 // bytes of Input.User, Task and Pipeline
	maxKey       = 200 // bytes of Input.Key
	maxLabels    = 16  // of an input
)

// checkLine returns what is wrong with the text of a field.
func checkLine(field, text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return badInput(field, "it has to be valid UTF-8 of at most %d bytes without control characters", most)
	}
	return nil
}

// checkCaller returns what is wrong with the fields that say for whom a run works, and with
// the names of the input.
func (in *Input) checkCaller() error {
	for _, f := range []struct {
		name, text string
		most       int
	}{{"User", in.User, maxLabelText}, {"Task", in.Task, maxLabelText}, {"Pipeline", in.Pipeline, maxLabelText},
		{"Key", in.Key, maxKey}, {"Owner", in.Owner, journal.MaxLabelValue},
		{"Parent", in.Parent, journal.MaxName}, {"Model", in.Model, journal.MaxLabelValue}} {
		if err := checkLine(f.name, f.text, f.most); err != nil {
			return err
		}
	}
	if err := checkTitle(in.Title); err != nil {
		return err
	}
	if in.Key != "" && in.Session == "" {
		return badInput("Key", "a key is one of a session; give the Session, too")
	}
	if in.Owner != "" && in.Session == "" {
		return badInput("Owner", "an owner is that of a session; give the Session, too")
	}
	if in.Parent != "" && (in.Session == "" || in.Session == in.Parent) {
		return badInput("Parent", "a parent is one of another session; give the Session, too")
	}
	if len(in.Labels) > maxLabels {
		return badInput("Labels", "there are %d labels; %d are allowed", len(in.Labels), maxLabels)
	}
	for key := range in.Labels {
		if from, ok := machine.IsReserved(key); ok {
			return badInput("Labels", "the key %q is set from %s; use another key", key, from)
		}
	}
	head := journal.HeadUpdate{Labels: in.Labels}
	if err := head.Validate(); err != nil {
		return &ArgError{Field: "Input.Labels", Problem: strings.TrimPrefix(err.Error(), "journal: HeadUpdate.Labels"),
			Err: err}
	}
	if in.Trace != "" && traceID(in.Trace) == "" {
		return badInput("Trace",
			"%.60q is no W3C traceparent, which is 2, 32, 16 and 2 lower-case hexadecimal digits joined by hyphens",
			in.Trace)
	}
	return nil
}

// checkLabel returns what is wrong with a label that a session is to have. An empty value removes
// it.
func checkLabel(key, value string, s *machine.State) error {
	if _, problem := s.WithLabel(key, value); problem != "" {
		return &ArgError{Func: "SetLabel", Field: "label", Problem: problem}
	}
	return nil
}

// traceParent matches a W3C traceparent: version, trace id, parent id, flags, and what later
// versions add.
var traceParent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}((?s:-.*)?)$`)

// traceID returns the trace id of a W3C traceparent, or "" if it is none. A version above 00 may
// add more.
func traceID(parent string) string {
	f := traceParent.FindStringSubmatch(parent)
	if f == nil || len(parent) > 200 || f[1] == "ff" || f[1] == "00" && f[4] != "" ||
		strings.Trim(f[2], "0") == "" || strings.Trim(f[3], "0") == "" {
		return ""
	}
	return f[2]
}

// caller returns for whom the run of an input works.
func (in *Input) caller() machine.Caller {
	return machine.Caller{User: in.User, Task: in.Task, Pipeline: in.Pipeline, TraceParent: in.Trace}
}

// newOrigin returns the origin of a run that an input starts.
func (x *driver) newOrigin(in *start) *machine.Origin {
	o := &machine.Origin{Session: x.log.Name, Run: newID("r-"), Agent: x.agent.cfg.Name,
		Labels: provider.LabelsOf(in.Labels)}
	if o.Labels == "" {
		o.Labels = x.log.State().Labels
	}
	if p := x.log.parent; p != nil {
		o.Parent, o.Trace = p.id, p.trace
		return o
	}
	o.Trace = cmp.Or(traceID(in.Trace), newID(""))
	return o
}

// notOwner returns [ErrNotOwner] if a session doesn't belong to who an input says.
func notOwner(s *machine.State, owner string) error {
	if owner != "" && owner != s.Owner && s.Seq > 0 {
		return &SessionError{Session: s.Session, Code: ErrNotOwner}
	}
	return nil
}

// duplicate returns [ErrDuplicate] if a session had an input with the key.
func duplicate(s *machine.State, key string) error {
	if key == "" {
		return nil
	}
	if run := s.RunOf(key); run != "" {
		return &SessionError{Session: s.Session, Code: ErrDuplicate, Run: run,
			Problem: fmt.Sprintf("it had an input with the key %q before, in run %s", key, run)}
	}
	return nil
}

// duplicateOf returns [ErrDuplicate] in place of err, if that says that the session is busy,
// and it had an input with the key of the job; or [ErrNotOwner], if the session belongs to somebody
// else.
func (a *Agent) duplicateOf(ctx context.Context, j *job, err error) error {
	if !errors.Is(err, ErrBusy) || j.resumes() || j.start.Key == "" && j.start.Owner == "" {
		return err
	}
	m, failed := a.sessions.Load(ctx, j.session)
	if failed != nil {
		return err
	}
	return cmp.Or(notOwner(m.State(), j.start.Owner), duplicate(m.State(), j.start.Key), err)
}

// This file says which inputs bring text from outside into a session: see tools.Spec.Outside.
// Results of tools and replies do, too. What follows from that is derived by the machine.

// outsideFile is what [Input].Outside says of a file.
const outsideFile = "a file of the input"

// Bounds of Input.Outside.
const (
	maxOutside     = 20
	maxOutsideName = 200 // bytes
)

// checkOutside returns what is wrong with Input.Outside.
func (in *Input) checkOutside() error {
	if len(in.Outside) > maxOutside {
		return badInput("Outside", "it has %d names; give at most %d", len(in.Outside), maxOutside)
	}
	for _, name := range in.Outside {
		if err := checkLine("Outside", name, maxOutsideName); err != nil {
			return err
		}
		if name == "" {
			return badInput("Outside", "a name is empty; say where the text comes from")
		}
	}
	return nil
}

// outside returns where the text from outside comes from that an input has. ctx is that of the
// caller: a tool that starts a run passes on what its own conversation has.
func (in *Input) outside(ctx context.Context) []string {
	from := append(slices.Clone(in.Outside), outsideOf(ctx)...)
	for i := range in.Parts {
		if in.Parts[i].Kind == provider.PartMedia {
			return append(from, outsideFile)
		}
	}
	return from
}

// outsideOf returns where the text from outside comes from that is in the conversation of the call
// that ctx belongs to; nil if there is no call, or no such text.
func outsideOf(ctx context.Context) []string {
	if call, ok := tools.CallOf(ctx); ok {
		return call.Outside
	}
	return nil
}
