package desk

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
)

var roles = roletest.Roles{"replica": replica}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}

const (
	pieces = 40                    // of an answer
	pace   = 50 * time.Millisecond // between two of them
	second = 20                    // how many are written in a second
)

// writer is a model that writes its answers slowly.
func writer(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		tick := time.NewTicker(pace)
		defer tick.Stop()
		ok := yield(provider.Start("writer"), nil)
		for range pieces {
			select {
			case <-tick.C:
			case <-ctx.Done():
				yield(provider.Chunk{}, context.Cause(ctx))
				return
			}
			if ok = ok && yield(provider.Text("word "), nil); !ok {
				return
			}
		}
		yield(provider.End(provider.StopDone, provider.Usage{Input: 10, Output: pieces}), nil)
	}
}

// replica is one process of the service, with a DSN and a schema. It prints its address, and ends
// when its standard input does.
func replica(args []string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := postgres.Open(ctx, postgres.Config{DSN: args[0], Schema: args[1]})
	if err != nil {
		return err
	}
	defer store.Close()
	a, err := agent.New(agent.Config{Provider: provider.Func(writer), Journal: store})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String()
	hub, err := live.New(live.Config{Agent: a, Address: address})
	if err != nil {
		return err
	}
	h, err := serve.New(hub, serve.Config{MaxReaders: -1, Logger: slog.New(slog.DiscardHandler),
		Authorize: func(*http.Request, string, serve.Action) (string, error) { return "ann", nil }})
	if err != nil {
		return err
	}
	fmt.Println(address)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return live.Serve(ctx, hub, &http.Server{Handler: h}, listener)
}
