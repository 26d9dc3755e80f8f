package durable

import (
	"context"
	"errors"
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
	store, err := sqlite.Open(filepath.Join(dir, "runs.db"), sqlite.Config{})
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
	if len(args) > 1 {
		return approve(context.Background(), a, args[1])
	}
	return ask(context.Background(), a)
}

func ask(ctx context.Context, a *agent.Agent) error {
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Delete the old home page."})
	if paused := (*agent.PausedError)(nil); !errors.As(err, &paused) || !paused.Started {
		return err // nil: completed, without a question
	}
	for _, p := range res.Pending { // the run waits; the process may end here
		fmt.Printf("%s: %s wants %s because %s\n", p.ID, p.Call.Name, p.Call.Input, p.Reason)
	}
	return nil
}

// approve may be called in another process, a month later. An ID that is unknown, expired, already
// used, or from another session is an error and runs nothing.
func approve(ctx context.Context, a *agent.Agent, id string) error {
	// Or agent.Reject(id, "keep it"), agent.Edit(id, Page{ID: "p2"}), agent.Suggest(id, "archive it
	// instead"), agent.Answer(id, value), agent.AllowAlways(id)
	res, err := a.Run(ctx, agent.Resume("s-1", agent.Approve(id).By("ann")))
	if err != nil {
		return err
	}
	fmt.Println(res.Text())
	return nil
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
	id, asked, _ := strings.Cut(out, ": ")
	require.Equal(t, `cms.deletePage wants {"id":"home"} because this tool is of high risk`+"\n", asked)
	require.FileExists(t, page)
	_, err = process()
	require.Error(t, err, "a second prompt is refused while the first one waits")
	_, err = process("p-forged")
	require.Error(t, err)
	require.FileExists(t, page)
	out, err = process(id)
	require.NoError(t, err)
	require.Equal(t, "The page is gone.\n", out)
	require.NoFileExists(t, page)
	_, err = process(id)
	require.Error(t, err, "a decision is used once")
}

func TestAPausedSessionHoldsNeitherGoroutineNorMemory(t *testing.T) {
	store := &journal.MapStore{}
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
			require.ErrorAs(t, err, new(*agent.PausedError))
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
	after, many := pause("b", 500)
	require.LessOrEqual(t, many, few)
	require.Less(t, after-before, int64(400_000), "bytes for 500 sessions, of which each has a prompt of 10,000")
}
