package observe

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bench is the services over a file of their own, with an observer.
type bench struct {
	*Observer
	t        *testing.T
	services *assistant.Services
	log      *safeBuffer

	mu    sync.Mutex
	fails string // the kind of calls of the model that fail
}

// A safeBuffer may be written and read at the same time.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newFile returns the path of a file in which nobody has done anything yet. To copy it is quicker
// than to make tables.
var newFile = filetest.Copies(func(path string) error {
	s, err := assistant.New(assistant.Config{DB: path, Model: standin.Model(), Images: providertest.Draw(),
		Sources: standin.Sources()})
	if err != nil {
		return err
	}
	return s.Close()
})

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, log: &safeBuffer{}}
	logger := slog.New(slog.NewTextHandler(b.log, nil))
	var err error
	b.Observer, err = New(Config{Salt: "salt", Logger: logger})
	require.NoError(t, err)
	inner := standin.Model()
	model, err := assistant.Failover(logger, b.Calls(),
		providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			b.mu.Lock()
			fails := b.fails
			b.mu.Unlock()
			if fails != "" && fails == req.Labels.Kind {
				return nil, fault.New(fault.Invalid, "no")
			}
			return provider.Generate(ctx, inner, req)
		}))
	require.NoError(t, err)
	b.services, err = assistant.New(assistant.Config{DB: newFile(t), Model: model, Images: providertest.Draw(),
		Sources: standin.Sources(), Lease: time.Minute, Logger: logger,
		Hooks: []agent.Hooks{b.Hooks()}, Observe: b.Event})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.services.Close()) })
	return b
}

// draft makes a draft of Ann's.
func (b *bench) draft() portfolio.Artifact {
	b.t.Helper()
	a, err := b.services.Store.Create(b.t.Context(),
		portfolio.Artifact{User: "ann", Type: portfolio.SocialPost, Title: "Remote work"})
	require.NoError(b.t, err)
	return a
}

// say sends a message of Ann's about an artifact.
func (b *bench) say(artifact, message string) assistant.Answer {
	b.t.Helper()
	return b.services.Execute(b.t.Context(),
		assistant.Request{User: "ann", Message: message, Screen: assistant.Screen{ArtifactID: artifact}})
}

// fail makes calls of a kind fail; "" ends that.
func (b *bench) fail(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails = kind
}

// unused says that nobody has used any tokens.
func unused(string) float64 { return 0 }
