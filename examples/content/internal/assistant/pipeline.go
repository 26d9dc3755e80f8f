package assistant

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// Full are the tools of the full pipeline, in their order.
var Full = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
	portfolio.VisualsCreator}

// An Outcome says what became of a pipeline.
type Outcome struct {
	Pipeline portfolio.Pipeline
	Used     []string // the tools that have succeeded, also before
	From, To portfolio.Status
	Note     string                // what the research has to say about itself; empty: nothing
	Problem  *contenttools.Problem // nil if it is completed
}

// Start runs tools on an artifact, one after the other. If the artifact is being worked on, the
// error is a *portfolio.Error of the category Conflict. progress is called when a tool begins and
// when it has ended; it may be nil.
func (s *Services) Start(ctx context.Context, user, artifact, trace string, names []string,
	progress func(Step)) (Outcome, error) {
	before, err := s.Store.Pipelines(ctx, user, artifact)
	if err != nil {
		return Outcome{}, err
	}
	if _, err := s.Store.Artifact(ctx, user, artifact); err != nil {
		return Outcome{}, err
	}
	p := portfolio.Pipeline{Name: fmt.Sprintf("%s%s/%d", contenttools.PipelinePrefix, artifact, len(before)+1),
		Artifact: artifact, User: user, Tools: names, Trace: trace}
	if len(before) > 0 && before[0].State == portfolio.PipelineRunning {
		return Outcome{}, portfolio.Errorf(portfolio.Conflict,
			"This artifact is being worked on (trace %s); wait until that has ended.", before[0].Trace)
	}
	release, err := s.admit(ctx, user, names)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := s.Store.StartPipeline(ctx, p); err != nil {
		return Outcome{}, err
	}
	s.cfg.Observe(Event{Kind: PipelineStarted, Pipeline: p})
	return s.timed(ctx, p, progress)
}

// Retry goes on with the newest pipeline of an artifact, which has failed, at the tool that failed.
func (s *Services) Retry(ctx context.Context, user, artifact string, progress func(Step)) (Outcome, error) {
	all, err := s.Store.Pipelines(ctx, user, artifact)
	if err != nil {
		return Outcome{}, err
	}
	if len(all) == 0 || all[0].State != portfolio.PipelineFailed {
		return Outcome{}, portfolio.Errorf(portfolio.MissingContext, "There is nothing to try again.")
	}
	p := all[0]
	// the tools before it aren't run again
	release, err := s.admit(ctx, user, p.Tools[max(slices.Index(p.Tools, p.Failed), 0):])
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := s.Store.SetPipeline(ctx, p.Name, portfolio.PipelineRunning, "", ""); err != nil {
		return Outcome{}, err
	}
	if err := s.again(ctx, user, &p); err != nil {
		return Outcome{}, err
	}
	p.State = portfolio.PipelineRunning
	s.cfg.Observe(Event{Kind: PipelineRetried, Pipeline: p})
	return s.timed(ctx, p, progress)
}

// again has the tool of a pipeline that failed tried again, unless somebody has decided that
// before.
func (s *Services) again(ctx context.Context, user string, p *portfolio.Pipeline) error {
	pending, err := s.Runner.Pending(ctx, p.Name)
	if err != nil {
		return err
	}
	for _, q := range pending {
		if !slices.Equal(q.Path, []string{p.Failed}) {
			continue
		}
		err := s.Runner.Decide(ctx, p.Name, agent.Answer(q.ID, map[string]string{"decision": "retry"}).By(user))
		var before *agent.DecisionError
		if err != nil && !errors.As(err, &before) {
			return err
		}
	}
	return nil
}

// timed drives a pipeline that this process has begun, and reports its end.
func (s *Services) timed(ctx context.Context, p portfolio.Pipeline, progress func(Step)) (Outcome, error) {
	began := time.Now()
	out, err := s.drive(ctx, p, progress)
	s.ended(&out, time.Since(began))
	return out, err
}

// ended reports that a pipeline has ended, if it has.
func (s *Services) ended(out *Outcome, took time.Duration) {
	switch out.Pipeline.State {
	case portfolio.PipelineCompleted:
		s.cfg.Observe(Event{Kind: PipelineCompleted, Pipeline: out.Pipeline, Took: took})
	case portfolio.PipelineFailed:
		s.cfg.Observe(Event{Kind: PipelineFailed, Pipeline: out.Pipeline, Category: out.Problem.Category, Took: took})
	}
}

// A Step is a tool of a pipeline that has begun or ended.
type Step struct {
	Artifact string `json:"artifactId"`
	Tool     string `json:"tool"`
	State    string `json:"state"` // one of the Step constants
}

// The states of a [Step].
const (
	StepStarted  = "started"
	StepFinished = "finished"
	StepFailed   = "failed" // it may be tried again
)

// admit asks the host whether a user may start a sequence of tools.
func (s *Services) admit(ctx context.Context, user string, names []string) (release func(), err error) {
	if s.cfg.Admit == nil {
		return func() {}, nil
	}
	u, err := s.Store.UserByID(ctx, user)
	if err != nil {
		return nil, err
	}
	return s.cfg.Admit(ctx, u, names)
}

// planOf returns the plan of a pipeline: a chain of its tools.
func planOf(p *portfolio.Pipeline, a *portfolio.Artifact) *plan.Plan {
	all := &plan.Plan{Title: strings.Join(p.Tools, ", "), Why: p.Trace}
	for i, name := range p.Tools {
		in := map[string]any{"artifactId": a.ID}
		switch name {
		case portfolio.TopicResearch:
			in["topic"], in["artifactType"] = a.Title, a.Type
		case portfolio.SkeletonCreator:
			in["topic"], in["artifactType"], in["tone"] = a.Title, a.Type, a.Tone
		case portfolio.ContentWriter:
			in["tone"], in["artifactType"] = a.Tone, a.Type
		case portfolio.Humanizer:
			in["tone"] = a.Tone
			if slices.Contains(p.Tools[i:], portfolio.VisualsCreator) {
				in["keepStatus"] = true
			}
		}
		n := plan.Node{ID: name, Tool: name, Input: in, Timeout: 10 * time.Minute,
			Retry: &plan.Retry{Max: 2, Wait: time.Second}}
		if i > 0 {
			n.After = []string{p.Tools[i-1]}
		}
		all.Nodes = append(all.Nodes, n)
	}
	return all
}

// drive runs a pipeline to its end, or to the tool that fails.
func (s *Services) drive(ctx context.Context, p portfolio.Pipeline, progress func(Step)) (Outcome, error) {
	a, err := s.Store.Artifact(ctx, p.User, p.Artifact)
	if err != nil {
		return Outcome{}, err
	}
	ctx, end, err := s.begin(ctx, p)
	if err != nil {
		return Outcome{}, err
	}
	defer end()
	out := Outcome{Pipeline: p, From: a.Status}
	if err := s.Store.Lock(ctx, p.User, a.ID, p.Name, time.Minute); err != nil {
		return out, err
	}
	err = s.follow(ctx, &p, &a, &out, progress)
	if err != nil && ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	return out, err
}

// follow drives the run of a pipeline's plan, and records what became of it.
func (s *Services) follow(ctx context.Context, p *portfolio.Pipeline, a *portfolio.Artifact, out *Outcome,
	progress func(Step)) error {
	if progress == nil {
		progress = func(Step) {}
	}
	began, err := s.Runner.Start(ctx, p.Name, planOf(p, a))
	if errors.Is(err, agent.ErrDuplicate) { // it goes on as it began
		began, err = s.Runner.State(ctx, p.Name)
	}
	if err != nil {
		return err
	}
	failed, err := s.finish(ctx, p, began.Seq, progress)
	if err != nil {
		return err
	}
	state, err := s.Runner.State(ctx, p.Name)
	if err != nil {
		return err
	}
	out.Used = nil
	for _, n := range state.Nodes {
		if n.Status == plan.NodeDone {
			out.Used = append(out.Used, n.Node.ID)
		}
		if n.Node.ID == failed {
			out.Problem = problemOf(&n)
		}
	}
	now, err := s.Store.Artifact(ctx, p.User, p.Artifact)
	if err != nil {
		return err
	}
	out.To = now.Status
	if slices.Contains(out.Used, portfolio.TopicResearch) {
		_ = json.Unmarshal(now.Metadata["researchNote"], &out.Note) // it is a string, if there is one
	}
	end, reason := portfolio.PipelineCompleted, ""
	if out.Problem != nil {
		end, reason = portfolio.PipelineFailed, out.Problem.Message
	}
	err = s.Store.SetPipeline(ctx, p.Name, end, failed, reason)
	out.Pipeline.State, out.Pipeline.Failed, out.Pipeline.Reason = end, failed, reason
	return errors.Join(err, s.Store.Unlock(ctx, p.Artifact, p.Name))
}

// finish drives the run of a pipeline's plan until it has ended or asks about a tool that has
// failed, which it returns. A process that has died holds the run until its lease ends.
func (s *Services) finish(ctx context.Context, p *portfolio.Pipeline, after uint64, progress func(Step)) (failed string,
	err error) {
	driven, stop := context.WithCancel(ctx)
	finished := make(chan error, 1)
	go func() {
		state, err := s.Runner.Finish(driven, p.Name)
		if state == nil || state.Status != plan.Completed { // else the loop reads its end
			stop()
		}
		finished <- err
	}()
	for ev, err := range s.Runner.Watch(driven, p.Name, after) {
		if err != nil {
			break
		}
		switch ev := ev.(type) {
		case *plan.NodeStarted:
			progress(Step{p.Artifact, ev.Node, StepStarted})
		case *plan.NodeEnded:
			step := Step{p.Artifact, ev.Node, StepFinished}
			if ev.Status != plan.NodeDone {
				step.State = StepFailed
			}
			progress(step)
		case *plan.Paused:
			failed = ev.Pending[0].Path[0]
		}
		if failed != "" {
			break
		}
	}
	stop()
	err = <-finished
	if failed != "" {
		return failed, ctx.Err()
	}
	if state, failed := s.Runner.State(ctx, p.Name); failed == nil && state.Status == plan.Completed {
		return "", nil // it had ended before: there was nothing to drive
	}
	return "", err
}

// problemOf returns why a tool has failed.
func problemOf(n *plan.NodeState) *contenttools.Problem {
	if i := strings.IndexByte(n.Error, '{'); i >= 0 {
		if p, ok := contenttools.ReadFailure(n.Error[i:]); ok {
			return p
		}
	}
	return contenttools.Explain(fault.New(n.Class, n.Error))
}

// NewTrace returns the id of a new trace: ca-<seconds>-<six characters>, or mock-… if everything is
// mocked.
func (s *Services) NewTrace() string {
	prefix := "ca"
	if s.cfg.Mocked {
		prefix = "mock"
	}
	return fmt.Sprintf("%s-%d-%s", prefix, time.Now().Unix(), strings.ToLower(rand.Text()[:6]))
}
