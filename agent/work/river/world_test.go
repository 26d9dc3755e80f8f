package river_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// lease is longer than a process that isn't killed is held up.
const lease = 2 * time.Second

// A world is a database with a journal, River's tables, and the effects of tools, as one process
// has it open.
type world struct {
	dsn, schema string
	pool        *pgxpool.Pool
	store       *postgres.Store
}

// openWorld opens a world that exists.
func openWorld(ctx context.Context, dsn, schema string) (*world, error) {
	conf, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	conf.MaxConns = 5
	conf.ConnConfig.RuntimeParams["search_path"] = schema
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, postgres.Config{DSN: dsn, Schema: schema + "_pawl", MaxConns: 3})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &world{dsn: dsn, schema: schema, pool: pool, store: store}, nil
}

// Close closes the connections of this process.
func (w *world) Close() {
	w.pool.Close()
	_ = w.store.Close()
}

// newWorld makes a world that goes with the test.
func newWorld(t testing.TB) *world {
	t.Helper()
	schema := "river_" + strings.ToLower(rand.Text()[:10])
	w, err := openWorld(t.Context(), pgtest.DSN(t), schema)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	w.exec(t, "CREATE SCHEMA "+schema)
	migrator, err := rivermigrate.New(riverpgxv5.New(w.pool), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	w.exec(t, "CREATE TABLE effects (call text PRIMARY KEY, times int)")
	w.exec(t, "CREATE TABLE ended (session text, start bigint, status text, times int, PRIMARY KEY (session, start))")
	return w
}

func (w *world) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	_, err := w.pool.Exec(t.Context(), query, args...)
	require.NoError(t, err)
}

// count returns the number that a query selects.
func (w *world) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, w.pool.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// await waits until a query selects a number.
func (w *world) await(t testing.TB, n int, query string, args ...any) {
	t.Helper()
	require.Eventually(t, func() bool { return w.count(t, query, args...) == n }, time.Minute, 20*time.Millisecond,
		"%s: %d", query, n)
}

// done counts an effect of a call.
func (w *world) done(ctx context.Context) error {
	_, err := w.pool.Exec(ctx, `INSERT INTO effects VALUES ($1, 1)
		ON CONFLICT (call) DO UPDATE SET times = effects.times + 1`, tools.IdempotencyKey(ctx))
	return err
}

// ended notes the end of a run.
func (w *world) ended(ctx context.Context, tx pgx.Tx, r *agent.Result) error {
	_, err := tx.Exec(ctx, `INSERT INTO ended VALUES ($1, $2, $3, 1)
		ON CONFLICT (session, start) DO UPDATE SET times = ended.times + 1`, r.Session, int64(r.Start), string(r.Status))
	return err
}

// A page is the input of the tools.
type page struct {
	Title string `json:"title"`
}

// model drafts twice at once, drafts, publishes and ends, whoever asks: it knows the step by the
// conversation.
func model() provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		step := 0
		for i := range req.Messages {
			switch req.Messages[i].Role {
			case provider.RoleUser:
				step = 0
			case provider.RoleAssistant:
				step++
			}
		}
		draft := providertest.CallSpec{Tool: "draft", Input: page{fmt.Sprint("page ", step)}}
		switch step {
		case 0:
			another := providertest.CallSpec{Tool: "draft", Input: page{"another"}}
			return providertest.Calls(draft, another).Response(), nil
		case 1:
			return providertest.Calls(draft).Response(), nil
		case 2:
			return providertest.Call("publish", page{"page"}).Response(), nil
		}
		return providertest.Say("It is published.").Response(), nil
	})
}

// effectsOfRun is how many calls a run makes.
const effectsOfRun = 4

// agent returns an agent with tools, whose effects take a moment, and are followed by say.
func (w *world) agent(cfg agent.Config, say func()) (*agent.Agent, error) {
	effect := func(ctx context.Context, _ page) (string, error) {
		<-time.After(2 * time.Millisecond)
		if err := w.done(ctx); err != nil {
			return "", err
		}
		say()
		<-time.After(2 * time.Millisecond)
		return "done", nil
	}
	if cfg.Name == "" {
		cfg.Name = "writer"
	}
	if cfg.Provider == nil {
		cfg.Provider = model()
	}
	if cfg.Journal == nil {
		cfg.Journal = w.store
	}
	cfg.Lease, cfg.InDoubt = lease, agent.TellInDoubt
	cfg.Tools = append(cfg.Tools, tools.New(tools.Spec{Name: "draft"}, effect),
		tools.New(tools.Spec{Name: "publish", Risk: tools.High}, effect))
	return agent.New(cfg)
}

// config returns the Config of a client that drives an agent.
func (w *world) config(a *agent.Agent) pawlriver.Config {
	return pawlriver.Config{Pool: w.pool, Agents: []*agent.Agent{a}, Watch: time.Second,
		Leg: agent.Leg{Steps: 2, Time: time.Second, Grace: time.Second}, Ended: w.ended}
}

// quiet logs only errors, to the tests' output.
var quiet = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1}))

// client returns a client that only queues jobs.
func (w *world) client(t testing.TB) *river.Client[pgx.Tx] {
	t.Helper()
	c, err := river.NewClient(riverpgxv5.New(w.pool), &river.Config{Logger: quiet})
	require.NoError(t, err)
	return c
}

// start starts a client that works, until the test ends.
func (w *world) start(t testing.TB, cfg pawlriver.Config) *river.Client[pgx.Tx] {
	t.Helper()
	rc := riverConfig(4)
	require.NoError(t, pawlriver.Configure(rc, cfg))
	c, err := river.NewClient(riverpgxv5.New(w.pool), rc)
	require.NoError(t, err)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() { require.NoError(t, c.StopAndCancel(context.Background())) })
	return c
}

// riverConfig returns the Config of a client with so many jobs at a time.
func riverConfig(parallel int) *river.Config {
	return &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: parallel}},
		FetchCooldown: 20 * time.Millisecond, TestOnly: true, Logger: quiet}
}

// enqueue queues a run of the session, in a transaction of its own.
func (w *world) enqueue(t testing.TB, c *river.Client[pgx.Tx], session string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		return pawlriver.Enqueue(t.Context(), tx, c, "writer",
			agent.Input{Session: session, Key: "first", Prompt: "Publish a page."}, nil)
	})
	require.NoError(t, err)
}

// status returns how the newest run of a session stands; "" if there is none.
func (w *world) status(t testing.TB, session string) agent.Status {
	t.Helper()
	h, err := w.store.Head(t.Context(), session)
	if err != nil {
		require.ErrorIs(t, err, journal.ErrNoSession)
	}
	return agent.Status(h.Status)
}

// awaitStatus waits until the newest run of a session has a status.
func (w *world) awaitStatus(t testing.TB, session string, s agent.Status) {
	t.Helper()
	require.Eventually(t, func() bool { return w.status(t, session) == s }, time.Minute, 20*time.Millisecond, "%s: %s",
		session, s)
}

// work is a process that does legs until its input ends. It prints a line for each effect.
func work(args []string) error {
	ctx := context.Background()
	w, err := openWorld(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	defer w.Close()
	a, err := w.agent(agent.Config{}, func() { fmt.Println("effect") })
	if err != nil {
		return err
	}
	rc := riverConfig(8)
	rc.LeaderElectionDisabled = true
	if err := pawlriver.Configure(rc, w.config(a)); err != nil {
		return err
	}
	return w.serve(ctx, rc)
}

// keep is a process that looks for missing legs, as River's leader, until its input ends.
func keep(args []string) error {
	ctx := context.Background()
	w, err := openWorld(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	defer w.Close()
	a, err := w.agent(agent.Config{}, func() {})
	if err != nil {
		return err
	}
	rc := &river.Config{Queues: map[string]river.QueueConfig{}, TestOnly: true, Logger: quiet}
	if err := pawlriver.ConfigureWatch(rc, w.config(a)); err != nil {
		return err
	}
	return w.serve(ctx, rc)
}

// serve runs a client until the input of the process ends. It prints a line when it begins.
func (w *world) serve(ctx context.Context, rc *river.Config) error {
	c, err := river.NewClient(riverpgxv5.New(w.pool), rc)
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	fmt.Println("started")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return c.StopAndCancel(ctx)
}
