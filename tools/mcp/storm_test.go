//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// effects counts what calls have done, by their inputs.
type effects struct {
	mu   sync.Mutex
	done map[string]int
}

func (e *effects) build(s *sdk.Server) {
	tool(s, "do", func(_ context.Context, in file) (string, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.done[in.Path]++
		return "done", nil
	})
}

func (e *effects) of(id string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.done[id]
}

// sum returns a figure below n that depends on an input alone.
func sum(id string, n uint32) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, id)
	return h.Sum32() % n
}

const stormSessions = 20

// A storm is servers, and sessions that use them at once.
type storm struct {
	breakers *circuit.Set
	tools    map[string]*tools.Definition // by the name of the server

	mu    sync.Mutex
	outs  map[string]tools.Outcome // by server and input
	waits map[string][]time.Duration
}

// run makes calls of servers in turn, in all sessions at once.
func (s *storm) run(t *testing.T, calls int, servers ...string) {
	t.Helper()
	s.waits = map[string][]time.Duration{}
	var sessions sync.WaitGroup
	for session := range stormSessions {
		sessions.Go(func() {
			for n := range calls / stormSessions {
				server := servers[n%len(servers)]
				id := fmt.Sprintf("%d of %d: %d", len(servers), session, n)
				s.call(t, server, id)
			}
		})
	}
	sessions.Wait()
}

func (s *storm) call(t *testing.T, server, id string) {
	d := s.tools[server]
	input, err := json.Marshal(file{id})
	assert.NoError(t, err)
	began := time.Now()
	out := runCall(context.Background(), d, tools.Call{ID: id, Input: input, IdempotencyKey: id}, s.breakers)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outs[server+" "+id] = out
	s.waits[server] = append(s.waits[server], time.Since(began))
}

// p99 returns the wait that one call of a hundred exceeds.
func (s *storm) p99(server string) time.Duration {
	waits := slices.Sorted(slices.Values(s.waits[server]))
	return waits[len(waits)*99/100]
}

// Sessions use servers of which one restarts, one answers 429 and 500, and one prints noise. No
// call has its effect twice, none is in doubt after a status that shows that it wasn't run, and all
// calls of the healthy ones succeed.
func TestServersInTroubleHurtNoCallsOfOthers(t *testing.T) {
	restarts, moody, healthy := &effects{done: map[string]int{}}, &effects{done: map[string]int{}},
		&effects{done: map[string]int{}}
	again := newSite(t, false, restarts.build)
	var asked atomic.Int32
	plain := newSite(t, false, healthy.build)
	mood := newSite(t, false, moody.build)
	mood.before("tools/call", moods(mood.handler))
	counted := restartingAfter(again, 60, &asked, restarts.build)
	again.mu.Lock()
	again.handler = counted
	again.mu.Unlock()

	s := &storm{breakers: circuit.NewSet(circuit.Tool()), tools: map[string]*tools.Definition{},
		outs: map[string]tools.Outcome{}}
	s.tools["healthy"] = list(t, plain.connect(mcp.Config{Name: "healthy"}))["healthy.do"]
	s.tools["restarts"] = list(t, again.connect(mcp.Config{Name: "restarts"}))["restarts.do"]
	s.tools["moody"] = list(t, mood.connect(mcp.Config{Name: "moody"}))["moody.do"]
	noisy := child(t, "noisy", mcp.Config{Name: "noisy", Env: []string{noiseEnv + "=a line of a log"}})
	s.tools["noisy"] = list(t, noisy)["noisy.call"]

	s.run(t, 500 / *every, "healthy")
	alone := s.p99("healthy")
	s.run(t, 2000 / *every, "healthy", "restarts", "moody", "noisy")
	t.Logf("p99 of the healthy server's calls: %v alone, %v with the others", alone, s.p99("healthy"))
	t.Logf("%d restarts", asked.Load()/60)

	kinds := map[string]int{}
	for key, out := range s.outs {
		server, id, _ := strings.Cut(key, " ")
		kinds[server+" "+string(out.Status)]++
		switch server {
		case "healthy":
			require.Equal(t, tools.OK, out.Status, "%s: %v", key, out.Err)
			require.Equal(t, 1, healthy.of(id), key)
		case "restarts":
			require.Equal(t, tools.OK, out.Status, "%s: %v", key, out.Err)
			require.Equal(t, 1, restarts.of(id), key)
		case "noisy":
			require.Equal(t, tools.OK, out.Status, "%s: %v", key, out.Err)
			require.Contains(t, text(&out), "called 1", "it has its effect once")
		case "moody":
			requireMood(t, moody, id, &out)
		}
	}
	t.Log(kinds)
	require.Len(t, s.outs, 2500 / *every)
}

// requireMood compares what became of a call with what the moody server has answered.
func requireMood(t *testing.T, moody *effects, id string, out *tools.Outcome) {
	t.Helper()
	if open := (*circuit.OpenError)(nil); errors.As(out.Err, &open) { // after many 500
		require.Zero(t, moody.of(id), id)
		require.NotEqual(t, tools.InDoubt, out.Status, id)
		return
	}
	switch sum(id, 10) {
	case 0:
		require.Equal(t, tools.Failed, out.Status, "%s: %v", id, out.Err)
		require.Equal(t, fault.RateLimited, out.Class, id)
		require.Zero(t, moody.of(id), id)
	case 1:
		require.Equal(t, tools.InDoubt, out.Status, "%s: %v", id, out.Err)
		require.Zero(t, moody.of(id), id)
	case 2:
		require.Equal(t, tools.InDoubt, out.Status, "%s: %v", id, out.Err)
		require.Equal(t, 1, moody.of(id), id)
	default:
		require.Equal(t, tools.OK, out.Status, "%s: %v", id, out.Err)
		require.Equal(t, 1, moody.of(id), id)
	}
}

// moods answers some calls with 429, some with 500 before they are run, and some after.
func moods(inner http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		var req struct {
			Params struct{ Arguments file } `json:"params"`
		}
		_ = json.Unmarshal(raw, &req)
		switch sum(req.Params.Arguments.Path, 10) {
		case 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			inner.ServeHTTP(&silent{header: http.Header{}}, r)
			w.WriteHeader(http.StatusInternalServerError)
		default:
			inner.ServeHTTP(w, r)
		}
	}
}

// A silent takes a reply that nobody gets.
type silent struct{ header http.Header }

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) Write(p []byte) (int, error) { return len(p), nil }
func (s *silent) WriteHeader(int)             {}
func (s *silent) Flush()                      {}

// restartingAfter returns a handler that puts another server in the place of a site's after every n
// calls. It knows no sessions, so it refuses the calls of those before.
func restartingAfter(s *site, n int32, asked *atomic.Int32, build func(*sdk.Server)) http.Handler {
	var mu sync.Mutex
	inner := s.handler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		mu.Lock()
		if strings.Contains(string(raw), "tools/call") && asked.Add(1)%n == 0 {
			own := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
			build(own)
			s.mu.Lock()
			s.servers = append(s.servers, own)
			s.mu.Unlock()
			inner = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return own }, nil)
		}
		h := inner
		mu.Unlock()
		h.ServeHTTP(w, r)
	})
}
