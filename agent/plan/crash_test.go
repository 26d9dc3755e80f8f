package plan

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

var kills = flag.Int("kills", 3, "how many processes TestCrashesRepeatNoNode kills, at least")

// lease is longer than a process that isn't killed is ever held up, because a process without its
// lease stops.
const lease = 2 * time.Second

// crashPlan has 12 nodes in three layers. The plan waits for approval, and so does each second call
// of the layers after the first.
func crashPlan() *Plan {
	p := &Plan{Title: "Twelve pages"}
	for i := range 12 {
		n := Node{ID: fmt.Sprint("n", i), Tool: "make", Input: map[string]any{"name": fmt.Sprint("n", i)}}
		if i >= 4 {
			n.After, n.Input["on"] = []string{fmt.Sprint("n", i-4)}, From(fmt.Sprintf("n%d.id", i-4))
		}
		if i%2 == 1 {
			n.Tool = "publish"
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p
}

// runPlan is the role of the process that is killed: it runs the plan in a directory to its end,
// approves at once what that waits for, and prints each event.
func runPlan(args []string) error {
	dir := args[0]
	store, err := sqlite.Open(filepath.Join(dir, "runs.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	defer store.Close()
	effects := filepath.Join(dir, "effects")
	effect := func(ctx context.Context, in item) (string, error) {
		f, err := os.OpenFile(effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = fmt.Fprintf(f, "%s %s\n", in.Name, tools.IdempotencyKey(ctx))
		return fmt.Sprintf(`{"id":%q}`, in.Name), errors.Join(err, f.Close())
	}
	ctx, approver := context.Background(), &pausing{Store: store}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Journal: approver, Lease: lease,
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "make", Idempotent: true}, effect),
			tools.New(tools.Spec{Name: "publish", Idempotent: true, Risk: tools.High}, effect)}})
	if err != nil {
		return err
	}
	r, err := New(Config{Agent: a, Lease: lease})
	if err != nil {
		return err
	}
	approver.paused = func(session, id string) {
		if rand.IntN(2) == 0 && session != "p-1" {
			go a.Session(session).Decide(ctx, agent.Approve(id))
			return
		}
		go r.Decide(ctx, "p-1", agent.Approve(id))
	}
	state, err := r.Start(ctx, "p-1", crashPlan())
	if err != nil {
		return err
	}
	finished := make(chan error, 1)
	go func() {
		_, err := r.Finish(ctx, "p-1") // it waits for the lease of the process that was killed
		finished <- err
	}()
	for ev, err := range r.Watch(ctx, "p-1", state.Seq) {
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case *NodeEnded:
			if ev.Error != "" {
				return fmt.Errorf("node %s failed: %s", ev.Node, ev.Error)
			}
			text, err := os.ReadFile(effects)
			if err != nil {
				return err
			}
			fmt.Println("ended", ev.Node, strings.Count(string(text), ev.Node+" "))
		case fact:
			fmt.Println(ev.kind())
		case *Paused:
			for _, p := range ev.Pending { // one process may have died before it has decided
				if err := r.Decide(ctx, "p-1", agent.Approve(p.ID)); err != nil && !isRefused(err) {
					return err
				}
			}
		}
	}
	return <-finished
}

// TestCrashesRepeatNoNode kills processes that run a plan: each node has one idempotency key, and
// none runs again after its end is recorded.
func TestCrashesRepeatNoNode(t *testing.T) {
	t.Parallel()
	killed, repeated := 0, 0
	for killed < *kills {
		dir := t.TempDir()
		ended := map[string]string{} // how many effects a node had when its end was recorded
		for done := false; !done; {
			p := roletest.Start(t, "run", dir)
			n := rand.IntN(20)
			for line := p.Line(); line != ""; line = p.Line() {
				if rest, ok := strings.CutPrefix(line, "ended "); ok {
					node, count, _ := strings.Cut(strings.TrimSpace(rest), " ")
					require.NotContains(t, ended, node, "its end is recorded once")
					ended[node] = count
				}
				if n--; n == 0 {
					<-time.After(time.Duration(rand.IntN(2000)) * time.Microsecond)
					_ = p.Process.Kill()
				}
			}
			done = p.Wait() == nil
			if !done {
				require.LessOrEqual(t, n, 0, "the process has failed")
				killed++
			}
		}
		repeated += checkEffects(t, dir, ended)
	}
	t.Logf("%d kills, after which %d calls were made again with the same key", killed, repeated)
}

// checkEffects checks what the nodes of a plan did. It returns how many of them did it more than
// once before their end was recorded.
func checkEffects(t *testing.T, dir string, ended map[string]string) (repeated int) {
	text, err := os.ReadFile(filepath.Join(dir, "effects"))
	require.NoError(t, err)
	keys, counts := map[string]string{}, map[string]int{}
	for line := range strings.Lines(string(text)) {
		node, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		require.NotEmpty(t, key)
		if keys[node] == "" {
			keys[node] = key
		}
		require.Equal(t, keys[node], key, "%s has two keys", node)
		counts[node]++
	}
	require.Len(t, counts, len(crashPlan().Nodes))
	for node, count := range ended {
		require.Equal(t, count, fmt.Sprint(counts[node]), "%s ran again after its end was recorded", node)
		if counts[node] > 1 {
			repeated++
		}
	}
	return repeated
}
