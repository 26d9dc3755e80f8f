package assistant

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

var full = flag.Bool("full", false, "try all cases of each test")

var roles = roletest.Roles{"pipelines": runPipelines}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// A bench is the services over a file of their own, with the stand-in model, whose requests are
// counted and may fail.
type bench struct {
	*Services
	t *testing.T

	mu    sync.Mutex
	asked map[string]int // requests by their purpose
	fails func(purpose string, n int) error
}

// newFile returns the path of a file in which nobody has done anything yet. To copy it is quicker
// than to make tables.
var newFile = filetest.Copies(func(path string) error {
	s, err := New(Config{DB: path, Model: standin.Model(), Images: providertest.Draw(), Sources: standin.Sources()})
	if err != nil {
		return err
	}
	return s.Close()
})

func newBench(t *testing.T, change ...func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, asked: map[string]int{}}
	inner := standin.Model()
	cfg := Config{DB: newFile(t), Images: providertest.Draw(), Sources: standin.Sources(), Lease: time.Minute,
		Model: providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			b.mu.Lock()
			b.asked[req.Labels.Kind]++
			n, fails := b.asked[req.Labels.Kind], b.fails
			b.mu.Unlock()
			if fails != nil {
				if err := fails(req.Labels.Kind, n); err != nil {
					return nil, err
				}
			}
			return provider.Generate(ctx, inner, req)
		})}
	for _, c := range change {
		c(&cfg)
	}
	s, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	b.Services = s
	return b
}

// sampled returns some of the cases of a test, chosen at random; with -full, all.
func sampled[T any](n int, cases ...T) []T {
	if *full {
		return cases
	}
	rand.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	return cases[:n]
}

// draft makes a draft of a user.
func (b *bench) draft(user, title string) portfolio.Artifact {
	b.t.Helper()
	a, err := b.Store.Create(b.t.Context(), portfolio.Artifact{User: user, Type: portfolio.Blog, Title: title})
	require.NoError(b.t, err)
	return a
}

// ready makes an artifact whose pipeline is done.
func (b *bench) ready(user, title string) portfolio.Artifact {
	b.t.Helper()
	a := b.draft(user, title)
	require.True(b.t, b.say(user, a.ID, button(a)).Success)
	return b.artifact(user, a.ID)
}

func (b *bench) artifact(user, id string) portfolio.Artifact {
	b.t.Helper()
	a, err := b.Store.Artifact(b.t.Context(), user, id)
	require.NoError(b.t, err)
	return a
}

// say sends a message with an artifact on the screen.
func (b *bench) say(user, artifact, message string) Answer {
	b.t.Helper()
	return b.Execute(b.t.Context(),
		Request{User: user, Message: message, Screen: Screen{CurrentPage: "artifact", ArtifactID: artifact}})
}

// button is the message of the button.
func button(a portfolio.Artifact) string {
	return "Create content for artifact " + a.ID + ": " + a.Title
}

// statuses are those that an artifact went through.
func (b *bench) statuses(user, id string) (all []portfolio.Status) {
	b.t.Helper()
	h, err := b.Store.History(b.t.Context(), user, id)
	require.NoError(b.t, err)
	for _, e := range h {
		all = append(all, e.To)
	}
	return all
}
