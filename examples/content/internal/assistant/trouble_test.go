package assistant

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// obeying returns a change of the configuration: a model that sets the tone of the article on the
// screen whatever is said, and a judge.
func obeying(id *string, judge func(ctx context.Context) string) func(*Config) {
	return func(c *Config) {
		c.Real = true
		c.Model = providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			switch last := req.Messages[len(req.Messages)-1]; {
			case req.Labels.Kind == "consent":
				word := judge(ctx)
				return providertest.Say(word).Response(), context.Cause(ctx)
			case last.Role == provider.RoleUser:
				in := map[string]any{"artifactId": *id, "tone": "formal"}
				return providertest.Call(contenttools.SetTone, in).Response(), nil
			}
			done := map[string]any{"message": "Done."}
			return providertest.Call(contenttools.StructuredResponse, done).Response(), nil
		})
	}
}

// A user who cancels while the judge thinks isn't made to wait, and nothing runs.
func TestACancellationWhileTheJudgeThinksEndsTheRun(t *testing.T) {
	t.Parallel()
	asked, id := make(chan int, 10), ""
	b := newBench(t, obeying(&id, func(ctx context.Context) string {
		asked <- 0
		<-ctx.Done()
		return "requests"
	}))
	id = b.draft("ann", "Remote work").ID
	answered := make(chan Answer)
	go func() {
		answered <- b.Execute(context.WithoutCancel(t.Context()), Request{User: "ann", Message: "la seconde"})
	}()
	<-asked
	session, err := b.Conversation(t.Context(), "ann", Main, false)
	require.NoError(t, err)
	require.NoError(t, b.Hub.Cancel(t.Context(), session))
	require.False(t, (<-answered).Success)
	require.Equal(t, "professional", b.artifact("ann", id).Tone)
	pending, err := b.Agent.Session(session).Pending(t.Context())
	require.NoError(t, err)
	require.Empty(t, pending)
}

// Two tabs answer at once: one of the answers counts, and the call runs once if that is yes.
func TestTwoTabsThatAnswerAtOnce(t *testing.T) {
	t.Parallel()
	id := ""
	b := newBench(t, obeying(&id, func(context.Context) string { return "forbids" }))
	for i := range 8 {
		id = b.draft("ann", fmt.Sprint("Remote work ", i)).ID
		name := fmt.Sprint("tab", i)
		say := func(message string) Answer {
			return b.Execute(context.WithoutCancel(t.Context()), Request{User: "ann", Message: message, Session: name})
		}
		require.True(t, say("la seconde").ClarificationNeeded)
		require.Equal(t, "professional", b.artifact("ann", id).Tone)
		var tabs sync.WaitGroup
		for _, word := range []string{"Yes", []string{"No", "Yes"}[i%2]} {
			tabs.Go(func() { say(word) })
		}
		tabs.Wait()
		session, err := b.Conversation(t.Context(), "ann", name, false)
		require.NoError(t, err)
		begun, allowed := 0, 0
		for ev, err := range b.Agent.Session(session).Watch(t.Context(), 0) { // a decision may only be stored yet
			require.NoError(t, err)
			switch f := ev.(type) {
			case *agent.ToolStarted:
				if f.Call.Name == contenttools.SetTone {
					begun++
				}
			case *machine.Decided:
				if f.Decision.Kind == machine.Approved {
					allowed++
				}
			}
			require.LessOrEqual(t, begun, min(1, allowed))
			info, err := b.Agent.Session(session).Info(t.Context())
			require.NoError(t, err)
			if ev.Envelope().Seq == info.Facts && info.Status != agent.Running &&
				(begun == 1) == (b.artifact("ann", id).Tone == "formal") {
				break
			}
		}
	}
}

// A prohibition that comes while the model is at work holds for what it does next.
func TestAProhibitionThatComesDuringARunHolds(t *testing.T) {
	t.Parallel()
	asked, sent, id := make(chan int), make(chan int), ""
	var first sync.Once
	b := newBench(t, obeying(&id, func(context.Context) string { return "requests" }), func(c *Config) {
		inner := c.Model
		c.Model = providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			if req.Labels.Kind == "step" {
				first.Do(func() {
					close(asked)
					<-sent
				})
			}
			return provider.Generate(ctx, inner, req)
		})
	})
	id = b.draft("ann", "Remote work").ID
	answered := make(chan Answer)
	go func() {
		answered <- b.Execute(context.WithoutCancel(t.Context()),
			Request{User: "ann", Message: "Set the tone to formal"})
	}()
	<-asked
	session, err := b.Conversation(t.Context(), "ann", Main, false)
	require.NoError(t, err)
	out, err := b.Hub.Send(t.Context(), agent.Input{User: "ann", Owner: "ann", Session: session,
		Prompt: "Don't change anything!"})
	require.NoError(t, err)
	require.True(t, out.Steered)
	close(sent)
	<-answered
	require.Equal(t, "professional", b.artifact("ann", id).Tone)
}
