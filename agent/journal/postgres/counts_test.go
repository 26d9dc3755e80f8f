package postgres_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// countedRun makes a run of 11 model calls and 10 tool calls, one in each step but the last.
func countedRun(t *testing.T, store journal.Store, session string) {
	type number struct {
		N int `json:"n"`
	}
	add := tools.New(tools.Spec{Name: "add", Description: "Adds one."},
		func(_ context.Context, in number) (number, error) { return number{in.N + 1}, nil })
	n := 0
	a, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{add},
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			if n++; n > 10 {
				return providertest.Say("All is counted.").Response(), nil
			}
			return providertest.Call("add", number{n}).Response(), nil
		})})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: session, Prompt: "Count to ten, please."})
	require.NoError(t, err)
	require.Equal(t, 11, res.Steps)
}

// TestARunOf21CallsIs29Transactions counts what the server answers: 24 appends, the lease and its
// release, the head, and two looks into the inbox, as the run begins and before it ends.
func TestARunOf21CallsIs29Transactions(t *testing.T) {
	cfg := empty(t)
	w := newWire(t, cfg.DSN)
	cfg.DSN, cfg.MaxConns = w.through(cfg.DSN), 1
	store := open(t, cfg)
	postgres.ProbeNever(store)
	countedRun(t, store, "first") // statements are prepared once for each connection
	posted, stop := store.Posted("first")
	for postgres.Polls(store) {
		<-posted
	}
	stop()
	ends, answers := w.ends.Load(), w.answers.Load()
	countedRun(t, store, "second")
	require.EqualValues(t, 29, w.ends.Load()-ends, "transactions")
	require.EqualValues(t, 36, w.answers.Load()-answers, "round trips")
}

// A wire stands between a store and the server, and counts the server's answers: all of them, and
// those that end a transaction.
type wire struct {
	listener         net.Listener
	network, address string
	all              sync.WaitGroup
	answers, ends    atomic.Int64
}

func newWire(t *testing.T, dsn string) *wire {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	require.NoError(t, err)
	w := &wire{}
	w.network, w.address = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	w.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.all.Go(func() {
		for {
			client, err := w.listener.Accept()
			if err != nil {
				return
			}
			w.all.Go(func() { w.carry(client) })
		}
	})
	t.Cleanup(func() {
		w.listener.Close()
		w.all.Wait()
	})
	return w
}

// through returns dsn by way of the wire.
func (w *wire) through(dsn string) string {
	return fmt.Sprintf("%s host=127.0.0.1 port=%d", dsn, w.listener.Addr().(*net.TCPAddr).Port)
}

func (w *wire) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(w.network, w.address)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		defer client.Close()
		for {
			message := make([]byte, 5) // its type and its length
			if _, err := io.ReadFull(server, message); err != nil {
				return
			}
			message = append(message, make([]byte, binary.BigEndian.Uint32(message[1:])-4)...)
			if _, err := io.ReadFull(server, message[5:]); err != nil {
				return
			}
			if message[0] == 'Z' { // it is ready for the next statement
				w.answers.Add(1)
				if message[5] == 'I' { // no transaction is open
					w.ends.Add(1)
				}
			}
			if _, err := client.Write(message); err != nil {
				return
			}
		}
	})
	_, _ = io.Copy(server, client)
	server.Close()
	back.Wait()
}

func TestManyRecordsAreRewrittenAtOnce(t *testing.T) {
	cfg := empty(t)
	w := newWire(t, cfg.DSN)
	cfg.DSN, cfg.MaxConns = w.through(cfg.DSN), 1
	store := open(t, cfg)
	lease, err := store.Lease(t.Context(), "s", "w", time.Minute)
	require.NoError(t, err)
	a := journal.Append{Session: "s", Fence: lease.Fence}
	for i := range 200 {
		a.Records = append(a.Records, journal.Record{Seq: uint64(i + 1), Kind: "k", Data: []byte("Ann")})
	}
	require.NoError(t, store.Append(t.Context(), a))
	r := journal.Rewrite{Session: "s", Fence: lease.Fence, Records: a.Records}
	require.NoError(t, store.Rewrite(t.Context(), r)) // statements are prepared once for each connection
	for i := range r.Records {
		r.Records[i].Data = fmt.Append(nil, i)
	}
	answers := w.answers.Load()
	require.NoError(t, store.Rewrite(t.Context(), r))
	require.EqualValues(t, 4, w.answers.Load()-answers, "begin, the session, the records, commit")
	n := 0
	for rec, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(n), string(rec.Data))
		n++
	}
	require.Equal(t, 200, n)
}
