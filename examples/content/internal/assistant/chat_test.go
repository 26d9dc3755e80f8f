package assistant

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/script"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestATopicThatIsNamedMakesANewDraftAndLeavesTheOpenArticle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	open := b.ready("ann", "Remote work")
	answer := b.say("ann", open.ID, "Write a blog post about fixed prices")
	require.True(t, answer.Success, answer.Message)
	require.Equal(t, open.UpdatedAt, b.artifact("ann", open.ID).UpdatedAt)
	all, err := b.Store.Artifacts(t.Context(), "ann")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Contains(t, strings.ToLower(all[0].Title), "fixed prices")
	require.Contains(t, answer.ToolsUsed, portfolio.ContentWriter)

	require.True(t, b.say("ann", "", "Humanize this").Success) // the conversation is about the new one
	require.Equal(t, open.UpdatedAt, b.artifact("ann", open.ID).UpdatedAt)
	answer = b.say("ann", all[0].ID, "Publish “Remote work”")
	require.Contains(t, answer.Message, "Others can read “Remote work” then.", "the named one wins over the open one")
}

func TestNothingRunsOnASentenceThatForbidsOrAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	for _, message := range []string{"Don't publish this", "please do not archive it", "What does publish do?",
		"Should I humanize this?", "I'll write it myself", "Publish it. Actually no, leave it."} {
		answer := b.say("ann", a.ID, message)
		require.True(t, answer.Success, message)
		require.NotEmpty(t, answer.Message)
		require.Empty(t, answer.ToolsUsed, message)
		require.Equal(t, a.UpdatedAt, b.artifact("ann", a.ID).UpdatedAt, message)
	}
}

func TestWhatOthersSeeAndWhatReplacesATextAsksFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	for message, why := range map[string]string{"Publish it": "Others can read", "Archive it": "leaves your portfolio",
		"Create a new outline":      "This replaces the text of “Remote work” (",
		"Write the text again":      "This replaces the text",
		"Research this topic again": "New sources are added"} {
		answer := b.say("ann", a.ID, message)
		require.Contains(t, answer.Message, why, message)
		require.Equal(t, "Yes", answer.Options[0].Message)
		answer = b.say("ann", a.ID, "ok, wait, don't do that")
		require.Equal(t, "All right, nothing was changed.", answer.Message)
		require.Equal(t, a.UpdatedAt, b.artifact("ann", a.ID).UpdatedAt, message)
	}
	b.say("ann", a.ID, "Publish it")
	answer := b.say("ann", a.ID, "Show my drafts") // about something else: what waits is dropped
	require.Contains(t, answer.Message, "There are none")
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)

	b.say("ann", a.ID, "Write the text again")
	answer = b.say("ann", a.ID, "ok")
	require.True(t, answer.Success, answer.Message)
	require.Equal(t, []string{portfolio.ContentWriter}, answer.ToolsUsed)
	now := b.artifact("ann", a.ID)
	require.Equal(t, portfolio.CreatingVisuals, now.Status)
	require.Len(t, b.options(answer, "Continue with "), 1, "%+v", answer.Options)
	b.say("ann", a.ID, b.options(answer, "Continue with ")[0])
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
	b.say("ann", a.ID, "Publish it")
	require.True(t, b.say("ann", a.ID, "Yes").Success)
	require.Equal(t, portfolio.Published, b.artifact("ann", a.ID).Status)
}

func TestAProposalIsDecidedInTheChat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	propose := func() {
		answer := b.say("ann", a.ID, "Make the introduction shorter")
		require.Equal(t, []string{"Accept", "Reject", "Try again"}, labels(answer.Options), answer.Message)
	}
	for _, message := range []string{"accept it", "Reject the proposal"} {
		require.Equal(t, "There is no open proposal for “Remote work”.", b.say("ann", a.ID, message).Message)
	}
	propose()
	for _, message := range []string{"don't accept it", "should I take it?", "undo that", "what does reject do?"} {
		b.say("ann", a.ID, message)
		p, err := b.Store.Proposal(t.Context(), "ann", a.ID)
		require.NoError(t, err)
		require.NotNil(t, p, message)
		require.Equal(t, a.Content, b.artifact("ann", a.ID).Content, message)
	}
	propose()
	require.Contains(t, b.say("ann", a.ID, "try again").Message, "I have a proposal for the introduction.")
	for message, accepted := range map[string]bool{"no, discard it": false, "Reject": false, "yes": true,
		"1": true, "please accept it": true} {
		propose()
		require.True(t, b.say("ann", a.ID, message).Success, message)
		p, err := b.Store.Proposal(t.Context(), "ann", a.ID)
		require.NoError(t, err)
		require.Nil(t, p, message)
		require.Equal(t, accepted, b.artifact("ann", a.ID).Content != a.Content, message)
		if accepted {
			require.Contains(t, b.say("ann", a.ID, "undo that").Message, "of “Remote work” is back")
			require.Equal(t, a.Content, b.artifact("ann", a.ID).Content, message)
		}
	}
}

func labels(options []Option) (all []string) {
	for _, o := range options {
		all = append(all, o.Label)
	}
	return all
}

func TestAVersionIsRestoredInTheChat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	first, err := b.Store.Version(t.Context(), "ann", a.ID, 1)
	require.NoError(t, err)
	for _, message := range []string{"don't undo that", "Can I undo that?", "never restore version 1",
		"restore version 99"} {
		require.Empty(t, b.say("ann", a.ID, message).ToolsUsed, message)
		require.Equal(t, a.Content, b.artifact("ann", a.ID).Content, message)
	}
	require.Contains(t, b.say("ann", a.ID, "restore version 1").Message, "Version 1 of “Remote work” is back: ")
	require.Equal(t, first.Content, b.artifact("ann", a.ID).Content)
	b.say("ann", a.ID, "undo that")
	require.Equal(t, a.Content, b.artifact("ann", a.ID).Content)

	b.say("ann", a.ID, "Publish it")
	b.say("ann", a.ID, "Yes")
	answer := b.say("ann", a.ID, "undo that")
	require.Equal(t, []string{"Take “Remote work” back", "Restore the version before"}, labels(answer.Options))
	answer = b.say("ann", a.ID, "List my archived articles")
	require.Equal(t, "No article is in the archive at the moment.", answer.Message)
	require.Contains(t, b.say("ann", a.ID, "show my published articles").Message, "(1)")
	require.Contains(t, b.say("ann", a.ID, "Take it offline").Message, "isn't published any more then")
	require.Equal(t, portfolio.Published, b.artifact("ann", a.ID).Status)
	b.say("ann", a.ID, "Yes")
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
}

// options returns the messages of the options that begin like this.
func (b *bench) options(a Answer, like string) (all []string) {
	for _, o := range a.Options {
		if strings.HasPrefix(o.Message, like) {
			all = append(all, o.Message)
		}
	}
	return all
}

func TestAWriterThatFailsWhileATextIsWrittenAgainLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	b.fails = func(purpose string, _ int) error {
		if purpose == "writer" {
			return errDown
		}
		return nil
	}
	b.say("ann", a.ID, "Write the text again")
	require.False(t, b.say("ann", a.ID, "Yes").Success)
	now := b.artifact("ann", a.ID)
	require.Equal(t, a.Content, now.Content)
	require.Equal(t, portfolio.Ready, now.Status)
}

// Each status can be continued with the option that its status offers, to the end.
func TestEachStatusHasAnOptionThatGoesOn(t *testing.T) {
	t.Parallel()
	for _, step := range sampled(1, portfolio.TopicResearch, portfolio.ContentWriter, portfolio.VisualsCreator) {
		b := newBench(t)
		a := b.draft("ann", "Remote work")
		var stopping sync.WaitGroup
		stop := map[string]string{portfolio.TopicResearch: "insights", portfolio.ContentWriter: "writer",
			portfolio.VisualsCreator: ""}[step]
		b.fails = func(purpose string, _ int) error {
			if purpose == stop {
				stopping.Go(func() { _ = b.Cancel(context.Background(), "ann", a.ID) })
				return fault.New(fault.Transient, "not yet")
			}
			return nil
		}
		answer := b.say("ann", a.ID, button(a))
		stopping.Wait()
		b.mu.Lock()
		b.fails = nil
		b.mu.Unlock()
		for range 3 {
			if b.artifact("ann", a.ID).Status == portfolio.Ready {
				break
			}
			require.NotEmpty(t, b.options(answer, "Continue with"), "%s: %+v", step, answer)
			answer = b.say("ann", "", b.options(answer, "Continue with")[0])
		}
		require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status, step)
	}
}

func TestAStopInTheChatSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	session, err := b.Conversation(t.Context(), "ann", "", false)
	require.NoError(t, err)
	var stopping sync.WaitGroup
	var once sync.Once
	var stopped bool
	var failed error
	b.fails = func(purpose string, _ int) error {
		if purpose == "skeleton" {
			once.Do(func() {
				stopping.Go(func() { stopped, failed = b.Stop(context.Background(), "ann", session) })
			})
			return fault.New(fault.Transient, "not yet")
		}
		return nil
	}
	answer := b.say("ann", a.ID, button(a))
	stopping.Wait()
	require.NoError(t, failed)
	require.True(t, stopped)
	require.Equal(t, "Stopped. Research is done; the outline isn't.", answer.Message)
	require.Equal(t, "Continue with the outline", answer.Options[0].Label)
	p, err := b.Pipeline(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, PipelineStopped, p.State)
}

func TestTheTextIsShownAsItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []Progress
		s := &Services{pipelines: map[string]*driven{}}
		d := &driven{s: s}
		d.listen(Job{Report: func(p Progress) { said = append(said, p) }})
		s.pipelines["a"] = d
		r := &router{s, provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				for range 3 {
					time.Sleep(2 * pace)
					if !yield(provider.Text("word "), nil) {
						return
					}
				}
			}
		})}
		d.report(Progress{Tool: portfolio.ContentWriter, Text: "Text: section 1 of 2: Begin"})
		for _, err := range r.Stream(t.Context(),
			&provider.Request{Labels: provider.Labels{Kind: "writer", Session: "content/a/1/0/x"}}) {
			require.NoError(t, err)
		}
		require.Len(t, said, 4)
		require.Equal(t, "word word word ", said[3].Written)
		require.Equal(t, "Text: section 1 of 2: Begin", said[3].Text)
	})
}

func TestARealModelAnswersWhereTheRulesDontKnow(t *testing.T) {
	t.Parallel()
	var fails bool
	b := newBench(t, func(c *Config) {
		c.Real = true
		c.Model = providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if fails {
				return nil, &provider.Error{Class: fault.UserFixable, Provider: "x", Status: 401}
			}
			return providertest.Call(contenttools.StructuredResponse, contenttools.Answer{Message: "I think so.",
				Options: []contenttools.Option{{Label: "Go on", Message: "Show my drafts"}}}).Response(), nil
		})
	})
	answer := b.say("ann", "", "help me with something")
	require.True(t, answer.Success, answer.Message)
	require.Equal(t, "I think so.", answer.Message)
	require.Len(t, answer.Options, 1)
	session, err := b.Conversation(t.Context(), "ann", "", false)
	require.NoError(t, err)
	res, err := b.Agent.Run(t.Context(), agent.Input{Session: session, Prompt: "help me with something", User: "ann",
		Owner: "ann", Labels: b.Labels(Screen{CurrentPage: Terminal}, "")})
	require.NoError(t, err)
	require.Contains(t, res.Text(), "I think so.\n  1: Go on", "a terminal shows it all")
	fails = true
	answer = b.say("ann", "", "help me with something")
	require.False(t, answer.Success)
	require.Contains(t, answer.Message, "doesn't accept the key")
	require.Equal(t, "Try again", answer.Options[0].Label)
}

// A message that comes while steps run is answered when they have ended, together with them.
func TestAMessageDuringAPipelineIsAnsweredAfterIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	session, err := b.Conversation(t.Context(), "ann", "", false)
	require.NoError(t, err)
	b.fails = func(purpose string, n int) error {
		if purpose == "skeleton" && n == 1 {
			_, err := b.Hub.Send(context.Background(), agent.Input{Session: session, Prompt: "Show my artifacts",
				User:  "ann",
				Owner: "ann"})
			return err
		}
		return nil
	}
	answer := b.say("ann", a.ID, button(a))
	require.Contains(t, answer.Message, "These are your articles (1).", "%+v", answer)
	messages, err := b.Agent.Session(session).Messages(t.Context())
	require.NoError(t, err)
	text := ""
	for _, m := range messages {
		text += m.Text() + "\n"
	}
	require.Contains(t, text, "Done: research, outline, text, revision and images.")
}

// Whatever is listed as known is known, and each intent does something.
func TestTheHelpHasNoHoles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Fixed prices")
	at := script.Place{Artifacts: []portfolio.Artifact{a}, Open: a.ID}
	r := &router{Services: b.Services}
	done := map[script.Intent]bool{}
	said := slices.Clone(script.Some[:len(script.Some)-1]) // the last one is the help
	for _, g := range script.Groups {
		said = append(said, g.Requests...)
	}
	for _, said := range said {
		w := script.Read(said, at)
		require.NotEqual(t, script.Unknown, w.Intent, said)
		out := r.begin(t.Context(), turn{user: "ann", message: said}, at, w)
		acts := out.name != contenttools.StructuredResponse
		require.True(t, acts || w.Intent == script.Stop, "%s: %s", said, out.text)
		done[w.Intent] = true
	}
	require.Len(t, done, 18)
	answer := b.say("ann", a.ID, "make a coffee")
	require.True(t, answer.Success && answer.ClarificationNeeded)
	require.Contains(t, answer.Message, "I don't know this request, so I changed nothing. I'm a script, not a model")
	require.Equal(t, len(script.Some), strings.Count(answer.Message, "\n- "), "it fits a phone")
	for _, o := range answer.Options {
		require.NotEqual(t, script.Unknown, script.Read(o.Message, at).Intent, o.Message)
		require.True(t, isButton(o.Message), o.Message)
	}
}

func TestADraftKeepsTheIdeaThatItIsMadeFrom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	answer := b.say("ann", "", "Give me three ideas about pricing for my blog")
	first := answer.Data.(map[string]any)["topics"].([]any)[0].(map[string]any)
	answer = b.say("ann", "", "Create a draft “"+first["title"].(string)+"”")
	require.True(t, answer.Success, answer.Message)
	all, err := b.Store.Artifacts(t.Context(), "ann")
	require.NoError(t, err)
	require.Len(t, all, 1, answer.Message)
	require.Contains(t, string(all[0].Metadata["idea"]), first["suggestedAngle"])
}

func TestAnArtifactIsReadyWithoutPictures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	require.True(t, b.say("ann", a.ID, "Research it, then outline it, then write the text").Success)
	answer := b.say("ann", a.ID, "Skip the images, please")
	require.True(t, answer.Success, answer.Message)
	require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status, answer.Message)
	p, err := b.Pipeline(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, PipelineCompleted, p.State)
}

func TestAModelThatDoesNotBeginIsSaidSo(t *testing.T) {
	for wait, want := range map[time.Duration]int{silence - 1: 0, silence + 1: 1, 3 * silence: 1} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var said []string
			s := &Services{pipelines: map[string]*driven{}}
			d := &driven{s: s}
			d.listen(Job{Report: func(p Progress) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, p.Text)
			}})
			s.pipelines["a"] = d
			r := &router{s, provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
				return func(yield func(provider.Chunk, error) bool) {
					time.Sleep(wait)
					_ = yield(provider.Start(""), nil) && yield(provider.Text("word"), nil)
				}
			})}
			d.report(Progress{Tool: portfolio.SkeletonCreator, Text: "Outline"})
			for range r.Stream(t.Context(), &provider.Request{Labels: provider.Labels{Kind: "skeleton",
				Session: "content/a/1/0/x"}}) {
			}
			mu.Lock()
			defer mu.Unlock()
			text := strings.Join(said, "\n")
			require.Equal(t, want, strings.Count(text, "Outline: the model hasn't begun to answer for 20 s"), text)
			require.True(t, strings.HasSuffix(text, "Outline"), "when it has begun, the step is shown again: %s", text)
		})
	}
}
