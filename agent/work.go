package agent

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/tools"
)

// Work is what a run does: an [Input] starts a run with a prompt, a [HostCall] starts one that
// makes a single call of a tool, and a [Resumption] continues the open run of a session. Only
// values of these three types are taken. Anything else, such as a pointer to one, is an
// *[ArgError].
type Work interface {
	// SessionName returns the name of the session that the work is for; empty if it names none.
	SessionName() string
	// work returns it as a driver does it.
	work() *job
}

// A Resumption continues the open run of a session: with decisions on what it waits for, or
// without decisions, after its process died or its host paused it. The run keeps the settings that
// it was started with. Until the lease of a process that died has ended (Config.Lease), the error
// is [ErrBusy].
type Resumption struct {
	Session string // required; a paused run's is in its Result
	// Decisions are on pauses of the session. If one is refused, none is taken.
	Decisions []Decision
	// Tools are the tools of the run's [Input].Tools that aren't external: a run that has such
	// needs them again.
	Tools []tools.Tool
	// AcceptChanges resumes the run although the agent has changed: see [ChangedError].
	AcceptChanges bool
}

// Resume returns a [Resumption] that decides on pauses of a session. Without decisions it is that
// of [Continue].
func Resume(session string, decisions ...Decision) Resumption {
	return Resumption{Session: session, Decisions: decisions}
}

// Continue returns a [Resumption] of a session whose process died, or that its host has paused.
func Continue(session string) Resumption { return Resumption{Session: session} }

// SessionName implements [Work].
func (r Resumption) SessionName() string { return r.Session }

func (r Resumption) work() *job {
	return &job{kind: "Resumption", session: r.Session, tools: r.Tools, decisions: r.Decisions,
		acceptChanges: r.AcceptChanges}
}

// A job is work as a driver does it, with what else its caller has said.
type job struct {
	kind    string       // the name of the type of the work, for errors
	session string       // empty: a new one
	tools   []tools.Tool // of the run only

	start *start // of a new run; nil: the open one is resumed

	decisions     []Decision // on the open run
	acceptChanges bool       // resumes the open run although the agent has changed
	recovers      bool       // of Recover, which leaves runs of other agents and of subagents alone

	parent *parentCall // of a subagent
	leg    *legState   // of Advance and Enqueue

	screened bool // BeforeInput hooks have seen its texts
}

// newJob returns the job of what starts a run.
func newJob(kind string, in *Input, call *hostCall) *job {
	one := &struct { // each run has them, so they are one allocation
		job   job
		start start
	}{start: start{Input: *in, call: call}}
	one.job = job{kind: kind, session: in.Session, tools: in.Tools, start: &one.start}
	return &one.job
}

// job returns a piece of work as a driver does it.
func (a *Agent) job(w Work) (*job, error) {
	if a == nil || a.registry == nil {
		return nil, errNoAgent
	}
	switch w.(type) {
	case Input, Resumption, HostCall:
		return w.work(), nil
	}
	return nil, &ArgError{Field: "Work",
		Problem: fmt.Sprintf("it is %T; give a value of Input, Resumption or HostCall", w)}
}

// resumes reports whether the open run is resumed.
func (j *job) resumes() bool { return j.start == nil }

// check returns what is wrong with a job, regardless of its session.
func (j *job) check(a *Agent) error {
	if problem := session.NameProblem(j.session); problem != "" {
		return badInput("Session", "%s", problem)
	}
	if strings.HasPrefix(j.session, childPrefix) && j.parent == nil {
		return badInput("Session",
			"names that begin with %q are those of subagents; decide in the session of the parent, or use another name",
			childPrefix)
	}
	if j.resumes() {
		if j.session == "" {
			return badInput("Session", "it is empty; a paused run's is in its Result")
		}
		return nil
	}
	mode, err := a.mode(j.start.Mode)
	if err != nil {
		return err
	}
	return j.start.check(a.limits(j.start.Limits, mode, j.parent != nil))
}

// named returns an error about a field of an Input with the name of the type that the caller has
// given.
func (j *job) named(err error) error {
	wrong, ok := err.(*ArgError) //nolint:errorlint // one that is wrapped is about something else
	if !ok {
		return err
	}
	field, ok := strings.CutPrefix(wrong.Field, "Input.")
	if !ok || j.kind == "Input" {
		return err
	}
	named := *wrong
	named.Field = j.kind + "." + field
	return &named
}
