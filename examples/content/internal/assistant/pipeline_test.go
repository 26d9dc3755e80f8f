package assistant

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

var errDown = fault.New(fault.Permanent, "the provider is down")

func TestTheButtonRunsFiveToolsInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	var said []string
	answer := b.Execute(t.Context(), Request{User: "ann", Message: button(a), Progress: func(text string) {
		said = append(said, text)
	}})
	require.True(t, answer.Success, "%+v", answer)
	require.Equal(t, Full, answer.ToolsUsed)
	require.NotEmpty(t, said) // a reader that is slow misses some
	require.Regexp(t, `^(?:(?:Research|Outline|Text|Revision|Images)(?:: [^\n]+)?(?:\n|$))+$`, strings.Join(said, "\n"))
	require.Equal(t, "FULL_PIPELINE", answer.Intent)
	require.Regexp(t, `^ca-\d+-[a-z0-9]{6}$`, answer.TraceID)
	require.Equal(t, []portfolio.Status{portfolio.Research, portfolio.Skeleton, portfolio.Writing,
		portfolio.CreatingVisuals, portfolio.Ready},
		slices.Compact(b.statuses("ann", a.ID)))
	now := b.artifact("ann", a.ID)
	require.Greater(t, len(now.Content), 500)
	require.Contains(t, now.Content, "![")
	found, err := b.Store.Research(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(found), 5)
}

func TestTheFullPipelineGoesOnFromAStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[portfolio.Status][]string{portfolio.Draft: Full, portfolio.Research: Full[1:],
		portfolio.Skeleton: Full[2:], portfolio.Writing: Full[2:], portfolio.CreatingVisuals: Full[3:],
		portfolio.Ready: nil, portfolio.Published: nil, portfolio.Archived: nil} {
		require.Equal(t, want, Rest(status), status)
	}
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	require.True(t, b.say("ann", a.ID, "Research this topic").Success)
	answer := b.say("ann", a.ID, "Create the content")
	require.True(t, answer.Success, answer.Message)
	require.Equal(t, Full[1:], answer.ToolsUsed)
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
	require.Equal(t, 1, b.asked["insights"])
	answer = b.say("ann", a.ID, "Create the content")
	require.Contains(t, answer.Message, "This replaces the text of ")
	require.Equal(t, []Option{{Label: "Yes", Message: "Yes"}, {Label: "No", Message: "No"}}, answer.Options)
}

// The writer fails in the third section. The artifact is as it was before the writer, and trying
// again repeats neither research nor outline nor the two sections.
func TestTryingAgainRepeatsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	b.fails = func(purpose string, n int) error {
		if purpose == "writer" && n == 3 {
			return errDown
		}
		return nil
	}
	answer := b.say("ann", a.ID, button(a))
	require.False(t, answer.Success)
	require.Equal(t, portfolio.ToolExecutionFailed, answer.Error.Category)
	require.Equal(t, answer.TraceID, answer.Error.TraceID)
	require.Equal(t, []string{portfolio.TopicResearch, portfolio.SkeletonCreator}, answer.ToolsUsed)
	require.Contains(t, answer.Error.RecoveryOptions, Option{Label: "Try again from the text",
		Message: "Continue with “Remote work” (artifact " + a.ID + ")"})
	now := b.artifact("ann", a.ID)
	require.Equal(t, portfolio.Skeleton, now.Status)
	require.Contains(t, now.Content, "[WRITE:", "the outline")
	before := map[string]int{"insights": b.asked["insights"], "skeleton": b.asked["skeleton"]}

	answer = b.say("ann", a.ID, "Try again")
	require.True(t, answer.Success, "%+v", answer)
	require.Equal(t, Full, answer.ToolsUsed)
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
	require.Equal(t, before, map[string]int{"insights": b.asked["insights"], "skeleton": b.asked["skeleton"]})
	require.Equal(t, 3+6-2, b.asked["writer"], "six sections, of which two were written before the failure")

	answer = b.say("ann", a.ID, "Try again")
	require.Equal(t, portfolio.MissingContext, answer.Error.Category, "there is nothing to try again")
}

// Each tool of the pipeline fails once. What came before it stays, and its own effect is undone.
// A process has died after it recorded a pipeline, and before its plan was stored: that pipeline
// doesn't keep the artifact, and goes on if it is asked for again.
func TestAPipelineThatHasntBegunBlocksNothing(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*Services, Job) (Outcome, error){
		"another one": func(s *Services, j Job) (Outcome, error) {
			j.Key = "another"
			return s.Start(t.Context(), j)
		},
		"the same": func(s *Services, j Job) (Outcome, error) { return s.Start(t.Context(), j) },
		"going on": func(s *Services, j Job) (Outcome, error) { return s.Continue(t.Context(), j) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.draft("ann", "Remote work")
			j := Job{User: "ann", Artifact: a.ID, Trace: "ca-1-abcdef", Key: "one", Tools: Full}
			require.NoError(t, b.Store.StartPipeline(t.Context(), portfolio.Pipeline{
				Name: pipelineName(a.ID, j.Key), Artifact: a.ID, User: j.User, Tools: j.Tools, Trace: j.Trace}))
			p, err := b.Pipeline(t.Context(), "ann", a.ID)
			require.NoError(t, err)
			require.Equal(t, PipelineStopped, p.State)
			out, err := again(b.Services, j)
			require.NoError(t, err)
			require.Equal(t, PipelineCompleted, out.Pipeline.State)
			require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
		})
	}
}

func TestEachToolThatFailsIsRolledBack(t *testing.T) {
	t.Parallel()
	type failure struct {
		tool, purpose string
		status        portfolio.Status
	}
	for _, tc := range sampled(2,
		failure{portfolio.TopicResearch, "insights", portfolio.Draft},
		failure{portfolio.SkeletonCreator, "skeleton", portfolio.Research},
		failure{portfolio.ContentWriter, "writer", portfolio.Skeleton},
		failure{portfolio.Humanizer, "humanizer", portfolio.CreatingVisuals},
	) {
		tool := tc.tool
		t.Run(tool, func(t *testing.T) {
			var admitted [][]string
			b := newBench(t, func(cfg *Config) {
				cfg.Admit = func(_ context.Context, _ portfolio.User, names []string) (func(), error) {
					admitted = append(admitted, names)
					return func() {}, nil
				}
			})
			a := b.draft("ann", "Remote work")
			b.fails = func(purpose string, _ int) error {
				if purpose == tc.purpose {
					return errDown
				}
				return nil
			}
			answer := b.say("ann", a.ID, button(a))
			require.False(t, answer.Success)
			require.Equal(t, Full[:slices.Index(Full, tool)], answer.ToolsUsed)
			require.Equal(t, tc.status, b.artifact("ann", a.ID).Status)
			b.mu.Lock()
			b.fails = nil
			b.mu.Unlock()
			require.True(t, b.say("ann", a.ID, "Try again").Success)
			require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
			require.Equal(t, [][]string{Full, Full[slices.Index(Full, tool):]}, admitted, "the tools that run again")
		})
	}
}

func TestOnePipelineOfAnArtifactAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b.fails = func(purpose string, _ int) error {
		if purpose == "skeleton" {
			once.Do(func() { close(begun); <-goOn })
		}
		return nil
	}
	first := make(chan Answer)
	go func() { first <- b.say("ann", a.ID, button(a)) }()
	<-begun
	second := b.say("ann", a.ID, button(a))
	third := b.Execute(t.Context(), Request{User: "ann", Message: button(a), Session: "another"})
	close(goOn)
	require.Equal(t, portfolio.Conflict, second.Error.Category)
	require.Contains(t, second.Message, "Another message of this conversation")
	require.Equal(t, portfolio.Conflict, third.Error.Category)
	require.Contains(t, third.Message, "is being worked on. Wait")
	require.True(t, (<-first).Success)
	require.Equal(t, 1, b.asked["skeleton"])
}

func TestAPipelineWhoseCallerGoesAwayGoesOn(t *testing.T) {
	t.Parallel()
	admitted, open := 0, 0
	b := newBench(t, func(c *Config) {
		c.Admit = func(context.Context, portfolio.User, []string) (func(), error) {
			admitted++
			open++
			return func() { open-- }, nil
		}
	})
	a := b.draft("ann", "Remote work")
	ctx, cancel := context.WithCancel(t.Context())
	b.fails = func(purpose string, n int) error {
		if purpose == "writer" && n == 2 {
			cancel()
		}
		return nil
	}
	answer := b.Execute(ctx, Request{User: "ann", Message: button(a)})
	require.False(t, answer.Success)
	session, err := b.Conversation(t.Context(), "ann", "", false)
	require.NoError(t, err)
	for ev, err := range b.Hub.Watch(t.Context(), session, 0) {
		require.NoError(t, err)
		if _, ended := ev.(*agent.RunEnded); ended {
			break
		}
	}
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
	require.Equal(t, 1, b.asked["skeleton"])
	require.Equal(t, 1, admitted)
	require.Zero(t, open)
}

// BenchmarkPipeline runs the whole pipeline with the stand-in model.
func BenchmarkPipeline(b *testing.B) {
	s, err := openAt(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	for b.Loop() {
		a, err := s.Store.Create(b.Context(),
			portfolio.Artifact{User: "ann", Type: portfolio.Blog, Title: "Remote work"})
		if err != nil {
			b.Fatal(err)
		}
		if answer := s.Execute(b.Context(), Request{User: "ann", Message: button(a)}); !answer.Success {
			b.Fatal(errors.New(strings.TrimSpace(answer.Message)))
		}
	}
}
