package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/humanity"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
)

// The names of the tools that run steps.
const (
	RunSteps     = "runSteps"
	ContinueWork = "continueWork"
)

// ChatTools are the tools of the chat. The tools of single steps aren't among them: runSteps calls
// them, one after the other, in a plan that survives its process.
var ChatTools = append([]string{RunSteps, ContinueWork, contenttools.ProposeEdit, contenttools.TopicsResearch,
	contenttools.FetchArtifact, contenttools.FetchArtifactTopics, contenttools.FetchResearch,
	contenttools.ListDraftArtifacts, contenttools.StructuredResponse}, contenttools.Acts...)

// Work is the data of the answer of a tool that runs steps.
type Work struct {
	Artifact contenttools.Listed `json:"artifact"`
	Done     []string            `json:"done"`           // the steps that have ended well, also before
	Open     []string            `json:"open,omitempty"` // those that haven't
	Stopped  bool                `json:"stopped,omitempty"`
	Skipped  bool                `json:"skipped,omitempty"` // the images
	Note     string              `json:"note,omitempty"`    // what the steps have to say about their results
	Score    string              `json:"score,omitempty"`   // patterns of machines in the text
}

type stepsInput struct {
	ArtifactID string   `json:"artifactId"`
	About      string   `json:"about,omitempty"`
	Steps      []string `json:"steps" enum:"topicResearch,skeletonCreator,contentWriter,humanizer,visualsCreator" description:"in this order"`
	Again      bool     `json:"again,omitempty"`
	SkipImages bool     `json:"skipImages,omitempty" description:"the artifact is ready afterwards, without images"`
}

type continueInput struct {
	ArtifactID string `json:"artifactId"`
}

// workTools returns the tools that run steps.
func (s *Services) workTools() []tools.Tool {
	spec := tools.Spec{Category: "content", Risk: tools.Medium, Idempotent: true, Progress: true,
		ProgressLimit: 3 * time.Hour, NoBreaker: true, NoRetries: true}
	steps, goOn := spec, spec
	steps.Name, steps.Description = RunSteps,
		"Runs steps on an artifact, one after the other: research, outline, text, "+
			"revision, images. A step that was done before is done again; the user is asked first."
	goOn.Name, goOn.Description = ContinueWork,
		"Continues the work on an artifact where it has failed or was stopped, or "+
			"does the steps that are missing."
	return []tools.Tool{
		tools.Func[stepsInput, contenttools.Envelope]{Spec: steps,
			Title: func(ctx context.Context, in stepsInput) string {
				return in.title(contenttools.Quoted(ctx, s.Store, in.ArtifactID))
			},
			Run: func(ctx context.Context, in stepsInput) (contenttools.Envelope, error) {
				return s.work(ctx, in.ArtifactID, func(ctx context.Context, c *tools.Call, trace string) (Outcome,
					error) {
					if len(in.Steps) == 0 && in.SkipImages {
						a, err := s.Store.Artifact(ctx, c.User, in.ArtifactID)
						if err != nil {
							return Outcome{}, err
						}
						now, err := s.Store.Move(ctx, c.User, in.ArtifactID, portfolio.Ready, portfolio.BySystem)
						return Outcome{From: a.Status, To: now.Status, Skipped: true}, err
					}
					out, err := s.Start(ctx, Job{User: c.User, Artifact: in.ArtifactID, Trace: trace,
						Key:     c.IdempotencyKey,
						Session: c.Session, Tools: in.Steps, Report: reporter(ctx)})
					if err == nil && out.Problem == nil && !out.Pipeline.Stopped && in.SkipImages {
						var a portfolio.Artifact
						a, err = s.Store.Move(ctx, c.User, in.ArtifactID, portfolio.Ready, portfolio.BySystem)
						out.To, out.Skipped = a.Status, true
					}
					return out, err
				})
			}},
		tools.Func[continueInput, contenttools.Envelope]{Spec: goOn,
			Title: func(ctx context.Context, in continueInput) string {
				return "Continue the work on " + contenttools.Quoted(ctx, s.Store, in.ArtifactID)
			},
			Run: func(ctx context.Context, in continueInput) (contenttools.Envelope, error) {
				return s.work(ctx, in.ArtifactID, func(ctx context.Context, c *tools.Call, trace string) (Outcome,
					error) {
					return s.Continue(ctx, Job{User: c.User, Artifact: in.ArtifactID, Trace: trace,
						Key:     c.IdempotencyKey,
						Session: c.Session, Report: reporter(ctx)})
				})
			}},
	}
}

// title says what the steps do with an artifact: "Research “Remote work”", or "Research and outline
// of “Remote work”".
func (in stepsInput) title(artifact string) string {
	title := upper(resultsOf(in.Steps))
	switch {
	case len(in.Steps) == 0:
		return "Finish " + artifact
	case len(in.Steps) > 1 || in.Steps[0] != portfolio.TopicResearch:
		title += " of"
	}
	title += " " + artifact
	if in.Again {
		title += " again"
	}
	if in.SkipImages {
		title += ", without images"
	}
	return title
}

// reporter passes on what a pipeline reports as the progress of a call.
func reporter(ctx context.Context) func(Progress) {
	return func(p Progress) {
		text := p.Text
		if p.Written != "" {
			text += "\n\n" + p.Written
		}
		tools.Progress(ctx, tools.ProgressReport{Text: text, Done: p.Done})
	}
}

// work makes the answer of a tool that runs steps.
func (s *Services) work(ctx context.Context, id string, run func(context.Context, *tools.Call, string) (Outcome,
	error)) (e contenttools.Envelope, err error) {
	c, ok := tools.CallOf(ctx)
	if !ok || c.User == "" {
		return e, portfolio.Errorf(portfolio.Unauthorized, "The tool needs a user; set agent.Input.User.")
	}
	began := time.Now()
	trace := orElse(c.Labels.Get("trace"), c.Session)
	out, err := run(ctx, c, trace)
	if ctx.Err() != nil { // the run has ended before the pipeline
		if stop, ok := errors.AsType[*agent.StopError](context.Cause(ctx)); ok && stop.Code == machine.CodeCanceled {
			err = errors.Join(err, s.Cancel(context.WithoutCancel(ctx), c.User, id))
		}
		return e, errors.Join(context.Cause(ctx), err)
	}
	e.TraceID, e.Duration = orElse(out.Pipeline.Trace, trace), time.Since(began).Milliseconds()
	if err == nil && out.Problem != nil {
		e.Error = out.Problem
	} else if err != nil {
		e.Error = contenttools.Explain(err)
	}
	a, failed := s.Store.Artifact(ctx, c.User, id)
	if failed != nil {
		return e, &contenttools.Failure{Envelope: e, Err: errors.Join(err, failed)}
	}
	done := Work{Artifact: contenttools.ListedOf(&a), Done: out.Used, Stopped: out.Pipeline.Stopped,
		Skipped: out.Skipped,
		Note:    out.Note, Open: slices.DeleteFunc(slices.Clone(out.Pipeline.Tools), func(name string) bool {
			return slices.Contains(out.Used, name)
		})}
	if a.Content != "" {
		done.Score = humanity.Check(a.Content).Summary
	}
	if out.From != out.To {
		e.StatusTransition = &contenttools.Moved{From: out.From, To: out.To}
	}
	if e.Data, failed = json.Marshal(done); failed != nil {
		return e, failed
	}
	if e.Error != nil {
		return e, &contenttools.Failure{Envelope: e, Err: orError(err, e.Error.Message)}
	}
	e.Success = true
	return e, nil
}

func orError(err error, text string) error {
	if err == nil {
		err = errors.New(text)
	}
	return err
}
