package assistant

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/sse"
	"github.com/pawlkit/pawl/tools"
)

// A fixture is a server with a real site and a model.
type fixture struct {
	t     *testing.T
	site  *site.Site
	hub   *live.Hub
	store *journal.MapStore
	http  *httptest.Server
}

// newFile returns the path of a new small site. To copy it is quicker than to make it.
var newFile = filetest.Copies(func(path string) error {
	s, err := site.Open(path, site.Small)
	if err != nil {
		return err
	}
	return s.Close()
})

// serveSite returns a server whose agent has the tools of the CMS. A nil model is the stand-in;
// change may change the agent.
func serveSite(t *testing.T, m provider.Provider, change func(*agent.Config)) *fixture {
	t.Helper()
	s, err := site.Open(newFile(t), site.Small)
	require.NoError(t, err)
	if m == nil {
		m = model.New()
	}
	store := &journal.MapStore{}
	own := cmstools.Config{Site: s, Preview: "http://localhost:4000"}
	all := cmstools.All(own)
	steps, err := agent.New(agent.Config{Name: "steps", Provider: m, Tools: all, Journal: store,
		Modes: []agent.Mode{{Name: cmstools.CRUD}, {Name: cmstools.Architect}, {Name: cmstools.Debug},
			{Name: cmstools.Ask}}})
	require.NoError(t, err)
	plans, err := plan.New(plan.Config{Agent: steps, Parallel: 1, Weights: cmstools.Weights(own)})
	require.NoError(t, err)
	noPlans := func(d *tools.Definition) bool { return !strings.HasPrefix(d.Name(), "plan.") }
	cfg := agent.Config{Provider: m, Instructions: "Edit the site.",
		Tools: append(all, plan.Tools(plans)...), Journal: store,
		Policies: []tools.Policy{cmstools.OneWrite, cmstools.Works(own)},
		Modes: []agent.Mode{{Name: cmstools.CRUD}, {Name: cmstools.Architect},
			{Name: cmstools.Debug, Tools: noPlans}, {Name: cmstools.Ask, Tools: noPlans}}}
	if change != nil {
		change(&cfg)
	}
	a, err := agent.New(cfg)
	require.NoError(t, err)
	hub, err := live.New(live.Config{Agent: a, Recover: 50 * time.Millisecond, Drain: 5 * time.Second})
	require.NoError(t, err)
	h, err := New(Config{Hub: hub, Preview: "http://localhost:4000", System: func(mode string) string {
		return "instructions of " + mode
	}})
	require.NoError(t, err)
	f := &fixture{t, s, hub, store, httptest.NewServer(h)}
	t.Cleanup(func() {
		require.NoError(t, hub.Close())
		f.http.Close()
		http.DefaultClient.CloseIdleConnections()
		require.NoError(t, s.Close())
	})
	return f
}

func (f *fixture) request(method, path, body string, header ...string) *http.Response {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.http.URL+path, strings.NewReader(body))
	require.NoError(f.t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// post returns the status of a request, and its answer.
func (f *fixture) post(path, body string) (int, map[string]any) {
	f.t.Helper()
	res := f.request(http.MethodPost, path, body)
	data, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	var answer map[string]any
	require.NoError(f.t, json.Unmarshal(data, &answer), "%s", data)
	return res.StatusCode, answer
}

// A shown is an event of a stream.
type shown struct {
	id   string
	data map[string]any
}

func (s shown) kind() string { return s.data["type"].(string) }

// read reads events until one of a type, or to the end.
func (f *fixture) read(r *sse.Reader, until string) (out []shown) {
	f.t.Helper()
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return out
		}
		require.NoError(f.t, err)
		if len(ev.Data) == 0 || ev.Type == "hint" {
			continue
		}
		s := shown{id: ev.ID}
		require.NoError(f.t, json.Unmarshal(ev.Data, &s.data))
		out = append(out, s)
		if s.kind() == until {
			return out
		}
	}
}

// ask sends a message, and returns the reader of its events.
func (f *fixture) ask(session, prompt string, mode ...string) *sse.Reader {
	f.t.Helper()
	body, err := json.Marshal(map[string]string{"sessionId": session, "prompt": prompt, "mode": strings.Join(mode, "")})
	require.NoError(f.t, err)
	res := f.request(http.MethodPost, "/v1/agent/stream", string(body))
	if res.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(res.Body)
		require.Failf(f.t, "the stream is refused", "%d %s", res.StatusCode, data)
	}
	return sse.NewReader(res.Body, 0)
}

// of returns the events of a type.
func of(events []shown, kind string) (out []shown) {
	for _, e := range events {
		if e.kind() == kind {
			out = append(out, e)
		}
	}
	return out
}

// exists reports whether the site has a page.
func (f *fixture) exists(slug string) bool {
	_, err := f.site.Tree(context.Background(), slug, "en")
	return err == nil
}
