//go:build unix

package live_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// roles are what processes do that get signals.
var roles = roletest.Roles{
	"idle": func([]string) error { return serving("idle") },
	"busy": func([]string) error { return serving("busy") },
	"hung": func([]string) error { return serving("hung") },
}

func init() { play = roles.Play }

// serving serves until it gets a signal, and prints the address, whether a run is in progress, that
// the hub is closing, and how the run has ended.
func serving(how string) (err error) {
	began, closing := make(chan struct{}), make(chan struct{})
	var a *agent.Agent
	work := tools.New(tools.Spec{Name: "work", ReadOnly: true}, func(ctx context.Context, _ Number) (string, error) {
		close(began)
		<-closing
		// The call ends when the agent is drained: the hub says before that that it is closing.
		for !draining(ctx, a) {
			runtime.Gosched()
		}
		if how == "hung" {
			select {}
		}
		return "done", nil
	})
	a, err = agent.New(agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{work},
		Provider: providertest.Script(providertest.Call("work", Number{1}), providertest.Say("x"))})
	if err != nil {
		return err
	}
	hub, err := live.New(live.Config{Agent: a, Recover: -1, Drain: time.Minute})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	if how != "idle" {
		if _, err := hub.Start(context.Background(), agent.Input{Session: "s", Prompt: "go"}); err != nil {
			return err
		}
		<-began
	}
	go func() {
		<-hub.Closing()
		fmt.Println("closing")
		close(closing)
	}()
	fmt.Println("serving")
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	})}
	if err := live.Serve(context.Background(), hub, server, listener); err != nil {
		return err
	}
	<-closing // that line comes first
	if how == "idle" {
		fmt.Println("ended")
		return nil
	}
	res, err := a.Session("s").Result(context.Background())
	if err != nil {
		return err
	}
	fmt.Println(res.Status)
	return nil
}

// draining reports whether the agent takes no new input. Its only session is busy until then.
func draining(ctx context.Context, a *agent.Agent) bool {
	_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "again"})
	return errors.Is(err, agent.ErrDraining)
}

// reachable waits for an answer of the server, which catches signals by then.
func reachable(t *testing.T, url string) {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

func TestASignalDrainsTheHubAndEndsTheServer(t *testing.T) {
	for _, tc := range []struct {
		role   string
		signal os.Signal
		end    string
	}{
		{"idle", syscall.SIGTERM, "ended"}, {"idle", os.Interrupt, "ended"}, {"busy", syscall.SIGTERM, "paused"},
	} {
		p := roletest.Start(t, tc.role)
		url := p.Line()
		require.Equal(t, "serving", p.Line())
		reachable(t, url)
		require.NoError(t, p.Process.Signal(tc.signal))
		require.Equal(t, "closing", p.Line())
		require.Equal(t, tc.end, p.End(t))
		_, err := http.Get(url)
		require.Error(t, err)
	}
}

func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	p := roletest.Start(t, "hung")
	url := p.Line()
	require.Equal(t, "serving", p.Line())
	reachable(t, url)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, "closing", p.Line())
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Empty(t, p.Line())
	var exit *exec.ExitError
	require.ErrorAs(t, p.Wait(), &exit)
	status := exit.Sys().(syscall.WaitStatus)
	require.True(t, status.Signaled())
	require.Equal(t, syscall.SIGTERM, status.Signal())
}

func TestRunEndsWithItsContext(t *testing.T) {
	h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{}, providertest.Say("x"))})
	ctx, cancel := context.WithCancel(t.Context())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error)
	started := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		for _, err := range h.Watch(r.Context(), "s", 0) { // a reader, which ends with the hub
			if err != nil {
				return
			}
		}
	})}
	go func() { ended <- live.Serve(ctx, h, server, listener) }()
	read := make(chan error)
	go func() {
		res, err := http.Get("http://" + listener.Addr().String())
		if err == nil {
			res.Body.Close()
		}
		read <- err
	}()
	<-started
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, <-read)
	http.DefaultClient.CloseIdleConnections()
	_, err = h.Start(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorIs(t, err, live.ErrClosed)
}

func TestAServerThatCannotListenClosesTheHub(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, server := range []*http.Server{nil, {Addr: taken.Addr().String()}, {Addr: "nowhere"}} {
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{}, providertest.Say("x"))})
		require.Error(t, live.Run(t.Context(), h, server))
		_, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "x"})
		require.ErrorIs(t, err, live.ErrClosed)
	}
	h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{}, providertest.Say("x"))})
	server := &http.Server{Addr: "127.0.0.1:0"}
	require.NoError(t, server.Close())
	require.NoError(t, live.Run(t.Context(), h, server), "the host has closed the server")
	err = live.Run(t.Context(), nil, &http.Server{Addr: "127.0.0.1:0"})
	var config *agent.ArgError
	require.True(t, errors.As(err, &config))
}
