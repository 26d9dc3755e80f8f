package providertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// begun is what a step has streamed to a goroutine.
type begun struct {
	mu sync.Mutex
	progress
}

type progress struct {
	chunks []string
	err    error
	over   bool
}

// now returns how far it is when nothing more happens.
func (b *begun) now() progress {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.progress
}

func startStep(ctx context.Context, s Step) *begun {
	out := &begun{}
	set := func(change func()) {
		out.mu.Lock()
		defer out.mu.Unlock()
		change()
	}
	go func() {
		for c, err := range Script(s).Stream(ctx, &provider.Request{}) {
			set(func() {
				if out.err = err; err == nil {
					out.chunks = append(out.chunks, c.Kind.String()+c.Text)
				}
			})
		}
		set(func() { out.over = true })
	}()
	return out
}

func TestAStepWaitsForAChannel(t *testing.T) {
	for name, c := range map[string]struct {
		step          func(ready <-chan struct{}) Step
		before, after []string
		err           string
	}{
		"a text": {step: func(r <-chan struct{}) Step { return WaitFor(r, SayChunks("a", "b")) },
			after: []string{"start", "texta", "textb", "end"}},
		"a part of a reply": {step: func(r <-chan struct{}) Step {
			return Reply(SayChunks("a"), WaitFor(r, SayChunks("b")))
		}, before: []string{"start", "texta"}, after: []string{"start", "texta", "textb", "end"}},
		"the end of a reply": {step: func(r <-chan struct{}) Step { return Reply(SayChunks("a"), WaitFor(r, Empty())) },
			before: []string{"start", "texta"}, after: []string{"start", "texta", "end"}},
		"the first part of a reply": {step: func(r <-chan struct{}) Step {
			return Reply(WaitFor(r, SayChunks("a")), SayChunks("b"))
		}, after: []string{"start", "texta", "textb", "end"}},
		"nothing": {step: func(r <-chan struct{}) Step { return WaitFor(r, Empty()) }, after: []string{"start", "end"}},
		"a failure": {step: func(r <-chan struct{}) Step { return WaitFor(r, Fail(fault.Degraded)) },
			err: "scripted failure"},
		"a failure within a reply": {step: func(r <-chan struct{}) Step {
			return Reply(SayChunks("a"), WaitFor(r, Fail(fault.Degraded)))
		}, before: []string{"start", "texta"}, after: []string{"start", "texta"}, err: "scripted failure"},
		"a whole stream": {step: func(r <-chan struct{}) Step {
			return WaitFor(r, Chunks(provider.Start("m"), provider.End(provider.StopDone, provider.Usage{})))
		}, after: []string{"start", "end"}},
		"what is slow after it": {step: func(r <-chan struct{}) Step {
			return Reply(SayChunks("a"), Slow(time.Second, WaitFor(r, SayChunks("b"))))
		}, before: []string{"start", "texta"}, after: []string{"start", "texta", "textb", "end"}},
		"what is cut before it": {step: func(r <-chan struct{}) Step {
			return Cut(2, Reply(SayChunks("a", "b"), WaitFor(r, SayChunks("c"))))
		}, before: []string{"start", "texta"}, after: []string{"start", "texta"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, closes := range []bool{true, false} {
					ready := make(chan struct{}, 1)
					out := startStep(t.Context(), c.step(ready))
					time.Sleep(time.Hour)
					require.Equal(t, c.before, out.now().chunks)
					if closes {
						close(ready)
					} else {
						ready <- struct{}{}
					}
					time.Sleep(time.Hour)
					require.True(t, out.now().over)
					require.Equal(t, c.after, out.now().chunks)
					if c.err == "" {
						require.NoError(t, out.now().err)
					} else {
						require.ErrorContains(t, out.now().err, c.err)
					}
				}
				gone := errors.New("gone")
				ctx, cancel := context.WithCancelCause(t.Context())
				out := startStep(ctx, c.step(nil))
				time.Sleep(time.Hour)
				cancel(gone)
				require.True(t, out.now().over)
				require.Equal(t, c.before, out.now().chunks)
				if name != "what is cut before it" {
					require.Equal(t, gone, out.now().err)
				}
			})
		})
	}
}

func TestAStepThatWaitsIsSlowAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ready, began := make(chan struct{}), time.Now()
		out := startStep(t.Context(), Slow(time.Second, WaitFor(ready, SayChunks("a"))))
		time.Sleep(time.Minute)
		close(ready)
		time.Sleep(2900 * time.Millisecond)
		require.Equal(t, []string{"start", "texta"}, out.now().chunks, "a second before each chunk")
		time.Sleep(200 * time.Millisecond)
		require.True(t, out.now().over)
		require.Equal(t, time.Minute+3100*time.Millisecond, time.Since(began))
	})
}
