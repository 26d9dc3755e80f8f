package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Page is what the agent of the program deletes.
type Page struct {
	ID string `json:"id"`
}

func build(dir string, p provider.Provider, remove func(context.Context, Page) (string, error)) (*agent.Agent, error) {
	store, err := sqlite.Open(filepath.Join(dir, "runs.db"))
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Name:     "cms",
		Provider: p,
		Journal:  store,
		Tools: []tools.Tool{tools.Func[Page, string]{
			Spec: tools.Spec{Name: "cms.deletePage", Description: "Deletes a page for good.", Risk: tools.High},
			Run:  remove,
			Verify: func(_ context.Context, in Page, _ string) error {
				if _, err := os.Stat(filepath.Join(dir, in.ID)); err == nil {
					return fmt.Errorf("page %s is still there", in.ID)
				}
				return nil
			},
		}},
	})
}

// program is another process: it asks, or approves of the pause that is named, and prints what came
// of it.
func program(args []string) error {
	dir := args[0]
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		if len(req.Messages) == 1 {
			return providertest.Call("cms.deletePage", Page{ID: "home"}).Response(), nil
		}
		return providertest.Say("The page is gone.").Response(), nil
	})
	a, err := build(dir, model, func(_ context.Context, in Page) (string, error) {
		return "deleted", os.Remove(filepath.Join(dir, in.ID))
	})
	if err != nil {
		return err
	}
	in := agent.Input{Session: "s-1", Prompt: "Delete the old home page."}
	if len(args) > 1 {
		in = agent.Resume("s-1", agent.Approve(args[1]).By("ann"))
	}
	res, err := a.Run(context.Background(), in)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(struct {
		Text    string
		Pending []agent.Pause
	}{res.Text(), res.Pending})
}

func TestOneProcessAsksAndAnotherDecides(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "home")
	require.NoError(t, os.WriteFile(page, []byte("old"), 0o600))
	process := func(decided ...string) (string, error) {
		out, err := roletest.Command(t.Context(), "program", append([]string{dir}, decided...)...).Output()
		return string(out), err
	}
	out, err := process()
	require.NoError(t, err)
	var got struct{ Pending []agent.Pause }
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Pending, 1)
	require.FileExists(t, page)
	_, err = process("p-forged")
	require.Error(t, err)
	require.FileExists(t, page)
	out, err = process(got.Pending[0].ID)
	require.NoError(t, err)
	require.True(t, strings.Contains(out, "The page is gone."), out)
	require.NoFileExists(t, page)
	_, err = process(got.Pending[0].ID)
	require.Error(t, err, "a decision is used once")
}

func TestAPausedSessionHoldsNeitherGoroutineNorMemory(t *testing.T) {
	store := journal.NewMemory()
	a, err := agent.New(agent.Config{
		Journal: store,
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Call("ask", Order{1}).Response(), nil
		}),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "ask", Risk: tools.High},
			func(context.Context, Order) (string, error) { return "", nil })},
	})
	require.NoError(t, err)
	pause := func(kind string, n int) (heap int64, goroutines int) {
		for i := range n {
			name := fmt.Sprint(kind, i)
			res, err := a.Run(t.Context(), agent.Input{Session: name, Prompt: strings.Repeat("x", 10_000)})
			require.NoError(t, err)
			require.Equal(t, agent.Paused, res.Status)
			require.NoError(t, store.Delete(t.Context(), name, journal.All)) // what the store holds isn't the question
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc), runtime.NumGoroutine()
	}
	before, few := pause("a", 100)
	after, many := pause("b", 2000)
	require.LessOrEqual(t, many, few)
	require.Less(t, after-before, int64(400_000), "bytes for 2,000 sessions, of which each has a prompt of 10,000")
}
