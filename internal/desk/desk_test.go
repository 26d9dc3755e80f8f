package desk

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/stream/sse"
)

var (
	chats    = flag.Int("chats", 40, "how many chats people have")
	parallel = flag.Int("chats-at-once", 20, "how many of them at a time")
)

func TestPeopleOfTwoReplicas(t *testing.T) { serveDesk(t, pgtest.DSN(t)) }

func TestPeopleOfTwoReplicasBehindAPooler(t *testing.T) {
	serveDesk(t, pgtest.Pooler(t, pgtest.DSN(t), 8)+" default_query_exec_mode=exec")
}

// serveDesk has people chat with two replicas.
func serveDesk(t *testing.T, dsn string) {
	d := &desk{t: t, client: &http.Client{Transport: &http.Transport{}}}
	defer d.client.CloseIdleConnections()
	schema := fmt.Sprintf("desk_%d", rand.Uint32())
	defer dropSchema(t, schema)
	for range 2 {
		p := roletest.Start(t, "replica", dsn, schema)
		d.replicas = append(d.replicas, p.Line())
		defer func() {
			require.NoError(t, p.In.Close())
			p.End(t)
		}()
	}
	var people sync.WaitGroup
	next := atomic.Int64{}
	for range *parallel {
		people.Go(func() {
			for n := int(next.Add(1)); n <= *chats; n = int(next.Add(1)) {
				d.chat(n)
			}
		})
	}
	people.Wait()
	if t.Failed() {
		return
	}
	slices.Sort(d.after)
	p99 := d.after[len(d.after)*99/100]
	t.Logf("%d chats; %d readers came to the other replica, and each got text; pieces of text after a click that "+
		"cancels: half of the people got at most %d, 99 %% %d, and the model writes %d a second", *chats,
		d.elsewhere.Load(), d.after[len(d.after)/2], p99, second)
	require.LessOrEqual(t, p99, second)
	require.Positive(t, d.elsewhere.Load())
}

func dropSchema(t *testing.T, schema string) {
	db, err := sql.Open("pgx", pgtest.DSN(t))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("DROP SCHEMA " + schema + " CASCADE")
	require.NoError(t, err)
}

// A desk is the service, as people see it.
type desk struct {
	t         *testing.T
	client    *http.Client
	replicas  []string
	elsewhere atomic.Int64 // readers of the replica that doesn't drive the run

	mu    sync.Mutex
	after []int // pieces that came after a request to cancel
}

// A conversation is one chat.
type conversation struct {
	*desk
	id     string
	driver int // the replica that got the message
	facts  int // their numbers are 1, 2, …
	ended  *agent.RunEnded

	words   atomic.Int64  // pieces of text that were shown
	reading chan struct{} // closed when some were, after the connection was lost
}

// chat has one person send a message, read the answer with an interruption, and perhaps stop it.
func (d *desk) chat(n int) {
	c := &conversation{desk: d, id: "chat-" + strconv.Itoa(n), driver: rand.N(2), reading: make(chan struct{})}
	if !c.ok(c.post(c.driver, "sessions/send", `{"session":"`+c.id+`","text":"Hello"}`)) {
		return
	}
	c.read(3 + rand.N(5)) // then the connection is lost
	if c.ended != nil {
		d.t.Errorf("%s: the answer came without its pieces", c.id)
		return
	}
	stop := []string{"", "chat/" + c.id + "/stop", "sessions/cancel", "sessions/stop"}[n%4]
	if stop == "" {
		c.read(-1)
		c.check(agent.Completed, true)
		return
	}
	body := ""
	if strings.HasPrefix(stop, "sessions") {
		body = `{"session":"` + c.id + `"}`
	}
	c.words.Store(0)
	var reader sync.WaitGroup
	reader.Go(func() { c.read(-1) })
	<-c.reading
	words := c.words.Load()
	stopped := c.ok(c.post(rand.N(2), stop, body))
	reader.Wait()
	if !stopped {
		return
	}
	c.check(agent.Stopped, stop == "sessions/stop")
	if stop != "sessions/stop" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.after = append(d.after, int(c.words.Load()-words))
	}
}

// check says what is wrong with how the chat has ended.
func (c *conversation) check(status agent.Status, whole bool) {
	if c.ended == nil {
		c.t.Errorf("%s: its end is lost", c.id)
		return
	}
	if c.ended.Status != status {
		c.t.Errorf("%s: it ended as %s %s, not as %s", c.id, c.ended.Status, c.ended.Code, status)
	}
	res, err := c.client.Get(c.replicas[rand.N(2)] + "/sessions/messages?session=" + c.id)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Error(err)
		return
	}
	if n := strings.Count(string(raw), "word "); whole && n != pieces {
		c.t.Errorf("%s: the conversation has %d of the %d pieces: %s", c.id, n, pieces, raw)
	}
}

// read reads events from a random replica until that many pieces have come, or the end of the run.
func (c *conversation) read(most int) {
	for got := 0; c.ended == nil && (most < 0 || got < most); {
		at := rand.N(2)
		n := c.readFrom(at, most-got)
		if got += n; at != c.driver && n > 0 {
			c.elsewhere.Add(1)
		}
	}
	if most < 0 {
		c.begin()
	}
}

// begin says that the second reader has text, or won't get any.
func (c *conversation) begin() {
	select {
	case <-c.reading:
	default:
		close(c.reading)
	}
}

// readFrom reads from one replica until that many pieces have come, or all that there are.
func (c *conversation) readFrom(at, most int) (got int) {
	res, err := c.client.Get(fmt.Sprintf("%s/events?session=%s&after=%d", c.replicas[at], c.id, c.facts))
	if err != nil {
		c.t.Error(err)
		return 0
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(res.Body)
		c.t.Errorf("%s: events: %d %s", c.id, res.StatusCode, raw)
		return 0
	}
	r := sse.NewReader(res.Body, 0)
	for c.ended == nil && (most < 0 || got < most) {
		ev, err := r.Next()
		if err != nil || ev.Type == "hint" {
			return got
		}
		event, err := agent.UnmarshalEvent(ev.Data)
		if err != nil {
			c.t.Errorf("%s: %v: %s", c.id, err, ev.Data)
			return got
		}
		if seq := int(event.Envelope().Seq); seq > 0 {
			if seq != c.facts+1 {
				c.t.Errorf("%s: fact %d came after %d", c.id, seq, c.facts)
			}
			c.facts = seq
		}
		switch event := event.(type) {
		case *agent.TextDelta:
			n := strings.Count(event.Text, "word ")
			if got += n; c.words.Add(int64(n)) == int64(n) && most < 0 {
				c.begin()
			}
		case *agent.RunEnded:
			c.ended = event
		}
	}
	return got
}

// post makes a request.
func (d *desk) post(replica int, path, body string) (status int, answer []byte) {
	res, err := d.client.Post(d.replicas[replica]+"/"+path, "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		d.t.Error(err)
		return 0, nil
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Error(err)
	}
	return res.StatusCode, raw
}

// ok checks an answer.
func (c *conversation) ok(status int, answer []byte) bool {
	if status < 200 || status > 299 {
		c.t.Errorf("%s: %d %s", c.id, status, answer)
		return false
	}
	var said map[string]any
	if status == http.StatusAccepted && json.Unmarshal(answer, &said) != nil {
		c.t.Errorf("%s: 202 with %s", c.id, answer)
	}
	return true
}
