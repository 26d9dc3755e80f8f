package durable

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/tools"
)

const (
	customer = "Zoë Marker"
	mail     = "zoe-7731@marker.example"
)

// aboutPerson finds the person.
func aboutPerson(text string) (words []string) {
	for _, w := range []string{customer, mail} {
		if strings.Contains(text, w) {
			words = append(words, w)
		}
	}
	return words
}

// marks are the forms in which the person may stand in what is stored.
func marks() []string {
	return []string{customer, mail, "Zo\\u00eb Marker", "zoe-7731", "marker.example", "zoe-7731%40marker.example",
		base64.StdEncoding.EncodeToString([]byte("from " + mail))[:24]}
}

type sharedStore interface {
	journal.Eraser
	Allowances(name string) ratelimit.AllowanceStore
	Close() error
}

// tell fills a store with what the person has told agents.
func tell(t *testing.T, store sharedStore) *agent.Agent {
	t.Helper()
	lookup := tools.New(tools.Spec{Name: "lookup", Description: "Looks a customer up.", ReadOnly: true},
		func(_ context.Context, in struct {
			Mail string `json:"mail"`
		}) (string, error) {
			return `{"name":"Zo\u00eb Marker","mail":"` + in.Mail + `"}`, nil
		})
	a, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{lookup}, Provider: providertest.Script(
		providertest.Call("lookup", map[string]string{"mail": mail}),
		providertest.Say("The customer is "+customer+"."),
		providertest.Say("Goodbye."))})
	require.NoError(t, err)
	ctx := t.Context()
	_, err = a.Run(ctx, agent.Input{Session: "s", Labels: map[string]string{"who": mail}, Parts: []provider.Part{
		provider.TextPart("Who wrote this? See https://crm.example/?q=zoe-7731%40marker.example"),
		provider.MediaPart(provider.Media{Type: "text/plain", Name: customer + ".txt",
			Data: []byte("from " + mail + "\n")})}})
	require.NoError(t, err)
	require.NoError(t, a.Session("s").SetTitle(ctx, "A question of "+customer))
	require.NoError(t, a.Session("s").SetLabel(ctx, "about", customer))
	require.NoError(t, a.Session("s").Fork(ctx, "copy", 0))
	require.NoError(t, a.Session("copy").SetTitle(ctx, "Copy for "+customer))
	_, err = a.Session("copy").Prune(ctx)
	require.NoError(t, err)
	_, err = a.Run(ctx, agent.Input{Session: "other", Prompt: "Nothing about anybody."})
	require.NoError(t, err)
	data, err := json.Marshal(map[string]string{"text": "Call " + customer})
	require.NoError(t, err)
	require.NoError(t, store.Post(ctx, "other", journal.Item{ID: "i-1", Kind: "host", Time: time.Now(), Data: data}))
	allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 5, Store: store.Allowances("chats")})
	for _, key := range []string{mail, "ben"} {
		_, err = allowance.Take(ctx, key)
		require.NoError(t, err)
	}
	return a
}

// eraseAll erases the person, runs what is left to do, and checks what is found then.
func eraseAll(t *testing.T, store sharedStore, db *sql.DB, before func()) {
	t.Helper()
	ctx := t.Context()
	var found []agent.Found
	where := make(map[string]int)
	for f, err := range agent.Find(ctx, store, aboutPerson) {
		require.NoError(t, err)
		require.Empty(t, f.Names, "%+v", f)
		found = append(found, f)
		where[f.Session+" "+f.Item]++
	}
	require.Len(t, where, 4, "%v", where)
	require.Equal(t, 1, where["other i-1"])
	require.Equal(t, 1, where[" chats"])

	erased, err := agent.Erase(ctx, store, found, "[erased]")
	require.NoError(t, err)
	require.Equal(t, 3, erased.Sessions)
	require.Equal(t, len(found)-4, erased.Facts, "two heads, an item, an allowance")
	require.Equal(t, 1, erased.Items)
	require.Equal(t, 1, erased.Allowances)
	require.Empty(t, erased.Names)
	require.NotEmpty(t, erased.Left)
	before()
	for _, left := range erased.Left {
		for _, statement := range left.Run {
			_, err := db.ExecContext(ctx, statement)
			require.NoError(t, err, statement)
		}
	}
	for f, err := range agent.Find(ctx, store, aboutPerson) {
		require.NoError(t, err)
		require.Fail(t, "something is left", "%+v", f)
	}
	items, err := store.Inbox(ctx, "other")
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"Call [erased]"}`, string(items[0].Data))
}

// goOn continues an erased session in this process, which knows it from before, and in another.
func goOn(t *testing.T, store journal.Store, before *agent.Agent) {
	t.Helper()
	for _, session := range []string{"s", "copy"} {
		messages, err := before.Session(session).Messages(t.Context())
		require.NoError(t, err)
		text, err := json.Marshal(messages)
		require.NoError(t, err)
		require.Contains(t, string(text), "The customer is [erased].")
		requireNone(t, "the messages of "+session, text)
		model := providertest.Script(providertest.Say("On we go."))
		a, err := agent.New(agent.Config{Journal: store, Provider: model})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), agent.Input{Session: session, Prompt: "Go on."})
		require.NoError(t, err)
		text, err = json.Marshal(model.Requests())
		require.NoError(t, err)
		require.Contains(t, string(text), "The customer is [erased].")
		requireNone(t, "the request", text)
	}
}

func requireNone(t *testing.T, where string, data []byte) {
	t.Helper()
	for _, mark := range marks() {
		require.Zero(t, strings.Count(string(data), mark), "%s has %q", where, mark)
	}
}

func TestErasedWordsAreNowhereInAFileOfSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	a := tell(t, store)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	files := func() (data []byte) {
		for _, file := range []string{path, path + "-wal"} {
			d, err := os.ReadFile(file)
			require.NoError(t, err)
			data = append(data, d...)
		}
		return data
	}
	eraseAll(t, store, db, func() { require.Contains(t, string(files()), mail, "until it is rebuilt") })
	requireNone(t, "the file", files())
	goOn(t, store, a)
}

func TestErasedWordsAreNowhereInTheTablesOfPostgreSQL(t *testing.T) {
	dsn := pgtest.DSN(t)
	const schema = "pawl_erase"
	db, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	defer db.Close()
	ctx := t.Context()
	drop := func() {
		_, err := db.ExecContext(context.WithoutCancel(ctx), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		require.NoError(t, err)
	}
	drop()
	defer drop()
	store, err := postgres.Open(ctx, postgres.Config{DSN: dsn, Schema: schema})
	require.NoError(t, err)
	defer store.Close()
	a := tell(t, store)
	samples := func() string { // of columns of bytes, as they are
		var text sql.NullString
		require.NoError(t, db.QueryRowContext(ctx, `SELECT string_agg(concat(s.stavalues1, s.stavalues2), ' ')
			FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid WHERE c.relnamespace = $1::regnamespace`,
			schema).Scan(&text))
		return regexp.MustCompile(`\\x[0-9a-f]+`).ReplaceAllStringFunc(text.String, func(code string) string {
			data, err := hex.DecodeString(code[2:])
			require.NoError(t, err)
			return string(data)
		})
	}
	for _, table := range []string{"records", "items", "sessions", "allowances"} { // as the server does by itself
		_, err := db.ExecContext(ctx, "ANALYZE "+schema+"."+table)
		require.NoError(t, err)
	}
	eraseAll(t, store, db, func() { require.Contains(t, samples(), customer, "until it is analyzed") })
	requireNone(t, "pg_statistic", []byte(samples()))
	rows, err := db.QueryContext(ctx, `SELECT c.relname, pg_read_binary_file(pg_relation_filepath(c.oid))
		FROM pg_class c WHERE pg_relation_filepath(c.oid) IS NOT NULL AND (c.relnamespace = $1::regnamespace OR
			c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = $1::regnamespace))`, schema)
	require.NoError(t, err)
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var name string
		var data []byte
		require.NoError(t, rows.Scan(&name, &data))
		requireNone(t, fmt.Sprint("the file of ", name), data)
	}
	require.NoError(t, rows.Err())
	require.Greater(t, n, 10)
	goOn(t, store, a)
}
