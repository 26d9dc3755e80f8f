package assistant

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// BenchmarkResume measures how long a new process needs from opening the file until a session of
// 100 requests that waited for a decision has ended its run: it opens the site and the journal,
// reads the session, and makes a step of the model.
func BenchmarkResume(b *testing.B) {
	db := filepath.Join(b.TempDir(), "cms.db")
	open := func() (*agent.Agent, func()) {
		s, err := site.Open(db, site.Small)
		require.NoError(b, err)
		store, err := sqlite.Open(db, sqlite.Config{})
		require.NoError(b, err)
		a, err := agent.New(agent.Config{Provider: model.New(),
			Tools: cmstools.All(cmstools.Config{Site: s}), Journal: store,
			Modes: []agent.Mode{{Name: cmstools.CRUD}, {Name: cmstools.Architect}, {Name: cmstools.Debug},
				{Name: cmstools.Ask}}})
		require.NoError(b, err)
		return a, func() {
			require.NoError(b, store.Close())
			require.NoError(b, s.Close())
		}
	}
	run := func(a *agent.Agent, in agent.Work) *agent.Result {
		r, err := a.Run(b.Context(), in)
		require.NoError(b, err)
		return r
	}
	a, closed := open()
	for range 100 {
		run(a, agent.Input{Session: "s-1", Prompt: "list pages"})
	}
	closed()
	for b.Loop() {
		b.StopTimer()
		a, closed := open()
		waits := run(a, agent.Input{Session: "s-1", Prompt: "delete the home page"})
		require.Len(b, waits.Pending, 1)
		closed()
		b.StartTimer()
		a, closed = open()
		require.Equal(b, agent.Completed, run(a, agent.Resume("s-1", agent.Reject(waits.Pending[0].ID, ""))).Status)
		b.StopTimer()
		closed()
		b.StartTimer()
	}
}
