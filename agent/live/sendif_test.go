package live_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestTheHubAsksBeforeItStartsARunByItself, with a text that the run in progress hasn't read.
func TestTheHubAsksBeforeItStartsARunByItself(t *testing.T) {
	full := fault.New(fault.RateLimited, "full")
	for name, c := range map[string]struct {
		answers []error // the last one is given again
		runs    int
		asked   int
	}{
		"at once":        {[]error{nil}, 2, 1},
		"when it says":   {[]error{fault.WithRetryAfter(full, 20*time.Second), nil}, 2, 2},
		"soon":           {[]error{full, full, nil}, 2, 3},
		"not soon":       {[]error{fault.WithRetryAfter(full, time.Hour)}, 1, 1},
		"not in time":    {[]error{full}, 1, 61},
		"it may not":     {[]error{errors.New("no")}, 1, 1},
		"nobody answers": {[]error{context.DeadlineExceeded}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, err := agent.New(agent.Config{Journal: &journal.MapStore{}, NoGuard: true,
					Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
						time.Sleep(time.Minute)
						return nil, fault.New(fault.Permanent, "it has failed")
					})})
				require.NoError(t, err)
				h := newHub(t, live.Config{Agent: a})
				run := start(t, h)
				synctest.Wait() // its model call is in progress
				var asked, held atomic.Int64
				sent, err := h.SendIf(t.Context(), agent.Input{Session: "s", Prompt: "more"},
					func(context.Context) (func(), error) {
						n := int(asked.Add(1))
						err := c.answers[min(n, len(c.answers))-1]
						if err != nil {
							return nil, err
						}
						held.Add(1)
						return func() { held.Add(-1) }, nil
					})
				require.NoError(t, err)
				require.True(t, sent.Steered)
				require.Zero(t, asked.Load())
				<-run.Done
				<-time.After(30 * time.Second)
				synctest.Wait()
				require.EqualValues(t, c.runs-1, held.Load(), "until the run has ended")
				<-time.After(time.Hour)
				facts, err := a.Session("s").Facts(t.Context())
				require.NoError(t, err)
				runs := 0
				for _, f := range facts {
					if _, ok := f.(*agent.RunStarted); ok {
						runs++
					}
				}
				require.Equal(t, []int{c.runs, c.asked, 0}, []int{runs, int(asked.Load()), int(held.Load())})
				require.NoError(t, h.Close())
			})
		})
	}
}

func TestAFunctionOfTheHostThatIsAskedOrToldEndsNoProcess(t *testing.T) {
	for name, c := range map[string]struct {
		may  func(context.Context) (func(), error)
		runs int
	}{
		"there is none":            {nil, 2},
		"it gives nothing":         {func(context.Context) (func(), error) { return nil, nil }, 2},
		"it panics":                {func(context.Context) (func(), error) { panic("no") }, 1},
		"its error panics":         {func(context.Context) (func(), error) { return nil, (*provider.Error)(nil) }, 1},
		"what it has given panics": {func(context.Context) (func(), error) { return func() { panic("no") }, nil }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, err := agent.New(agent.Config{Journal: &journal.MapStore{}, NoGuard: true,
					Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
						time.Sleep(time.Minute)
						return nil, fault.New(fault.Permanent, "it has failed")
					})})
				require.NoError(t, err)
				h := newHub(t, live.Config{Agent: a})
				run := start(t, h)
				synctest.Wait() // its model call is in progress
				sent, err := h.SendIf(t.Context(), agent.Input{Session: "s", Prompt: "more"}, c.may)
				require.NoError(t, err)
				require.True(t, sent.Steered)
				<-run.Done
				<-time.After(time.Hour)
				facts, err := a.Session("s").Facts(t.Context())
				require.NoError(t, err)
				runs := 0
				for _, f := range facts {
					if _, ok := f.(*agent.RunStarted); ok {
						runs++
					}
				}
				require.Equal(t, c.runs, runs)
				require.NoError(t, h.Close())
			})
		})
	}
}

// failsOnce returns an agent whose model takes a minute and fails at the first call, and counts its
// calls.
func failsOnce(t *testing.T) (*agent.Agent, *atomic.Int64) {
	t.Helper()
	calls := new(atomic.Int64)
	a, err := agent.New(agent.Config{Journal: &journal.MapStore{}, NoGuard: true,
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			time.Sleep(time.Minute)
			if calls.Add(1) == 1 {
				return nil, fault.New(fault.Permanent, "it has failed")
			}
			return provider.TextResponse("Done."), nil
		})})
	require.NoError(t, err)
	return a, calls
}

// A text that may start no run isn't lost: the session's next run reads it.
func TestATextThatMayStartNoRunIsReadByTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, calls := failsOnce(t)
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		synctest.Wait() // its model call is in progress
		refuse := func(context.Context) (func(), error) { return nil, errors.New("no") }
		for _, text := range []string{"more", "and more"} {
			sent, err := h.SendIf(t.Context(), agent.Input{Session: "s", Prompt: text, Key: text}, refuse)
			require.NoError(t, err)
			require.True(t, sent.Steered)
		}
		<-run.Done
		<-time.After(time.Hour)
		require.EqualValues(t, 1, calls.Load())
		<-start(t, h).Done
		<-time.After(time.Hour)
		messages, err := a.Session("s").Messages(t.Context())
		require.NoError(t, err)
		var said []string
		for _, m := range messages {
			if m.Role == provider.RoleUser {
				said = append(said, m.Text())
			}
		}
		require.Equal(t, []string{"go", "go", "more", "and more"}, said)
		require.NoError(t, h.Close())
	})
}

// What a person sends again while it waits is said once.
func TestATextThatWaitsAndIsSentAgainIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, calls := failsOnce(t)
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		synctest.Wait()
		in := agent.Input{Session: "s", Prompt: "more", Key: "k"}
		_, err := h.SendIf(t.Context(), in, func(context.Context) (func(), error) { return nil, errors.New("no") })
		require.NoError(t, err)
		<-run.Done
		<-time.After(time.Hour)
		again, err := h.Send(t.Context(), in)
		require.NoError(t, err)
		require.False(t, again.Steered)
		<-again.Done
		<-time.After(time.Hour)
		require.EqualValues(t, 2, calls.Load())
		require.NoError(t, h.Close())
	})
}

// A run that SendIf returns is asked for before it begins, so that a refusal leaves nothing behind.
func TestARunThatMayNotStartDoesntBegin(t *testing.T) {
	a, err := agent.New(agent.Config{Journal: &journal.MapStore{},
		Provider: providertest.Script(providertest.Say("Done."))})
	require.NoError(t, err)
	h := newHub(t, live.Config{Agent: a})
	no := errors.New("no")
	in := agent.Input{Session: "s", Prompt: "go", Key: "k"}
	_, err = h.SendIf(t.Context(), in, func(context.Context) (func(), error) { return nil, no })
	require.ErrorIs(t, err, no)
	_, err = a.Session("s").Info(t.Context())
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	released := make(chan struct{})
	sent, err := h.SendIf(t.Context(), in,
		func(context.Context) (func(), error) { return func() { close(released) }, nil })
	require.NoError(t, err)
	<-sent.Done
	<-released
	_, err = h.SendIf(t.Context(), in, func(context.Context) (func(), error) { return func() {}, nil })
	require.ErrorIs(t, err, agent.ErrDuplicate)
	require.NoError(t, h.Close())
}

// A text from outside is one also if it is sent to a run in progress.
func TestATextFromOutsideIsSentAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: &journal.MapStore{}},
			providertest.Slow(time.Second, providertest.Say("One.")), providertest.Say("Two."))})
		start(t, h)
		sent, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: "A mail.", Outside: []string{"a mail"}})
		require.NoError(t, err)
		require.True(t, sent.Steered)
		time.Sleep(time.Minute)
		facts, err := h.Agent().Session("s").Facts(t.Context())
		require.NoError(t, err)
		var from []string
		for _, f := range facts {
			if f, ok := f.(*machine.Steered); ok {
				from = f.Outside
			}
		}
		require.Equal(t, []string{"a mail"}, from)
	})
}
