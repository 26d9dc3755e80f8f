package contenttools

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools/mock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bench is an agent with the tools, and an artifact.
type bench struct {
	*portfolio.Store
	a     *agent.Agent
	id    string
	fails func(*provider.Request) error  // of model calls
	says  func(*provider.Request) string // instead of the stand-in; nil: the stand-in answers
	asked map[string]int                 // model calls by kind
}

func newBench(t *testing.T, kind string, mocks *mock.Set) *bench {
	t.Helper()
	s, err := portfolio.Open(filepath.Join(t.TempDir(), "content.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	b := &bench{Store: s, asked: map[string]int{}}
	list, err := All(Config{Store: s, Sources: standin.Sources(), Images: providertest.Draw(), Mocks: mocks})
	require.NoError(t, err)
	inner := standin.Model()
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		b.asked[req.Labels.Kind]++
		if b.fails != nil {
			if err := b.fails(req); err != nil {
				return nil, err
			}
		}
		if b.says != nil {
			return providertest.Say(b.says(req)).Response(), nil
		}
		return provider.Generate(ctx, inner, req)
	})
	b.a, err = agent.New(agent.Config{Provider: model, Tools: list,
		StopWhen: []stop.Condition{stop.AfterTool(StructuredResponse)}})
	require.NoError(t, err)
	a, err := s.Create(t.Context(), portfolio.Artifact{User: "ann", Type: kind, Title: "Remote work"})
	require.NoError(t, err)
	b.id = a.ID
	return b
}

// call calls a tool as a user, and returns its envelope.
func (b *bench) call(t *testing.T, user, key, tool string, in any) Envelope {
	t.Helper()
	input := agent.CallTool("", tool, in)
	input.User, input.CallKey, input.Labels = user, key, map[string]string{"trace": "ca-1"}
	res, err := b.a.Run(t.Context(), input)
	require.NoError(t, err)
	require.NotNil(t, res.Called)
	var e Envelope
	text := ""
	for _, p := range res.Called.Parts {
		text += p.Text
	}
	require.NoError(t, json.Unmarshal([]byte(text), &e), text)
	return e
}

func (b *bench) artifact(t *testing.T) portfolio.Artifact {
	t.Helper()
	a, err := b.Artifact(t.Context(), "ann", b.id)
	require.NoError(t, err)
	return a
}

// inputs are those of the five tools of a pipeline.
func (b *bench) inputs(kind string) []struct {
	tool string
	in   map[string]any
} {
	return []struct {
		tool string
		in   map[string]any
	}{
		{portfolio.TopicResearch, map[string]any{"artifactId": b.id, "topic": "Remote work"}},
		{portfolio.SkeletonCreator, map[string]any{"artifactId": b.id, "topic": "Remote work", "artifactType": kind}},
		{portfolio.ContentWriter, map[string]any{"artifactId": b.id}},
		{portfolio.Humanizer, map[string]any{"artifactId": b.id, "keepStatus": true}},
		{portfolio.VisualsCreator, map[string]any{"artifactId": b.id, "style": "minimal"}},
	}
}

var errDown = fault.New(fault.Permanent, "the service is down")
