package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/server"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// generous are limits that tests of other things don't meet.
func generous() map[string]server.Plan {
	p := server.Plan{PerMinute: 10_000, PerHour: 10_000, PipelinesPerDay: 1_000, Pipelines: 100, Tokens: 100_000_000}
	return map[string]server.Plan{"free": p, "pro": p, "enterprise": p}
}

// A site is a server over a file of its own, with the stand-in model, which may fail or wait.
type site struct {
	t        *testing.T
	url      string
	services *assistant.Services
	log      *safeBuffer
	hook     func(ctx context.Context, kind string) error // before each call of the model; set it before requests

	mu     sync.Mutex
	asked  map[string]int // calls of the model by their purpose
	tokens map[string]string
}

// A safeBuffer can be read while it is written.
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

type options struct {
	plans  map[string]server.Plan
	config func(*server.Config)
	agent  func(*assistant.Config)
	db     string
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

func newSite(t *testing.T, o options) *site {
	t.Helper()
	s := &site{t: t, log: &safeBuffer{}, asked: map[string]int{}, tokens: map[string]string{}}
	if o.plans == nil {
		o.plans = generous()
	}
	if o.db == "" {
		o.db = newFile(t)
	}
	limits := server.NewLimits(o.plans)
	inner := standin.Model()
	model, err := limits.Model(
		providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			s.mu.Lock()
			s.asked[req.Labels.Kind]++
			s.mu.Unlock()
			if s.hook != nil {
				if err := s.hook(ctx, req.Labels.Kind); err != nil {
					return nil, err
				}
			}
			return provider.Generate(ctx, inner, req)
		}))
	require.NoError(t, err)
	logger := slog.New(slog.NewJSONHandler(s.log, nil))
	ac := assistant.Config{DB: o.db, Model: model, Images: providertest.Draw(), Sources: standin.Sources(),
		Admit: limits.Admit, Lease: time.Minute, Drain: 5 * time.Second, Logger: logger}
	if o.agent != nil {
		o.agent(&ac)
	}
	s.services, err = assistant.New(ac)
	require.NoError(t, err)
	cfg := server.Config{Services: s.services, Limits: limits, Salt: "salt", Logger: logger}
	if o.config != nil {
		o.config(&cfg)
	}
	h, err := server.New(t.Context(), cfg)
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	s.url = srv.URL
	t.Cleanup(func() {
		h.Close()
		http.DefaultClient.CloseIdleConnections()
		srv.Close()
		require.NoError(t, s.services.Close())
	})
	for _, user := range []string{"ann", "ben", "eva"} {
		s.tokens[user] = s.call("", "POST", "/api/login", map[string]any{"user": user}).str("token")
	}
	return s
}

// An answer is a response that was read.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// call makes a request of a user; an empty one has no token.
func (s *site) call(user, method, path string, body any) answer {
	s.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		require.NoError(s.t, err)
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, in)
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	if user != "" {
		req.Header.Set("Authorization", "Bearer "+s.tokens[user])
	}
	return s.do(req)
}

func (s *site) do(req *http.Request) answer {
	s.t.Helper()
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	a := answer{s.t, res.StatusCode, res.Header, string(raw), nil}
	_ = json.Unmarshal(raw, &a.body) // not all answers are objects
	return a
}

// at returns a value of the answer, by the names and numbers on the way to it.
func (a answer) at(path ...any) any {
	var v any = a.body
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			require.True(a.t, ok, "%v of %s", path, a.raw)
			v = m[p]
		case int:
			l, ok := v.([]any)
			require.True(a.t, ok && p < len(l), "%v of %s", path, a.raw)
			v = l[p]
		}
	}
	return v
}

func (a answer) str(path ...any) string { return fmt.Sprint(a.at(path...)) }

// refuses checks that the answer is an error.
func (a answer) refuses(status int, category portfolio.Category) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.raw)
	require.Equal(a.t, string(category), a.str("error", "category"), a.raw)
	require.Equal(a.t, false, a.at("success"))
	require.NotEmpty(a.t, a.str("error", "message"))
	require.NotEmpty(a.t, a.str("error", "traceId"))
	return a
}

// ok checks that the answer isn't an error.
func (a answer) ok() answer {
	a.t.Helper()
	require.Equal(a.t, http.StatusOK, a.status, a.raw)
	return a
}

// draft makes a draft and returns its id.
func (s *site) draft(user, title string) string {
	s.t.Helper()
	return s.call(user, "POST", "/api/artifacts", map[string]any{"type": "blog", "title": title}).ok().str("id")
}

// say sends a message with an artifact on the screen; an empty one is none.
func (s *site) say(user, artifact, message string) answer {
	s.t.Helper()
	screen := map[string]any{"currentPage": "portfolio"}
	if artifact != "" {
		screen = map[string]any{"currentPage": "artifact", "artifactId": artifact}
	}
	return s.call(user, "POST", "/api/content-agent/execute",
		map[string]any{"message": message, "screenContext": screen})
}

// button presses Create Content.
func (s *site) button(user, artifact string) answer {
	s.t.Helper()
	return s.say(user, artifact, "Create content for artifact "+artifact+": Remote work")
}

// aside presses it in a conversation of its own.
func (s *site) aside(user, artifact string) answer {
	s.t.Helper()
	return s.call(user, "POST", "/api/content-agent/execute",
		map[string]any{"message": "Create content for artifact " + artifact + ": Remote work", "sessionId": artifact})
}

// ready makes an artifact whose pipeline is done.
func (s *site) ready(user string) string {
	s.t.Helper()
	id := s.draft(user, "Remote work")
	s.button(user, id).ok()
	return id
}

func (s *site) artifact(user, id string) answer {
	s.t.Helper()
	return s.call(user, "GET", "/api/artifacts/"+id, nil).ok()
}

// calls returns how many calls of the model had a purpose.
func (s *site) calls(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[kind]
}
