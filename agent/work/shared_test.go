package work_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A shared is what processes share: a journal, and a folder with what they did outside of it. A
// table is a folder, a row a file named after its key, and each write to a row adds a line.
type shared struct {
	dir, dsn string // dsn is empty for a file of SQLite
}

// newShared returns the journals of a test: one in SQLite, and one in PostgreSQL if it is asked
// for.
func newShared(t *testing.T, withPostgres bool) map[string]*shared {
	t.Helper()
	all := map[string]*shared{"sqlite": {dir: t.TempDir()}}
	if withPostgres {
		all["postgres"] = &shared{dir: t.TempDir(), dsn: pgtest.DSN(t)}
	}
	for _, s := range all {
		for _, table := range []string{"effects", "ended", "failed"} {
			require.NoError(t, os.Mkdir(filepath.Join(s.dir, table), 0o700))
		}
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "schema"),
			[]byte("work_"+strings.ToLower(rand.Text()[:10])), 0o600))
	}
	return all
}

// A closable is a journal with a file or connections.
type closable interface {
	journal.Store
	Close() error
}

// open opens the journal.
func (s *shared) open(ctx context.Context) (closable, error) {
	if s.dsn == "" {
		return sqlite.Open(filepath.Join(s.dir, "runs.db"), sqlite.Config{})
	}
	schema, err := os.ReadFile(filepath.Join(s.dir, "schema"))
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Config{DSN: s.dsn, Schema: string(schema), MaxConns: 8})
}

// opened opens the journal until the test ends.
func (s *shared) opened(t testing.TB) closable {
	t.Helper()
	store, err := s.open(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// add adds a line to a row, which survives the end of the process, and returns how many bytes it
// has.
func (s *shared) add(table, key, line string) (int64, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, table, url.PathEscape(key)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		return 0, err
	}
	return f.Seek(0, io.SeekEnd)
}

// rows returns the lines of each row.
func (s *shared) rows(t testing.TB, table string) map[string][]string {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(s.dir, table))
	require.NoError(t, err)
	rows := make(map[string][]string)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(s.dir, table, f.Name()))
		require.NoError(t, err)
		key, err := url.PathUnescape(f.Name())
		require.NoError(t, err)
		rows[key] = strings.Fields(string(text))
	}
	return rows
}

// count returns the number of rows.
func (s *shared) count(t testing.TB, table string) int {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(s.dir, table))
	require.NoError(t, err)
	return len(files)
}

// model drafts, publishes and ends, whoever asks: it knows the step by the conversation. The second
// model call of each tenth session fails once.
func (s *shared) model() provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		page := map[string]string{"title": "a page"}
		name := req.Messages[0].Text()
		switch step := len(req.Messages) / 2; {
		case step == 0:
			return providertest.Call("draft", page).Response(), nil
		case step == 1 && strings.HasSuffix(name, "7"):
			if size, err := s.add("failed", name, "x"); err != nil || size == 2 {
				return nil, fault.New(fault.Transient, "the model is busy")
			}
			fallthrough
		case step == 1:
			return providertest.Call("publish", page).Response(), nil
		}
		return providertest.Say("It is published.").Response(), nil
	})
}

// effectsOfRun is how many calls a run makes.
const effectsOfRun = 2

// lease is longer than a process that isn't killed is held up.
const lease = time.Second

// agent returns the agent of a process. say is called after each effect.
func (s *shared) agent(store journal.Store, say func()) (*agent.Agent, error) {
	effect := func(ctx context.Context, _ struct {
		Title string `json:"title"`
	}) (string, error) {
		<-time.After(2 * time.Millisecond)
		if _, err := s.add("effects", tools.IdempotencyKey(ctx), "x"); err != nil {
			return "", err
		}
		say()
		<-time.After(2 * time.Millisecond)
		return "done", nil
	}
	return agent.New(agent.Config{Name: "writer", Journal: store, Provider: s.model(), NoGuard: true, Lease: lease,
		InDoubt: agent.TellInDoubt, Tools: []tools.Tool{tools.New(tools.Spec{Name: "draft"}, effect),
			tools.New(tools.Spec{Name: "publish", Risk: tools.High}, effect)}})
}

// workUntilKilled is a process that works until its input ends. It prints a line when it begins,
// for each effect, and for each end that it has noted.
func workUntilKilled(args []string) error {
	s := &shared{dir: args[0], dsn: args[1]}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := s.open(ctx)
	for n := 0; err != nil && s.dsn != "" && n < 100; n++ { // the server may just be restarted
		<-time.After(100 * time.Millisecond)
		store, err = s.open(ctx)
	}
	if err != nil {
		return err
	}
	defer store.Close()
	a, err := s.agent(store, func() { fmt.Println("effect") })
	if err != nil {
		return err
	}
	w, err := work.New(work.Config{Agents: []*agent.Agent{a}, Poll: 50 * time.Millisecond,
		Leg: agent.Leg{Steps: 2, Time: time.Second, Grace: time.Second}, Ended: s.noteEnd})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	fmt.Println("started")
	return w.Run(ctx)
}

// noteEnd notes the end of a run under its key.
func (s *shared) noteEnd(_ context.Context, r *agent.Result) error {
	_, err := s.add("ended", fmt.Sprint(r.Session, "@", r.Start), string(r.Status))
	fmt.Println("told")
	<-time.After(time.Millisecond)
	return err
}

// repeated returns the rows that have more than one line.
func repeated(rows map[string][]string) (keys []string) {
	for key, lines := range rows {
		if len(lines) > 1 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
