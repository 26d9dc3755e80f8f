package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const site0 = "/v1/teams/dev-team/sites/local-site/environments/main"

// A bench is an API on a real port.
type bench struct {
	t      testing.TB
	Site   *site.Site
	hub    *live.Hub
	url    string
	client *http.Client
}

func newBench(t testing.TB, replies ...providertest.Step) *bench {
	t.Helper()
	s, err := site.Open(filepath.Join(t.TempDir(), "cms.db"), site.Small)
	require.NoError(t, err)
	a, err := agent.New(agent.Config{Provider: providertest.Script(replies...),
		Tools:   cmstools.All(cmstools.Config{Site: s}),
		Journal: &journal.MapStore{},
		Modes: []agent.Mode{{Name: cmstools.CRUD}, {Name: cmstools.Architect}, {Name: cmstools.Debug},
			{Name: cmstools.Ask}}})
	require.NoError(t, err)
	hub, err := live.New(live.Config{Agent: a, Recover: -1})
	require.NoError(t, err)
	handler, err := New(Config{Site: s, Hub: hub, Origins: []string{"http://cms.example.com"}})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, hub.Close())
		require.NoError(t, s.Close())
	})
	return &bench{t, s, hub, server.URL, server.Client()}
}

// request sends a request and returns the status and the envelope.
func (b *bench) request(method, path, kind string, body io.Reader, head ...string) (int, map[string]any) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, body)
	require.NoError(b.t, err)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
		if head[i] == "Host" {
			r.Host = head[i+1]
		}
	}
	res, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	envelope := map[string]any{}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		require.NoError(b.t, json.Unmarshal(text, &envelope), "%s", text)
		if envelope["statusCode"] != nil {
			require.EqualValues(b.t, res.StatusCode, envelope["statusCode"], "%s", text)
		}
	}
	envelope["raw"] = string(text)
	return res.StatusCode, envelope
}

// json sends JSON, requires the status, and decodes the data.
func (b *bench) json(status int, method, path, body string, into any) map[string]any {
	b.t.Helper()
	var reader io.Reader
	kind := ""
	if body != "" {
		reader, kind = strings.NewReader(body), "application/json"
	}
	got, envelope := b.request(method, path, kind, reader)
	require.Equal(b.t, status, got, "%s %s: %s", method, path, envelope["raw"])
	if into != nil {
		data, err := json.Marshal(envelope["data"])
		require.NoError(b.t, err)
		require.NoError(b.t, json.NewDecoder(bytes.NewReader(data)).Decode(into))
	}
	return envelope
}

// refused requires an error with a status and a code whose message has these parts.
func (b *bench) refused(status int, code, method, path, body string, parts ...string) {
	b.t.Helper()
	envelope := b.json(status, method, path, body, nil)
	failure, _ := envelope["error"].(map[string]any)
	require.Equal(b.t, code, failure["code"], "%s", envelope["raw"])
	for _, part := range parts {
		require.Contains(b.t, failure["message"], part)
	}
}
