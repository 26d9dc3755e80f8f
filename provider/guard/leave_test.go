package guard_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/stream"
)

// pings says each 5 s that the provider is alive.
func pings(d time.Duration) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(ctx context.Context, yield func(provider.Chunk, error) bool) bool {
		for range d / (5 * s) {
			if !wait(5*s)(ctx, yield) {
				return false
			}
			stream.Alive(ctx)()
		}
		return true
	}
}

// troubles are what may be wrong with a provider.
var troubles = map[string]script{
	"silent":       {wait(24 * time.Hour)},
	"slow":         {wait(12 * s), say(start, provider.Text("slow"), end)},
	"only pings":   {pings(24 * time.Hour)},
	"long thought": {pings(5 * time.Minute), say(start, provider.Text("thought"), end)},
	"500":          {wait(s), fail(failure(fault.Degraded))},
	"429":          limitedFor(7 * s),
	"cut":          {wait(s), say(start), fail(fault.Wrap(fault.Transient, provider.ErrIncomplete))},
}

// TestHowLongAPersonWaitsForAChain is the table of docs/call-path.md: how long it takes until there
// is an answer or the error, and how often each of two providers is asked.
func TestHowLongAPersonWaitsForAChain(t *testing.T) {
	page, err := os.ReadFile("../../docs/call-path.md")
	require.NoError(t, err)
	for _, tc := range []struct {
		trouble, where string
		person, other  string // "time first+second calls answer", for interactive and other requests
	}{
		{"silent", "first", "8s 1+1 from the backup", "2m0s 1+1 from the backup"},
		{"silent", "second", "4m0.1s 1+2 ", "10m1.5s 1+5 "},
		{"silent", "both", "8m8.2s 3+2 ", "20m2.2s 5+5 "},
		{"slow", "first", "8s 1+1 from the backup", "12s 1+0 slow"},
		{"slow", "second", "12s 1+1 slow", "12s 1+1 slow"},
		{"slow", "both", "20s 1+1 slow", "12s 1+0 slow"},
		{"only pings", "first", "10m0s 1+1 from the backup", "10m0s 1+1 from the backup"},
		{"only pings", "second", "10m0s 1+1 ", "10m0s 1+1 "},
		{"only pings", "both", "20m0s 1+1 ", "20m0s 1+1 "},
		{"long thought", "first", "5m0s 1+0 thought", "5m0s 1+0 thought"},
		{"long thought", "second", "5m0s 1+1 thought", "5m0s 1+1 thought"},
		{"long thought", "both", "5m0s 1+0 thought", "5m0s 1+0 thought"},
		{"500", "first", "1s 1+1 from the backup", "1s 1+1 from the backup"},
		{"500", "second", "18s 1+3 ", "18s 1+3 "},
		{"500", "both", "26s 3+3 ", "26s 3+3 "},
		{"429", "first", "0s 1+1 from the backup", "0s 1+1 from the backup"},
		{"429", "second", "28s 1+5 ", "1m3s 1+10 "},
		{"429", "both", "56s 6+5 ", "1m59s 10+10 "},
		{"cut", "first", "6.5s 5+1 from the backup", "6.5s 5+1 from the backup"},
		{"cut", "second", "6.5s 1+5 ", "6.5s 1+5 "},
		{"cut", "both", "13s 5+5 ", "13s 5+5 "},
	} {
		person, other := strings.SplitN(tc.person, " ", 3), strings.SplitN(tc.other, " ", 3)
		require.Contains(t, string(page), fmt.Sprintf("| %s | %s | %s, %s | %s, %s |\n", tc.trouble, tc.where,
			person[0], person[1], other[0], other[1]))
		for interactive, want := range map[bool]string{true: tc.person, false: tc.other} {
			t.Run(fmt.Sprintf("%s, %s, interactive %t", tc.trouble, tc.where, interactive), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					require.Equal(t, want, waited(t, tc.trouble, tc.where, interactive))
				})
			})
		}
	}
}

// waited makes a call of a chain of two, of which the first, the second or both have a trouble.
func waited(t *testing.T, trouble, where string, interactive bool) string {
	first, second := &fake{scripts: []script{good}}, another()
	switch where {
	case "first":
		first.scripts = []script{troubles[trouble]}
	case "second": // which is asked only after the first
		first.scripts = []script{{fail(failure(fault.UserFixable))}}
		second.scripts = []script{troubles[trouble]}
	case "both":
		first.scripts, second.scripts = []script{troubles[trouble]}, []script{troubles[trouble]}
	}
	exactly := map[fault.Class]fault.Retry{}
	for _, class := range []fault.Class{fault.Transient, fault.RateLimited, fault.Degraded} {
		exactly[class] = fault.Retry{Exact: true}
	}
	chain := newChain(t, guard.ChainConfig{}, newGuard(t, first, guard.Config{Name: "a", Retry: exactly}),
		newGuard(t, second, guard.Config{Name: "b", Retry: exactly}))
	req := *ask
	req.Interactive = interactive
	began := time.Now()
	got := watch(chain.Stream(t.Context(), &req))
	return fmt.Sprintf("%v %d+%d %s", time.Since(began), first.calls.Load(), second.calls.Load(), got.text)
}

// leaves makes a chain of two whose first provider is silent, and a call of it.
func leaves(t *testing.T, cfg guard.ChainConfig, first provider.Provider,
	change func(*provider.Request)) time.Duration {
	chain := newChain(t, cfg, newGuard(t, first, guard.Config{}), newGuard(t, another(), guard.Config{}))
	req := *ask
	req.Interactive = true
	change(&req)
	began := time.Now()
	got := watch(chain.Stream(t.Context(), &req))
	require.NoError(t, got.err)
	require.Equal(t, "from the backup", got.text)
	return time.Since(began)
}

// A nearby provider is in the host's own network.
type nearby struct{ *fake }

func (nearby) Near() bool { return true }

func TestWhenASilentProviderIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func() *fake { return &fake{scripts: []script{troubles["silent"]}} }
		nothing := func(*provider.Request) {}
		require.Equal(t, 8*s, leaves(t, guard.ChainConfig{}, silent(), nothing))
		require.Equal(t, 20*s, leaves(t, guard.ChainConfig{}, silent(), func(req *provider.Request) {
			req.Reasoning = &provider.ReasoningOptions{Effort: "high"}
		}))
		require.Equal(t, 20*s, leaves(t, guard.ChainConfig{}, silent(), func(req *provider.Request) {
			req.System = string(make([]byte, 200_000))
		}))
		require.Equal(t, 3*s, leaves(t, guard.ChainConfig{LeaveAfter: 3 * s}, silent(), nothing))
		require.Equal(t, 120*s, leaves(t, guard.ChainConfig{LeaveAfter: -1}, silent(), nothing))
		require.Equal(t, 120*s, leaves(t, guard.ChainConfig{}, nearby{silent()}, nothing))
	})
	_, err := guard.NewChain(guard.ChainConfig{LeaveAfter: 1 << 62}, another())
	require.ErrorAs(t, err, new(*guard.ConfigError))
}

// The next calls of a run don't wait for a provider that the first one has left.
func TestARunStaysWithTheProviderThatAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &fake{scripts: []script{troubles["silent"], good}}
		second := &fake{scripts: []script{{say(backupStart, provider.Text("from the backup"), end)},
			{say(backupStart, provider.Text("from the backup"), end)}, {fail(failure(fault.Degraded))}}}
		chain := newChain(t, guard.ChainConfig{}, newGuard(t, first, guard.Config{}),
			newGuard(t, second, guard.Config{}))
		call := func(run string) (string, time.Duration) {
			req := *ask
			req.Interactive, req.Labels.Run = true, run
			began := time.Now()
			got := watch(chain.Stream(t.Context(), &req))
			require.NoError(t, got.err)
			return got.text, time.Since(began)
		}
		for i, want := range []time.Duration{8 * s, 0} {
			text, took := call("r")
			require.Equal(t, "from the backup", text)
			require.Equal(t, want, took, i)
		}
		text, took := call("another")
		require.Equal(t, "fine", text)
		require.Zero(t, took)
		text, took = call("r") // the backup fails now, and the first one is asked
		require.Equal(t, "fine", text)
		require.Zero(t, took)
		text, _ = call("r")
		require.Equal(t, "fine", text)
		require.EqualValues(t, 3, second.calls.Load())
	})
}

// A wrapper is a provider of a host that doesn't say what it wraps.
type wrapper struct{ provider.Provider }

type openWrapper struct{ wrapper }

func (p openWrapper) Unwrap() provider.Provider { return p.wrapper.Provider }

// A guard around a chain in a wrapper can't see it: its own limits would end calls at the moment at
// which the chain moves on.
func TestAWrapperMustSayWhatItWraps(t *testing.T) {
	chain := newChain(t, guard.ChainConfig{}, newGuard(t, another(), guard.Config{}),
		newGuard(t, another(), guard.Config{}))
	one := newGuard(t, another(), guard.Config{})
	for _, p := range []provider.Provider{wrapper{chain}, &wrapper{chain}, wrapper{one}} {
		_, err := guard.New(p, guard.Config{})
		require.ErrorAs(t, err, new(*guard.ConfigError))
		require.ErrorContains(t, err, "Unwrap() provider.Provider")
		_, err = guard.New(p, guard.Config{FirstChunk: time.Minute, Idle: time.Minute})
		require.NoError(t, err, "limits of its own")
	}
	for _, p := range []provider.Provider{openWrapper{wrapper{chain}}, wrapper{another()}, wrapper{nil}, another()} {
		_, err := guard.New(p, guard.Config{})
		require.NoError(t, err)
	}
}
