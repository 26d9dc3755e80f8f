package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestTheContextStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := strings.Repeat("Ä word. ", 2000)
	require.NoError(t, b.Store.SetContext(t.Context(), "ann", portfolio.UserContext{Bio: long, Expertise: long}))
	a := b.draft("ann", strings.Repeat("t", portfolio.MaxTitle))
	b.say("ann", a.ID, "hello")
	session, err := b.Conversation(t.Context(), "ann", "", false)
	require.NoError(t, err)
	c, err := b.context(t.Context(), agent.ContextInput{Session: session})
	require.NoError(t, err)
	require.Len(t, []rune(c.User), userBudget)
	require.Less(t, len([]rune(c.Screen)), screenBudget+1)
	require.Contains(t, c.Screen, "Page: artifact\nArtifact: "+a.ID)

	b.Execute(t.Context(), Request{User: "ann", Message: "hello"})
	c, err = b.context(t.Context(), agent.ContextInput{Session: session})
	require.NoError(t, err)
	require.Contains(t, c.Screen, "Page: chat\nNo artifact selected")
}

// fetches are what the model of these tests calls for words of a message. It knows the status of
// the artifact on the screen.
var fetches = []struct{ word, tool string }{{"sources", contenttools.FetchResearch},
	{"findings", contenttools.FetchResearch}, {"drafts", contenttools.ListDraftArtifacts},
	{"portfolio", contenttools.FetchArtifactTopics},
	{"topic", contenttools.FetchArtifactTopics}}

// asked returns a change of the configuration so that a model answers every message, and sees is
// called with its requests.
func asked(sees func(*provider.Request)) func(*Config) {
	return func(c *Config) {
		c.Real = true
		inner := c.Model
		c.Model = providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			if req.Labels.Kind != "step" {
				if req.Labels.Kind == "summary" {
					return providertest.Say("They listed drafts.").Response(), nil
				}
				return provider.Generate(ctx, inner, req)
			}
			sees(req)
			if last := req.Messages[len(req.Messages)-1]; last.Role == provider.RoleUser {
				for _, f := range fetches {
					if strings.Contains(last.Parts[0].Text, f.word) {
						in := map[string]any{}
						if _, at, ok := strings.Cut(last.Text(), "Artifact: "); ok && strings.HasPrefix(f.tool,
							"fetch") &&
							f.tool != contenttools.FetchArtifactTopics {
							in["artifactId"], _, _ = strings.Cut(at, " (")
						}
						return providertest.Call(f.tool, in).Response(), nil
					}
				}
			}
			return providertest.Call(contenttools.StructuredResponse,
				map[string]any{"message": "Here it is."}).Response(), nil
		})
	}
}

func TestALongConversationStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	var all []*provider.Request
	b := newBench(t, asked(func(req *provider.Request) { all = append(all, req) }))
	long := strings.Repeat("word. ", 2000)
	require.NoError(t, b.Store.SetContext(t.Context(), "ann", portfolio.UserContext{Bio: long}))
	for i := range 12 {
		b.draft("ann", fmt.Sprintf("An article about remote work, number %d", i))
	}
	most := 0
	for i := range 30 {
		require.True(t, b.say("ann", "", fmt.Sprintf("Show my drafts, please, for the %dth time", i)).Success)
		n := memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), all[len(all)-1]).Total
		require.Less(t, n, (fixedTokens+historyTokens)*7/5+2_000, "what is left before it is shortened, and one turn")
		most = max(most, n)
	}
	first, last := all[0], all[len(all)-1]
	require.Less(t, memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), first).Total, fixedTokens)
	text := fmt.Sprintf("%+v", last.Messages)
	for i := 25; i < 30; i++ {
		require.Contains(t, text, fmt.Sprintf("the %dth time", i), "the last five turns stay")
	}
	require.Contains(t, last.System, "word. word.", "the user is known")
	t.Logf("%d tokens of instructions, tools and context; at most about %d in 30 turns",
		memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), first).Total, most)
}

// dialogues are the turns whose tokens are measured. All are about an artifact that is ready.
var dialogues = map[string][]string{
	"a status":       {"What's the status?", "Where are we?"},
	"ideas":          {"Give me topic ideas for LinkedIn", "Suggest more topics"},
	"sources":        {"Which sources are there?", "Show me the findings"},
	"an overview":    {"Show me my drafts, please", "Show my portfolio", "Give me topic ideas for a blog"},
	"small requests": {"Hello", "What can you do?", "Thanks!", "What's the status?"},
}

// sizeOf is how long what a model reads in a request is, in characters: four for a token.
func sizeOf(req *provider.Request) int {
	raw, err := json.Marshal([]any{req.System, req.Messages, req.Tools})
	if err != nil {
		panic(err)
	}
	return len(raw)
}

// TestWhatFetchingOnDemandSaves compares what the model reads in five dialogues with what it would
// read if each message came with the artifact, its sources, and the lists of artifacts and drafts,
// so that no tool had to fetch them.
func TestWhatFetchingOnDemandSaves(t *testing.T) {
	t.Parallel()
	all, never := 0, 0
	for name, turns := range dialogues {
		var sizes []int
		b := newBench(t, asked(func(req *provider.Request) { sizes = append(sizes, sizeOf(req)) }))
		for i := range 8 {
			b.draft("ann", fmt.Sprintf("An article about remote work, number %d", i))
		}
		a := b.ready("ann", "Remote work")
		everything := b.everything(a)
		sizes = nil
		fetching, loading := 0, 0
		for i, message := range turns {
			require.True(t, b.say("ann", a.ID, message).Success)
			require.NotEmpty(t, sizes)
			for _, n := range sizes {
				fetching += n
			}
			loading += sizes[0] + (i+1)*len(everything) // each earlier message came with it, too
			sizes = nil
		}
		t.Logf("%-14s %6d tokens, %6d if everything is loaded: %3.0f %% fewer", name, fetching/4, loading/4,
			100*(1-float64(fetching)/float64(loading)))
		all, never = all+fetching, never+loading
	}
	saved := 100 * (1 - float64(all)/float64(never))
	t.Logf("together %.0f %% fewer", saved)
	require.Greater(t, saved, 0.0)
}

// everything returns what a message would come with.
func (b *bench) everything(a portfolio.Artifact) string {
	b.t.Helper()
	found, err := b.Store.Research(b.t.Context(), a.User, a.ID)
	require.NoError(b.t, err)
	list, err := b.Store.Artifacts(b.t.Context(), a.User)
	require.NoError(b.t, err)
	content := a.Content
	a.Content, a.Metadata = content[max(0, len(content)-5000):], nil
	for i := range found {
		found[i].Excerpt = cut(found[i].Excerpt, 200)
	}
	for i := range list {
		list[i].Content, list[i].Metadata = "", nil
	}
	raw, err := json.Marshal([]any{a, found[:min(10, len(found))], list})
	require.NoError(b.t, err)
	return string(raw)
}
