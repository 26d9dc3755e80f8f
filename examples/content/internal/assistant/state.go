package assistant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// The states of pipelines.
const (
	PipelineRunning   = "running"
	PipelineFailed    = "failed"  // it can be tried again
	PipelineStopped   = "stopped" // by the user, or before it began; it can be continued
	PipelineCompleted = "completed"
)

// A Pipeline is a sequence of tools, and where its plan is.
type Pipeline struct {
	portfolio.Pipeline
	State    string    `json:"state"`
	Failed   string    `json:"failed,omitempty"` // the tool that failed
	Reason   string    `json:"reason,omitempty"`
	Done     []string  `json:"done,omitempty"`     // the tools that have ended well
	Progress *Progress `json:"progress,omitempty"` // while it is in progress in this process

	problem *contenttools.Problem // why the tool has failed
	unbegun bool                  // its plan isn't stored
}

// Pipeline returns the newest pipeline of an artifact; nil if there is none.
func (s *Services) Pipeline(ctx context.Context, user, artifact string) (*Pipeline, error) {
	all, err := s.Store.Pipelines(ctx, user, artifact)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	p, err := s.stateOf(ctx, all[0])
	if now, ok := s.Progress(artifact); ok && err == nil {
		p.Progress = &now
	}
	return p, err
}

// named returns the pipeline with a name.
func (s *Services) named(ctx context.Context, name string) (*Pipeline, error) {
	p, ok, err := s.Store.PipelineNamed(ctx, name)
	if err == nil && !ok {
		err = fmt.Errorf("assistant: there is no pipeline %s", name)
	}
	if err != nil {
		return nil, err
	}
	return s.stateOf(ctx, p)
}

// stateOf returns where a pipeline is.
func (s *Services) stateOf(ctx context.Context, of portfolio.Pipeline) (*Pipeline, error) {
	p := &Pipeline{Pipeline: of, State: PipelineRunning}
	state, err := s.Runner.State(ctx, p.Name)
	if errors.Is(err, agent.ErrNothingOpen) { // this process is about to begin it, or one has died before that
		p.unbegun = true
		if p.Stopped || !s.running(p.Artifact) {
			p.State = PipelineStopped
		}
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range state.Nodes {
		switch n.Status {
		case plan.NodeDone:
			p.Done = append(p.Done, n.Node.ID)
		case plan.NodeFailed:
			p.problem = problemOf(&n)
			p.State, p.Failed, p.Reason = PipelineFailed, n.Node.ID, p.problem.Message
		}
	}
	switch {
	case p.Stopped: // a tool may have ended well after the stop, which its plan doesn't know yet
		ended, err := s.Store.DoneIn(ctx, p.Name)
		if err != nil {
			return nil, err
		}
		p.State, p.Done = PipelineStopped, slices.DeleteFunc(slices.Clone(p.Tools), func(name string) bool {
			return !slices.Contains(p.Done, name) && !slices.Contains(ended, name)
		})
	case state.Status == plan.Completed:
		p.State = PipelineCompleted
	}
	return p, nil
}

// PipelineCounts are numbers of pipelines by their states.
type PipelineCounts struct {
	Running   int      `json:"running"`
	Completed int      `json:"completed"`
	Failed    int      `json:"failed"`
	AverageMS int64    `json:"averageMs"` // of those that are completed
	Stalled   []string `json:"-"`         // the traces of those in progress without a step since the time
}

// CountPipelines counts the pipelines in progress, and those that ended since a time.
func (s *Services) CountPipelines(ctx context.Context, since time.Time) (n PipelineCounts, err error) {
	for head, err := range s.Journal.Heads(ctx, journal.Filter{Prefix: contenttools.PipelinePrefix, Kind: "plan"}) {
		if err != nil {
			return n, err
		}
		old := head.Updated.Before(since)
		switch {
		case head.Status == string(plan.Completed) && !old:
			n.Completed++
			n.AverageMS += head.Updated.Sub(head.Created).Milliseconds()
		case len(head.Open) > 0 && !old:
			n.Failed++
		case head.Status == statusRunning && len(head.Open) == 0:
			p, ok, err := s.Store.PipelineNamed(ctx, head.Session)
			if err != nil {
				return n, err
			}
			if ok && !p.Stopped {
				n.Running++
				if old {
					n.Stalled = append(n.Stalled, p.Trace)
				}
			}
		}
	}
	n.AverageMS /= int64(max(n.Completed, 1))
	return n, nil
}

// statusRunning is the status of the log of a plan that hasn't ended, and waits for nobody.
const statusRunning = "running"

// problemOf returns why a tool has failed.
func problemOf(n *plan.NodeState) *contenttools.Problem {
	if i := strings.IndexByte(n.Error, '{'); i >= 0 {
		if p, ok := contenttools.ReadFailure(n.Error[i:]); ok {
			return p
		}
	}
	return contenttools.Explain(fault.New(n.Class, n.Error))
}
