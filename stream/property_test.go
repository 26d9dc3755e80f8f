package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// answer returns a random valid answer, and its failure: none, an error, a cut, a violation.
func answer(r *rand.Rand) (chunks []provider.Chunk, failure error) {
	for range r.IntN(3) {
		chunks = append(chunks, provider.Waiting(provider.Wait{}))
	}
	chunks = append(chunks, start)
	var open []int
	for i := range r.IntN(30) {
		switch r.IntN(7) {
		case 0:
			open = append(open, i)
			chunks = append(chunks, provider.ToolStart(i, "", "f"))
		case 1:
			if len(open) > 0 {
				chunks = append(chunks, provider.ToolDelta(open[r.IntN(len(open))], "{}"))
			}
		case 2:
			if len(open) > 0 {
				chunks = append(chunks, provider.ToolEnd(open[0]))
				open = open[1:]
			}
		case 3:
			if r.IntN(6) == 0 {
				chunks, open = append(chunks, provider.Reset("again"), start), nil
			}
		case 4:
			chunks = append(chunks, provider.Reasoning("hm"))
		default:
			chunks = append(chunks, provider.Text("word "))
		}
	}
	for _, i := range open {
		chunks = append(chunks, provider.ToolEnd(i))
	}
	switch r.IntN(5) {
	case 0:
		return chunks, errDown
	case 1:
		return chunks, nil
	case 2:
		return append(chunks, start, end), nil
	}
	return append(chunks, end), nil
}

// wrap wraps a call in a random stack of wrappers.
func wrap(ctx context.Context, r *rand.Rand, call call) (seq stream.Seq, stack string) {
	seq = nil
	for range 1 + r.IntN(5) {
		inner := seq
		if inner != nil {
			call = func(context.Context) stream.Seq { return inner }
		}
		switch r.IntN(2) {
		case 0:
			seq, stack = stream.Once(call(ctx)), stack+" once"
		default:
			seq, stack = stream.Check(call(ctx)), stack+" check"
		}
	}
	return stream.Check(seq), stack + " check"
}

type ways int

const (
	readAll ways = iota
	breakOff
	panicOut
	cancelIt
	numWays
)

// FuzzAnyStackKeepsTheGrammarAndLeavesNothing checks random stacks with a consumer that stops,
// panics or cancels at any chunk: the chunks must be those of the producer and valid, with at most
// one error, at the end, and when the loop is over, the producer has returned. A goroutine that
// remained would deadlock the bubble.
func FuzzAnyStackKeepsTheGrammarAndLeavesNothing(f *testing.F) {
	for seed := range uint64(150) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		chunks, failure := answer(r)
		stackSeed := r.Uint64()
		for way := range numWays {
			for at := range len(chunks) {
				synctest.Test(t, func(t *testing.T) {
					try(t, chunks, failure, stackSeed, way, at)
				})
				if way == readAll {
					break
				}
			}
		}
	})
}

func try(t *testing.T, chunks []provider.Chunk, failure error, stackSeed uint64, way ways, at int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	running := 0
	var mu sync.Mutex
	count := func(n int) {
		mu.Lock()
		running += n
		mu.Unlock()
	}
	call := func(ctx context.Context) stream.Seq {
		return func(yield func(provider.Chunk, error) bool) {
			count(1)
			defer count(-1)
			for _, c := range chunks {
				if ctx.Err() != nil {
					yield(provider.Chunk{}, ctx.Err())
					return
				}
				if !yield(c, nil) {
					return
				}
			}
			if failure != nil {
				yield(provider.Chunk{}, failure)
			}
		}
	}
	seq, stack := wrap(ctx, rand.New(rand.NewPCG(stackSeed, 2)), call)
	what := fmt.Sprintf("%s, way %d at %d", stack, way, at)
	var (
		got     provider.Collector
		n       int
		failed  error
		escaped any
	)
	func() {
		defer func() { escaped = recover() }()
		for c, err := range seq {
			require.NoError(t, failed, what)
			if failed = err; err != nil {
				continue
			}
			require.Equal(t, chunks[n], c, what)
			require.NoError(t, got.Add(c), what)
			if n++; n != at+1 {
				continue
			}
			switch way {
			case breakOff:
				return
			case panicOut:
				panic("mine")
			case cancelIt:
				cancel()
			}
		}
	}()
	require.Zero(t, running, what)
	if escaped != nil {
		require.Equal(t, "mine", escaped, what)
		return
	}
	if way == breakOff && n == at+1 {
		return
	}
	require.Equal(t, got.Complete(), failed == nil, "%s: %v", what, failed)
	if way == readAll && failure != nil {
		require.Equal(t, failure, failed, what)
	}
	if failed != nil && way != cancelIt {
		var grammar *provider.GrammarError
		require.True(t, failed == failure || errors.Is(failed, provider.ErrIncomplete) || errors.As(failed, &grammar),
			"%s: %v", what, failed)
	}
}
