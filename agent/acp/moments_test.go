package acp_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/acp"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// worker returns an agent's Config: its model thinks, says something, makes a call that is free and
// one that asks, and says something. It answers by what it is sent, so that any process can go on.
func worker(runs *counter) agent.Config {
	model := providertest.Func(func(_ context.Context, r *provider.Request) (*provider.Response, error) {
		results := 0
		for _, m := range r.Messages {
			switch m.Role {
			case provider.RoleUser:
				results = 0
			case provider.RoleTool:
				results++
			}
		}
		switch results {
		case 0:
			return providertest.Reply(providertest.Think("First look, then work."), providertest.Say("I look first."),
				providertest.Call("look", page{"home"})).Response(), nil
		case 1:
			return providertest.Reply(providertest.Say("Now I work."),
				providertest.Call("work", page{"home"})).Response(), nil
		}
		return providertest.Say("All of it is done.").Response(), nil
	})
	look := tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(context.Context, page) (string, error) {
		return "seen", nil
	})
	work := tools.New(tools.Spec{Name: "work", Risk: tools.High}, func(context.Context, page) (string, error) {
		runs.add()
		return "worked", nil
	})
	return agent.Config{Provider: model, Tools: []tools.Tool{look, work}}
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

var every = flag.Int("every", 3, "at every how many updates the editor is killed")

// TestTheEndOfTheEditorLosesNothing kills the editor at the first update, the second one, and so
// on, and every other time the process, too. The next editor loads the session and approves.
func TestTheEndOfTheEditorLosesNothing(t *testing.T) {
	for moment := 1; moment <= 12; moment += *every {
		t.Run(fmt.Sprint(moment), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			runs := &counter{}
			start := func() (*live.Hub, func()) {
				journal := store(t, path)
				cfg := worker(runs)
				cfg.Journal = journal
				a, err := agent.New(cfg)
				require.NoError(t, err)
				hub, err := live.New(live.Config{Agent: a})
				require.NoError(t, err)
				return hub, func() {
					require.NoError(t, hub.Close())
					require.NoError(t, journal.Close())
				}
			}
			hub, end := start()
			e := connect(t, with(hub))
			reached := make(chan bool)
			e.update = func(n int, _ sdk.SessionUpdate) {
				if n == moment {
					close(reached)
				}
			}
			id := e.begin("/srv/app")
			go e.prompt(id, "Work.")
			select {
			case <-reached:
			case <-e.asked: // there are no more updates before that
			}
			e.kill()
			if moment%2 == 0 {
				end()
				hub, end = start()
			}
			defer end()

			e = connect(t, with(hub))
			e.choose = func(sdk.RequestPermissionRequest) string { return "Allow once" }
			require.NoError(t, e.load(id, "/srv/app"))
			for range hub.Watch(t.Context(), string(id), 0) {
				res, err := hub.Agent().Session(string(id)).Result(t.Context())
				require.NoError(t, err)
				if res.Status == agent.Completed {
					break
				}
			}
			require.Equal(t, 1, runs.count())
			e.say(id, "And again.", sdk.StopReasonEndTurn)
			require.Equal(t, 2, runs.count())

			e.forget()
			require.NoError(t, e.load(id, "/srv/app"))
			turn := "thought: First look, then work.\nagent: I look first.\ncall other Look “home” pending \n" +
				"result completed seen\nagent: Now I work.\ncall other Work “home” pending \nresult completed worked\n" +
				"agent: All of it is done."
			require.Equal(t, "user: Work.\n"+turn+"\nuser: And again.\n"+turn, e.screen())
		})
	}
}

func TestACancellationAtAnyUpdateEndsThePrompt(t *testing.T) {
	for moment := 0; moment <= 24; moment++ {
		t.Run(fmt.Sprint(moment), func(t *testing.T) {
			runs := &counter{}
			hub := newHub(t, worker(runs))
			e := connect(t, with(hub))
			id := e.begin("/srv/app")
			var over atomic.Bool
			cancel := func() {
				require.NoError(t, e.conn.Cancel(context.Background(), sdk.CancelNotification{SessionId: id}))
			}
			e.update = func(n int, _ sdk.SessionUpdate) {
				if n == moment && !over.Load() {
					cancel()
				}
			}
			e.choose = func(sdk.RequestPermissionRequest) string {
				if moment == 0 && !over.Load() { // while something is asked
					cancel()
					return ""
				}
				return "Allow once"
			}
			got, err := e.prompt(id, "Work.")
			require.NoError(t, err)
			own := hub.Agent().Session(string(id))
			res, err := own.Result(t.Context())
			require.NoError(t, err)
			if got != sdk.StopReasonCancelled {
				require.Equal(t, agent.Completed, res.Status) // it was over
			}
			require.LessOrEqual(t, runs.count(), 1)

			over.Store(true)
			if got, err = e.prompt(id, "Go on."); got == sdk.StopReasonCancelled { // the cancellation came late
				got, err = e.prompt(id, "Go on.")
			}
			require.NoError(t, err)
			require.Equal(t, sdk.StopReasonEndTurn, got)
			messages, err := own.Messages(t.Context())
			require.NoError(t, err)
			require.Equal(t, "Work.", messages[0].Text())
		})
	}
}

func TestAStopByTheHostCancelsThePrompt(t *testing.T) {
	var own *agent.Session
	halt := tools.New(tools.Spec{Name: "halt", ReadOnly: true}, func(ctx context.Context, _ page) (string, error) {
		return "halted", own.Stop(ctx)
	})
	model := providertest.Script(providertest.Call("halt", page{"home"}), providertest.Say("It goes on."))
	hub := newHub(t, agent.Config{Provider: model, Tools: []tools.Tool{halt}})
	e := connect(t, with(hub))
	id := e.begin("/srv/app")
	own = hub.Agent().Session(string(id))
	got, err := e.prompt(id, "Work.")
	require.NoError(t, err)
	require.Equal(t, sdk.StopReasonCancelled, got)
	model.AssertCalls(t, 1)
}

func TestAnEndlessReplyIsCanceledOrLeft(t *testing.T) {
	hub := newHub(t, agent.Config{Provider: forever{}, Limits: agent.Limits{ReplyBytes: -1}})
	e := connect(t, with(hub))
	id := e.begin("/srv/app")
	enough := make(chan bool)
	var once sync.Once
	e.update = func(int, sdk.SessionUpdate) { once.Do(func() { close(enough) }) }
	ended := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Begin.")
		ended <- r
	}()
	<-enough
	require.NoError(t, e.conn.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}))
	require.Equal(t, sdk.StopReasonCancelled, <-ended)

	go e.prompt(id, "Begin again.")
	runs := 0
	for ev := range hub.Watch(t.Context(), string(id), 0) {
		if _, begins := ev.(*agent.RunStarted); begins {
			runs++
		}
		if _, writes := ev.(*agent.TextDelta); writes && runs == 2 {
			break
		}
	}
	e.kill() // Run returns, and the run goes on
	res, err := hub.Agent().Session(string(id)).Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, agent.Running, res.Status)
	require.NoError(t, hub.Cancel(t.Context(), string(id)))
}

// playAgent is a program for editors, whose model doesn't stop. With an argument, it writes to its
// standard output when Run has returned.
func playAgent(args []string) error {
	a, err := agent.New(agent.Config{Provider: forever{}})
	if err != nil {
		return err
	}
	hub, err := live.New(live.Config{Agent: a, Drain: time.Millisecond})
	if err != nil {
		return err
	}
	err = acp.Run(context.Background(), acp.Config{
		Hub: func(context.Context, string) (*live.Hub, error) { return hub, nil }})
	_ = hub.Close() // the reply is cut off
	if len(args) > 0 {
		_, err = os.Stdout.WriteString("ended")
	}
	return err
}

// leave starts the program, closes its standard output in the middle of a reply, and returns how it
// has ended.
func leave(t *testing.T, args ...string) error {
	cmd := roletest.Command(t.Context(), "agent", args...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	e := &editor{t: t}
	enough := make(chan bool)
	var once sync.Once
	e.update = func(int, sdk.SessionUpdate) { once.Do(func() { close(enough) }) }
	e.conn = sdk.NewClientSideConnection(e, in, out)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	go e.prompt(e.begin("/srv/app"), "Begin.")
	<-enough
	require.NoError(t, out.Close()) // what the program writes from now on is a SIGPIPE
	<-e.conn.Done()
	for range 100 {
		_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":7,"method":"authenticate","params":{}}`+"\n")
		require.NoError(t, err)
	}
	require.NoError(t, in.Close())
	return cmd.Wait()
}

func TestAProgramOutlivesItsEditorInTheMiddleOfAReply(t *testing.T) {
	require.NoError(t, leave(t), "the signal has ended it")
}

func noHub(context.Context, string) (*live.Hub, error) { return nil, errors.New("there is none") }

// An editor that doesn't read any more doesn't keep Run.
func TestTheContextEndsRunWhileAnAnswerIsBlocked(t *testing.T) {
	blocked, toEditor := io.Pipe()
	fromEditor, toAgent := io.Pipe()
	defer blocked.Close()
	defer toAgent.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() { ended <- acp.Run(ctx, acp.Config{Hub: noHub, In: fromEditor, Out: toEditor}) }()
	_, err := io.WriteString(toAgent,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
	require.NoError(t, err)
	_, err = blocked.Read(make([]byte, 1)) // the answer has begun
	require.NoError(t, err)
	why := errors.New("enough")
	cancel(why)
	require.Equal(t, why, <-ended)
}

// After Run, the signal does what it did before: it ends a program that writes to the dead editor.
func TestRunGivesTheSignalBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGPIPE")
	}
	require.EqualError(t, leave(t, "writes"), "signal: broken pipe")
}

// A prompt that comes while a run is in progress is read by it, or by one of its own.
func TestAPromptIntoARunIsAnsweredEvenIfThatFails(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // starts a goroutine, once, outside of the bubbles
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			goOn := make(chan bool)
			var calls atomic.Int32
			e, hub := serve(t, agent.Config{Provider: providertest.Func(
				func(_ context.Context, r *provider.Request) (*provider.Response, error) {
					if calls.Add(1) > 1 {
						return providertest.Say("You said " + r.LastUserText()).Response(), nil
					}
					if <-goOn; fails {
						return nil, &provider.Error{Class: fault.Permanent, Message: "no such model"}
					}
					return providertest.Say("I begin.").Response(), nil
				})})
			_, err := hub.Start(t.Context(), agent.Input{Session: "s", Prompt: "Begin.", Owner: "ann"})
			require.NoError(t, err)
			require.NoError(t, e.load("s", "/srv/app"))
			synctest.Wait() // the model is asked
			ended := make(chan sdk.StopReason)
			go func() {
				r, err := e.prompt("s", "And this.")
				ended <- r + sdk.StopReason(fmt.Sprint(err))
			}()
			synctest.Wait()
			close(goOn)
			require.Equal(t, sdk.StopReason("end_turn<nil>"), <-ended)
			require.Contains(t, e.screen(), "You said And this.")
			e.forget()
			require.NoError(t, e.load("s", "/srv/app"))
			require.Equal(t, 1, strings.Count(e.screen(), "And this.\nagent: You said And this."))
			e.kill()
			require.NoError(t, hub.Close())
		})
	}
}
