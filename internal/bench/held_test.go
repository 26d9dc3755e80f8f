package bench

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/internal/bench/loop"
)

// TestAHeldRunIsSmall holds runs open in mid-stream: each costs the goroutine of its consumer and
// what it knows so far.
func TestAHeldRunIsSmall(t *testing.T) {
	if race {
		t.Skip("the race detector changes what memory is taken")
	}
	const runs, most = 10_000, 16 << 10
	a, err := agent.New(agent.Config{Provider: loop.NewModel(loop.Shape{Text: 2}, new(loop.Counts)),
		Instructions: loop.System})
	require.NoError(t, err)
	hold(t, a, 100)() // what is made once
	var perHeap, perStack int64
	for range 3 { // the least counts: stacks of goroutines that have ended may be counted, too
		heap, stack := memory()
		release := hold(t, a, runs)
		moreHeap, moreStack := memory()
		release()
		h, s := (moreHeap-heap)/runs, (moreStack-stack)/runs
		t.Logf("a held run takes %d bytes: %d of heap and %d of stack", h+s, h, s)
		if perHeap == 0 || h+s < perHeap+perStack {
			perHeap, perStack = h, s
		}
	}
	require.Positive(t, perHeap)
	require.LessOrEqual(t, perHeap+perStack, int64(most))
}

// hold begins n runs and returns when each is at its first piece of text. What it returns lets them
// end.
func hold(t *testing.T, a *agent.Agent, n int) (release func()) {
	gate := make(chan struct{})
	var begun, ended sync.WaitGroup
	begun.Add(n)
	for range n {
		ended.Go(func() {
			arrived := sync.OnceFunc(begun.Done)
			defer arrived() // also for a run that fails
			for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: loop.Prompt}) {
				if err != nil {
					t.Error(err)
				}
				if _, ok := ev.(*agent.TextDelta); ok {
					arrived()
					<-gate
				}
			}
		})
	}
	begun.Wait()
	return func() {
		close(gate)
		ended.Wait()
	}
}

// memory returns the bytes of live heap and of stacks, after a collection.
func memory() (heap, stack int64) {
	runtime.GC()
	runtime.GC() // the first may have begun before the last change
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}
