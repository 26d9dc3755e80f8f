package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/memory/pgmemory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(func(int) { pgtest.Stop() })) }

// A desk is a journal with sessions, and the program that works on it.
type desk struct {
	*testing.T
	path      string
	store     *sqlite.Store
	published int
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, path: filepath.Join(t.TempDir(), "runs.db")}
	var err error
	d.store, err = sqlite.Open(d.path, sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.store.Close()) })
	return d
}

// agent returns an agent whose calls of publish wait for a decision.
func (d *desk) agent(name string, model provider.Provider, more ...tools.Tool) *agent.Agent {
	d.Helper()
	publish := tools.New(tools.Spec{Name: "publish", Description: "Publishes the page.", Approval: tools.AskAlways},
		func(context.Context, struct{}) (string, error) {
			d.published++
			return "It is online.", nil
		})
	a, err := agent.New(agent.Config{Name: name, Journal: d.store, Provider: model, NoGuard: true,
		Tools: append(more, publish)})
	require.NoError(d, err)
	return a
}

func (d *desk) pause(a *agent.Agent, session string) {
	d.Helper()
	_, err := a.Run(d.Context(), agent.Input{Session: session, Prompt: "Publish the page.", Owner: "ann",
		Labels: map[string]string{"tenant": "t1"}})
	require.ErrorAs(d, err, new(*agent.PausedError))
}

// pawl runs the program, which has to end with this status, and returns what it printed.
func (d *desk) pawl(status int, args ...string) (stdout, stderr string) {
	d.Helper()
	var out, problem bytes.Buffer
	got := run(append(args, "-journal", d.path, "-as", "olga"), &out, &problem)
	require.Equal(d, status, got, "%v: %s%s", args, out.String(), problem.String())
	return out.String(), problem.String()
}

func asks() provider.Provider {
	return providertest.Script(providertest.Call("publish", struct{}{}), providertest.Say("Done."))
}

func TestAnOperatorFindsAndDecidesWhatWaits(t *testing.T) {
	d := newDesk(t)
	a := d.agent("clerk", asks())
	d.pause(a, "s-1")
	out, _ := d.pawl(0, "pending", "-json")
	var item struct{ Session, ID, Kind, What string }
	require.NoError(t, json.Unmarshal([]byte(out), &item), out)
	require.Equal(t, "s-1", item.Session)
	require.Equal(t, "approval", item.Kind)

	out, _ = d.pawl(0, "sessions", "-status", "paused", "-owner", "ann", "-label", "tenant=t1", "-prefix", "s-")
	require.Regexp(t, `(?m)^SESSION +STATUS +PENDING`, out)
	require.Regexp(t, `(?m)^s-1 +paused +1 `, out)
	lines := strings.Split(out, "\n")
	require.Equal(t, strings.Index(lines[0], "OWNER"), strings.Index(lines[1], "ann"), out)
	out, _ = d.pawl(0, "sessions", "-label", "tenant=t2")
	require.NotContains(t, out, "s-1")
	out, _ = d.pawl(0, "show", "s-1")
	for _, want := range []string{"clerk", "ann", "tenant=t1", item.ID, "RunStarted", "Publish the page.",
		"Suspended"} {
		require.Contains(t, out, want)
	}

	_, problem := d.pawl(1, "approve", "s-2")
	require.Contains(t, problem, `"s-2" names 0 things that wait`)
	out, _ = d.pawl(0, "approve", "s-1")
	require.Regexp(t, `(?m)^approved? +s-1 .*olga$`, out)
	_, problem = d.pawl(1, "reject", "s-1", item.ID, "-reason", "No.")
	require.Contains(t, problem, "decided")
	require.Equal(t, 1, strings.Count(problem, "\n"), "one sentence")

	_, err := a.Run(t.Context(), agent.Continue("s-1"))
	require.NoError(t, err)
	require.Equal(t, 1, d.published)
	out, _ = d.pawl(0, "show", "s-1", "-facts", "0")
	require.Contains(t, out, "by olga")
	require.NotContains(t, out, "WAITS FOR")
	out, _ = d.pawl(0, "export", "s-1")
	facts, err := a.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(facts), strings.Count(out, "\n"))
}

// TestTheRunAsksWhetherTheOperatorMayDecide: the program has no agent, and knows no roles.
func TestTheRunAsksWhetherTheOperatorMayDecide(t *testing.T) {
	d := newDesk(t)
	managers := map[string][]string{}
	refund := tools.New(tools.Spec{Name: "refund", Approvers: []string{"manager"}},
		func(context.Context, struct{}) (string, error) { d.published++; return "paid", nil })
	a, err := agent.New(agent.Config{Name: "till", Journal: d.store, NoGuard: true, Tools: []tools.Tool{refund},
		Provider: providertest.Script(providertest.Call("refund", struct{}{}), providertest.Say("Done.")),
		Roles:    func(_ context.Context, _, user string) ([]string, error) { return managers[user], nil }})
	require.NoError(t, err)
	d.pause(a, "s-1")
	d.pawl(0, "approve", "s-1")
	_, err = a.Run(t.Context(), agent.Continue("s-1"))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Zero(t, d.published)
	out, _ := d.pawl(0, "show", "s-1", "-facts", "0")
	require.Contains(t, out, "olga may not decide", "it is seen why")
	managers["olga"] = []string{"manager"}
	d.pawl(0, "approve", "s-1")
	_, err = a.Run(t.Context(), agent.Continue("s-1"))
	require.NoError(t, err)
	require.Equal(t, 1, d.published)
}

// TestAReasonIsShownWhole: what is to be done is often at its end.
func TestAReasonIsShownWhole(t *testing.T) {
	d := newDesk(t)
	const why = "the request takes 89,214 tokens, and the model's window has 16,000; start a new session, " +
		"send less at a time, or set Config.Memory; see https://example.com/a/very/long/address/that/has/more/than/72/letters/" +
		" and say 1,2,3 to a person"
	d.pause(d.agent("clerk", asks()), "s-1")
	d.pawl(0, "reject", "s-1", "-reason", why)
	broken := d.agent("broken", providertest.Script(providertest.FailWith(fault.New(fault.Permanent, why))))
	_, err := broken.Run(t.Context(), agent.Input{Session: "s-2", Prompt: strings.Repeat("A long prompt. ", 20)})
	require.Error(t, err)
	_, err = d.agent("clerk", providertest.Script(providertest.Say("Fine."))).Run(t.Context(), agent.Continue("s-1"))
	require.NoError(t, err)
	for session, shown := range map[string]int{
		"s-1": 1, // of the decision
		"s-2": 3, // of the failed step, of the end, and above the facts
	} {
		out, _ := d.pawl(0, "show", session, "-facts", "0")
		require.Equal(t, shown, strings.Count(strings.Join(strings.Fields(out), " "), why), out)
		for line := range strings.Lines(out) {
			if len(line) > 72+60 {
				require.Contains(t, line, "https://", "only a long word is wider")
			}
		}
		out, _ = d.pawl(0, "show", session, "-facts", "0", "-json")
		require.GreaterOrEqual(t, strings.Count(out, why), shown)
	}
	out, _ := d.pawl(0, "show", "s-2")
	require.Regexp(t, `(?m)^reason +.*\n +\S`, out, "the lines stand below each other")
	require.NotContains(t, out, strings.Repeat("A long prompt. ", 6), "texts are cut, as before")
}

func TestWhatASubagentWaitsForIsDecidedInItsCallersSession(t *testing.T) {
	d := newDesk(t)
	writer := d.agent("writer", asks())
	a := d.agent("editor", providertest.Script(providertest.Call("writer", agent.Task{Task: "Publish."}),
		providertest.Say("Done.")), agent.AsTool(writer, tools.Spec{}))
	d.pause(a, "s-1")
	d.pawl(0, "reject", "s-1", "-reason", "Not today.")
	_, err := a.Run(t.Context(), agent.Continue("s-1"))
	require.NoError(t, err)
	require.Zero(t, d.published)

	d.pause(d.agent("clerk", asks()), "s-2")
	d.pawl(0, "cancel", "s-2")
	out, _ := d.pawl(0, "sessions", "-status", "stopped")
	require.Contains(t, out, "s-2")
}

func TestTheDoctorNamesWhatNeedsAnOperator(t *testing.T) {
	d := newDesk(t)
	d.pause(d.agent("clerk", asks()), "waits")
	broken := d.agent("broken", providertest.Script(providertest.Fail(fault.Transient),
		providertest.Fail(fault.Transient)))
	for _, name := range []string{"q-1", "q-2"} {
		in := agent.Input{Session: name, Key: "1", Prompt: "Hi"}
		require.NoError(t, broken.Enqueue(t.Context(), in, agent.QueueOptions{}))
	}
	_, err := broken.Advance(t.Context(), agent.Continue("q-2"), agent.Leg{})
	require.NoError(t, err)
	l, err := d.store.Lease(t.Context(), "dead", "gone", time.Nanosecond)
	require.NoError(t, err)
	require.NoError(t, d.store.Append(t.Context(), journal.Append{Session: "dead", Fence: l.Fence,
		Records: []journal.Record{{Kind: "k", V: 1}}, Head: &journal.HeadUpdate{Status: "running"}}))

	out, problem := d.pawl(1, "doctor", "-agents", "clerk", "-bytes")
	require.Contains(t, problem, `"dead"`, "its log can't be read")
	for _, want := range []string{`sessions +4 *\n`, `facts +\d+ *\n`, `bytes +\d{3,} *\n`, `held +1 +\S+ ago +dead\n`,
		`queued +1 +\S+ ago +q-1\n`, `waiting +1 +\S+ ago +waits\n`, `failed +1 +\S+ ago +q-2\n`,
		`undelivered +1 +\S+ ago +q-2\n`, `unknown +1 +\S+ ago +q-1\n`, `unreadable +1 +\S+ ago +dead\n`} {
		require.Regexp(t, `(?m)^`+want, out)
	}

	d.pawl(0, "retry", "q-2")
	d.pawl(0, "cancel", "q-2")
	_, problem = d.pawl(1, "retry", "waits")
	require.Contains(t, problem, "can't be retried")
	out, _ = d.pawl(0, "retain", "-idle", "1m")
	require.Regexp(t, `(?m)^false +0 +0 +0$`, out)
	out, _ = d.pawl(0, "retain", "-idle", "1m", "-yes", "-json")
	require.Contains(t, out, `"removed":true`)
}

func TestAJournalIsMigratedOnlyOnRequest(t *testing.T) {
	d := &desk{T: t, path: filepath.Join(t.TempDir(), "new.db")}
	_, problem := d.pawl(1, "sessions")
	require.Contains(t, problem, `"pawl migrate" does that`)
	require.NoFileExists(t, d.path)
	d.pawl(0, "migrate")
	d.pawl(0, "sessions")
	_, problem = d.pawl(2, "migrate", "-memory")
	require.Contains(t, problem, "-memory takes a postgres:// address")
}

var inPostgres = flag.Bool("postgres", false, "also try a journal in PostgreSQL, which takes a second to start")

func TestAJournalMayBeInPostgreSQL(t *testing.T) {
	if !*inPostgres {
		t.Skip("only with -postgres")
	}
	d := &desk{T: t, path: pgtest.DSN(t)}
	if !strings.HasPrefix(d.path, "postgres") {
		d.path = "postgres:///?" + strings.ReplaceAll(d.path, " ", "&")
	}
	_, problem := d.pawl(1, "sessions", "-schema", "pawl_cli")
	require.Contains(t, problem, postgres.ErrOlder.Error())
	d.pawl(0, "migrate", "-schema", "pawl_cli")
	memory := pgmemory.Config{DSN: d.path, Schema: "pawl_cli", NoMigrate: true}
	_, err := pgmemory.Open(t.Context(), memory)
	require.ErrorIs(t, err, pgmemory.ErrOlder)
	d.pawl(0, "migrate", "-memory", "-schema", "pawl_cli")
	s, err := pgmemory.Open(t.Context(), memory)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	out, _ := d.pawl(0, "doctor", "-schema", "pawl_cli")
	require.Regexp(t, `(?m)^sessions +0 *$`, out)
}

func TestArgumentsThatAreWrongAreSaidToBe(t *testing.T) {
	t.Setenv("PAWL_JOURNAL", "")
	for _, args := range []string{"nothing", "approve", "show a b", "sessions -status", "retain -journal x.db",
		"sessions", "help nothing", "sessions -label x -journal x.db", "cancel s-1 -status queued -journal x.db",
		"delete -journal x.db", "completion fish"} {
		var out, problem bytes.Buffer
		if status := run(strings.Fields(args), &out, &problem); status != 2 {
			require.Equal(t, 1, status, args) // x.db doesn't exist
			require.Contains(t, problem.String(), "no such file", args)
		}
		require.Equal(t, 1, strings.Count(problem.String(), "\n"), args)
		require.Empty(t, out.String(), args)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	var all bytes.Buffer
	require.Zero(t, run([]string{"help"}, &all, &all))
	for name := range commands {
		var out bytes.Buffer
		require.Zero(t, run([]string{"help", name}, &out, &out))
		require.Contains(t, out.String(), "-journal", name)
		require.NotContains(t, out.String(), "==", name)
		require.Contains(t, all.String(), "pawl "+name)
	}
}

func TestAnOutputThatCantBeWrittenIsAnError(t *testing.T) {
	var problem bytes.Buffer
	require.Equal(t, 1, run([]string{"help"}, full{}, &problem))
	require.Contains(t, problem.String(), "full")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }
