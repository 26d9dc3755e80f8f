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
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// Full are the tools of the full pipeline, in their order.
var Full = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
	portfolio.VisualsCreator}

// An Outcome says what became of a pipeline.
type Outcome struct {
	Pipeline Pipeline
	Used     []string // the tools that have succeeded, also before
	From, To portfolio.Status
	Note     string                // what the tools have to say about their results; empty: nothing
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
	if last, err := s.Pipeline(ctx, user, artifact); err != nil {
		return Outcome{}, err
	} else if last != nil && last.State == PipelineRunning {
		return Outcome{}, portfolio.Errorf(portfolio.Conflict,
			"This artifact is being worked on (trace %s); wait until that has ended.", last.Trace)
	}
	p := Pipeline{State: PipelineRunning, Pipeline: portfolio.Pipeline{
		Name:     fmt.Sprintf("%s%s/%d", contenttools.PipelinePrefix, artifact, len(before)+1),
		Artifact: artifact, User: user, Tools: names, Trace: trace}}
	ctx, end, err := s.begin(ctx, p) // before it is admitted, so that a second click is a conflict
	if err != nil {
		return Outcome{}, err
	}
	defer end()
	release, err := s.admit(ctx, user, names)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := s.Store.StartPipeline(ctx, p.Pipeline); err != nil {
		return Outcome{}, err
	}
	s.cfg.Observe(Event{Kind: PipelineBegan, Pipeline: p})
	return s.timed(ctx, p, progress)
}

// Retry resumes the newest pipeline of an artifact, which has failed or was stopped, at the tool
// that didn't end.
func (s *Services) Retry(ctx context.Context, user, artifact string, progress func(Step)) (Outcome, error) {
	p, err := s.Pipeline(ctx, user, artifact)
	if err != nil {
		return Outcome{}, err
	}
	if p == nil || p.State != PipelineFailed && p.State != PipelineStopped {
		return Outcome{}, portfolio.Errorf(portfolio.MissingContext, "There is nothing to continue.")
	}
	ctx, end, err := s.begin(ctx, *p)
	if err != nil {
		return Outcome{}, err
	}
	defer end()
	// what has ended isn't run again
	release, err := s.admit(ctx, user, p.Tools[min(len(p.Done), len(p.Tools)-1):])
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := errors.Join(s.Store.StopPipeline(ctx, p.Name, false), s.again(ctx, user, p)); err != nil {
		return Outcome{}, err
	}
	p.State, p.Stopped = PipelineRunning, false
	s.cfg.Observe(Event{Kind: PipelineRetried, Pipeline: *p})
	return s.timed(ctx, *p, progress)
}

// again has the tool of a pipeline that failed tried again, unless somebody has decided that
// before.
func (s *Services) again(ctx context.Context, user string, p *Pipeline) error {
	pending, err := s.Runner.Pending(ctx, p.Name)
	if errors.Is(err, agent.ErrNothingOpen) { // it hasn't begun
		return nil
	}
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
func (s *Services) timed(ctx context.Context, p Pipeline, progress func(Step)) (Outcome, error) {
	began := time.Now()
	out, err := s.drive(ctx, p, progress)
	s.ended(&out, time.Since(began))
	return out, err
}

// ended reports that a pipeline has ended, if it has.
func (s *Services) ended(out *Outcome, took time.Duration) {
	ev := Event{Kind: PipelineEnded, Pipeline: out.Pipeline, Took: took}
	if out.Problem != nil {
		ev.Category = out.Problem.Category
	}
	if ev.Pipeline.State == PipelineCompleted || ev.Pipeline.State == PipelineFailed {
		s.cfg.Observe(ev)
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
func planOf(p *Pipeline, a *portfolio.Artifact) *plan.Plan {
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
func (s *Services) drive(ctx context.Context, p Pipeline, progress func(Step)) (Outcome, error) {
	a, err := s.Store.Artifact(ctx, p.User, p.Artifact)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Pipeline: p, From: a.Status}
	err = s.follow(ctx, &p, &a, &out, progress)
	if err != nil && ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	return out, err
}

// follow drives the run of a pipeline's plan, and records what became of it.
func (s *Services) follow(ctx context.Context, p *Pipeline, a *portfolio.Artifact, out *Outcome,
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
	// after the plan is stored: a lock whose process has died is then that of a plan that goes on
	if err := s.Store.Lock(ctx, p.User, a.ID, p.Name, time.Minute); err != nil {
		if known, ok := errors.AsType[*portfolio.Error](err); ok && known.Category == portfolio.Conflict {
			err = errors.Join(err, s.Store.StopPipeline(ctx, p.Name, true)) // it can be continued later
		}
		return err
	}
	if err := s.finish(ctx, p, began.Seq, progress); err != nil {
		return err
	}
	state, err := s.Runner.State(ctx, p.Name)
	if err != nil {
		return err
	}
	out.Problem = s.follows(p, state)
	out.Pipeline, out.Used = *p, p.Done
	now, err := s.Store.Artifact(ctx, p.User, p.Artifact)
	if err != nil {
		return err
	}
	out.To = now.Status
	for tool, name := range map[string]string{portfolio.TopicResearch: "researchNote",
		portfolio.VisualsCreator: "imagesNote"} {
		note := ""
		if slices.Contains(out.Used, tool) && json.Unmarshal(now.Metadata[name], &note) == nil && note != "" {
			out.Note = strings.TrimSpace(out.Note + " " + note)
		}
	}
	return s.Store.Unlock(ctx, p.Artifact, p.Name)
}

// finish drives the run of a pipeline's plan until it has ended or asks about a tool that has
// failed. A process that has died holds the run until its lease ends.
func (s *Services) finish(ctx context.Context, p *Pipeline, after uint64, progress func(Step)) error {
	driven, stop := context.WithCancel(ctx)
	finished, asks := make(chan error, 1), false
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
			asks = true
		}
		if asks {
			break
		}
	}
	stop()
	err := <-finished
	if asks {
		return ctx.Err()
	}
	if state, failed := s.Runner.State(ctx, p.Name); failed == nil && state.Status == plan.Completed {
		return nil // it had ended before: there was nothing to drive
	}
	return err
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
