package river_test

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A program that takes orders and works on them, and of which any number may run. River's tables
// exist: see package rivermigrate.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	store, err := postgres.Open(ctx, postgres.Config{DSN: os.Getenv("DATABASE_URL")})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	c, writer, err := start(ctx, pool, store) // until ctx ends
	if err != nil {
		log.Fatal(err)
	}
	if err := order(ctx, pool, c, "order-7", "Publish the news."); err != nil {
		log.Fatal(err)
	}
	id := ask(ctx, writer, "order-7") // a person decides
	if err := approve(ctx, c, writer, "order-7", id); err != nil {
		log.Fatal(err)
	}
	<-c.Stopped()
}

// start starts a client that drives the runs of an agent until ctx ends, as at SIGTERM. It is
// drained 20 s later at most.
func start(ctx context.Context, pool *pgxpool.Pool, store journal.Store) (*river.Client[pgx.Tx], *agent.Agent, error) {
	writer, err := agent.New(agent.Config{
		Name: "writer", Journal: store,
		Provider: providertest.Script(providertest.Call("publish", page{"news"}), providertest.Say("It is published.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "publish", Risk: tools.High},
			func(ctx context.Context, in page) (string, error) { return "published", nil })},
	})
	if err != nil {
		return nil, nil, err
	}
	cfg := &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 50}}}
	err = pawlriver.Configure(cfg, pawlriver.Config{
		Pool:   pool,
		Agents: []*agent.Agent{writer},
		Ended: func(ctx context.Context, tx pgx.Tx, r *agent.Result) error {
			_, err := tx.Exec(ctx, "UPDATE orders SET answer = $2 WHERE id = $1", r.Session, r.Text())
			return err
		},
	})
	if err != nil {
		return nil, nil, err
	}
	c, err := river.NewClient(riverpgxv5.New(pool), cfg)
	if err != nil {
		return nil, nil, err
	}
	return c, writer, c.Start(ctx)
}

// order stores an order and queues the run that works on it: both or neither.
func order(ctx context.Context, pool *pgxpool.Pool, c *river.Client[pgx.Tx], id, prompt string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO orders (id, answer) VALUES ($1, '')", id); err != nil {
			return err
		}
		return pawlriver.Enqueue(ctx, tx, c, "writer", agent.Input{Session: id, Key: "first", Prompt: prompt}, nil)
	})
}

// approve is what a page calls when a person has decided.
func approve(ctx context.Context, c *river.Client[pgx.Tx], a *agent.Agent, session, id string) error {
	if err := a.Session(session).Decide(ctx, agent.Approve(id).By("ann")); err != nil {
		return err
	}
	return pawlriver.Wake(ctx, c, session)
}

// ask waits for something to decide, and returns its id.
func ask(ctx context.Context, a *agent.Agent, session string) string {
	for ctx.Err() == nil {
		if pending, err := a.Session(session).Pending(ctx); err == nil && len(pending) > 0 {
			return pending[0].ID
		}
		<-time.After(10 * time.Millisecond)
	}
	return ""
}

func TestTheExampleAnswersAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(t, "CREATE TABLE orders (id text, answer text)")
	ctx, stop := context.WithCancel(t.Context())
	c, writer, err := start(ctx, w.pool, w.store)
	require.NoError(t, err)
	require.NoError(t, order(ctx, w.pool, c, "order-7", "Publish the news."))
	require.NoError(t, approve(ctx, c, writer, "order-7", ask(ctx, writer, "order-7")))
	w.await(t, 1, "SELECT count(*) FROM orders WHERE answer = 'It is published.'")
	stop()
	<-c.Stopped()
}
