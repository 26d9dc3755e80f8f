package assistant

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
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

// An Outcome says what became of a pipeline.
type Outcome struct {
	Pipeline Pipeline
	Used     []string // the tools that have succeeded, also before
	From, To portfolio.Status
	Skipped  bool                  // the images
	Note     string                // what the tools have to say about their results; empty: nothing
	Problem  *contenttools.Problem // nil if it is completed or stopped
}

// A Job is what a pipeline is to do.
type Job struct {
	User, Artifact, Trace string
	// Key makes a repeated job harmless: the second one joins the pipeline of the first, or has its
	// outcome.
	Key     string
	Session string // the conversation that waits for it
	Tools   []string
	Report  func(Progress) // is called with what goes on; may be nil
}

// Start runs tools on an artifact, one after the other. If the artifact is being worked on, the
// error is a *portfolio.Error of the category Conflict.
func (s *Services) Start(ctx context.Context, j Job) (Outcome, error) {
	if len(j.Tools) == 0 {
		return Outcome{}, portfolio.Errorf(portfolio.InvalidInput, "There is no step to run.")
	}
	if _, err := s.Store.Artifact(ctx, j.User, j.Artifact); err != nil {
		return Outcome{}, err
	}
	p := Pipeline{State: PipelineRunning, Pipeline: portfolio.Pipeline{Name: pipelineName(j.Artifact, j.Key),
		Artifact: j.Artifact, User: j.User, Tools: j.Tools, Trace: j.Trace}}
	if _, ok, err := s.Store.PipelineNamed(ctx, p.Name); err != nil {
		return Outcome{}, err
	} else if ok {
		return s.join(ctx, p.Name, j)
	}
	if last, err := s.Pipeline(ctx, j.User, j.Artifact); err != nil {
		return Outcome{}, err
	} else if last != nil && last.State == PipelineRunning {
		return Outcome{}, portfolio.Errorf(portfolio.Conflict,
			"This article is being worked on. Wait until that has ended, or stop it.")
	}
	d, err := s.begin(ctx, p, j) // before it is admitted, so that a second click is a conflict
	if err != nil {
		return Outcome{}, err
	}
	defer d.end()
	release, err := s.admit(ctx, j.User, j.Tools)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := s.Store.StartPipeline(ctx, p.Pipeline); err != nil {
		return Outcome{}, err
	}
	s.cfg.Observe(Event{Kind: PipelineBegan, Pipeline: p})
	return s.timed(d)
}

// pipelineName returns the name of the pipeline of a job with a key.
func pipelineName(artifact, key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s%s/%x", contenttools.PipelinePrefix, artifact, sum[:8])
}

// join waits for the end of a pipeline that has begun before, or drives it if nobody does.
func (s *Services) join(ctx context.Context, name string, j Job) (Outcome, error) {
	for {
		s.mu.Lock()
		d := s.pipelines[j.Artifact]
		if d != nil && d.Name == name {
			d.listen(j)
		}
		s.mu.Unlock()
		if d != nil && d.Name == name {
			select {
			case <-d.ended:
			case <-ctx.Done():
				return Outcome{}, context.Cause(ctx)
			}
		}
		p, err := s.named(ctx, name)
		if err != nil {
			return Outcome{}, err
		}
		if p.State != PipelineRunning && (p.Stopped || !p.unbegun) {
			return s.outcome(ctx, p)
		}
		if d, err = s.begin(ctx, *p, j); err != nil {
			if ctx.Err() == nil && s.running(j.Artifact) { // somebody has been quicker
				continue
			}
			return Outcome{}, err
		}
		out, err := s.timed(d)
		d.end()
		return out, err
	}
}

// Continue resumes the newest pipeline of an artifact, which has failed or was stopped, at the tool
// that didn't end. If there is none that fits the artifact as it is now, it runs the steps that are
// missing.
func (s *Services) Continue(ctx context.Context, j Job) (Outcome, error) {
	p, err := s.Pipeline(ctx, j.User, j.Artifact)
	if err != nil {
		return Outcome{}, err
	}
	a, err := s.Store.Artifact(ctx, j.User, j.Artifact)
	if err != nil {
		return Outcome{}, err
	}
	switch {
	case p != nil && p.State == PipelineRunning:
		return s.join(ctx, p.Name, j)
	case p == nil || p.State == PipelineCompleted || !slices.Contains(portfolio.Allowed[p.next()], a.Status):
		if j.Tools = Rest(a.Status); len(j.Tools) == 0 {
			return Outcome{}, portfolio.Errorf(portfolio.MissingContext, "There is nothing to continue: “%s” is %s.",
				a.Title,
				a.Status)
		}
		return s.Start(ctx, j)
	}
	d, err := s.begin(ctx, *p, j)
	if err != nil {
		return Outcome{}, err
	}
	defer d.end()
	// what has ended isn't run again
	release, err := s.admit(ctx, j.User, p.Tools[min(len(p.Done), len(p.Tools)-1):])
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := errors.Join(s.Store.StopPipeline(ctx, p.Name, false), s.again(ctx, j.User, p)); err != nil {
		return Outcome{}, err
	}
	d.State, d.Stopped = PipelineRunning, false
	s.cfg.Observe(Event{Kind: PipelineRetried, Pipeline: d.Pipeline})
	return s.timed(d)
}

// next returns the first tool that hasn't ended well.
func (p *Pipeline) next() string {
	for _, name := range p.Tools {
		if !slices.Contains(p.Done, name) {
			return name
		}
	}
	return ""
}

// Rest returns the steps that an artifact with this status still needs; none if it is ready.
func Rest(status portfolio.Status) []string {
	for i, name := range Full {
		if status != portfolio.Ready && status != portfolio.Published && status != portfolio.Archived &&
			slices.Contains(portfolio.Allowed[name], status) {
			return Full[i:]
		}
	}
	return nil
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
func (s *Services) timed(d *driven) (Outcome, error) {
	began := time.Now()
	out, err := s.drive(d)
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
	status := a.Status
	all := &plan.Plan{Title: strings.Join(p.Tools, ", "), Why: p.Trace}
	for i, name := range p.Tools {
		in := map[string]any{"artifactId": a.ID}
		if portfolio.Again(name, status) {
			in["again"] = true
		} else {
			status = portfolio.Draft // what follows is done for the first time
		}
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

// drive runs a pipeline to its end, to the tool that fails, or until the user stops it.
func (s *Services) drive(d *driven) (Outcome, error) {
	p, ctx := d.Pipeline, d.ctx
	a, err := s.Store.Artifact(ctx, p.User, p.Artifact)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Pipeline: p, From: a.Status}
	if err = s.follow(d, &a); err != nil {
		if ctx.Err() == nil { // nobody drives it any more; it can be continued
			return out, errors.Join(err, s.Store.StopPipeline(ctx, p.Name, true))
		}
		if err = context.Cause(ctx); !errors.Is(err, errStopped) {
			return out, err
		}
		ctx = context.WithoutCancel(ctx)
	}
	now, err := s.named(ctx, p.Name)
	if err != nil {
		return out, err
	}
	from := out.From
	out, err = s.outcome(ctx, now)
	out.From = from
	return out, errors.Join(err, s.Store.Unlock(ctx, p.Artifact, p.Name))
}

// outcome returns what has become of a pipeline.
func (s *Services) outcome(ctx context.Context, p *Pipeline) (Outcome, error) {
	now, err := s.Store.Artifact(ctx, p.User, p.Artifact)
	out := Outcome{Pipeline: *p, Used: p.Done, From: now.Status, To: now.Status}
	if err != nil {
		return out, err
	}
	if p.State == PipelineFailed {
		out.Problem = p.problem
	}
	for tool, name := range map[string]string{portfolio.TopicResearch: "researchNote",
		portfolio.VisualsCreator: "imagesNote"} {
		note := ""
		if slices.Contains(out.Used, tool) && json.Unmarshal(now.Metadata[name], &note) == nil && note != "" {
			out.Note = strings.TrimSpace(out.Note + " " + note)
		}
	}
	return out, nil
}

// follow drives the run of a pipeline's plan until it has ended or asks about a tool that has
// failed. A process that has died holds the run until its lease ends.
func (s *Services) follow(d *driven, a *portfolio.Artifact) error {
	ctx, p := d.ctx, &d.Pipeline
	began, err := s.Runner.Start(ctx, p.Name, planOf(p, a))
	if errors.Is(err, agent.ErrDuplicate) { // it goes on as it began
		began, err = s.Runner.State(ctx, p.Name)
	}
	if err != nil {
		return err
	}
	// after the plan is stored: a lock whose process has died is then that of a plan that goes on
	if err := s.Store.Lock(ctx, p.User, a.ID, p.Name, time.Minute); err != nil {
		return err
	}
	driven, stop := context.WithCancel(ctx)
	finished, asks := make(chan error, 1), false
	go func() {
		state, err := s.Runner.Finish(driven, p.Name)
		if state == nil || state.Status != plan.Completed { // else the loop reads its end
			stop()
		}
		finished <- err
	}()
	for ev, err := range s.Runner.Watch(driven, p.Name, began.Seq) {
		if err != nil {
			break
		}
		switch ev := ev.(type) {
		case *plan.NodeStarted:
			d.report(Progress{Tool: ev.Node, Text: upper(results[ev.Node])})
		case *plan.Paused:
			asks = true
		}
		if asks {
			break
		}
	}
	stop()
	err = <-finished
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
