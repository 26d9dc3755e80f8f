package stream_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	start   = provider.Start("fake-1")
	end     = provider.End(provider.StopDone, provider.Usage{Input: 3, Output: 100})
	errDown = errors.New("down")
)

// of yields the chunks, then err if it isn't nil.
func of(err error, chunks ...provider.Chunk) stream.Seq {
	return func(yield func(provider.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(provider.Chunk{}, err)
		}
	}
}

// words returns an answer of n pieces of text.
func words(n int) stream.Seq {
	return func(yield func(provider.Chunk, error) bool) {
		text := provider.Text("word ")
		if !yield(start, nil) {
			return
		}
		for range n {
			if !yield(text, nil) {
				return
			}
		}
		yield(end, nil)
	}
}

// fixed returns a call whose answer is seq.
func fixed(seq stream.Seq) call { return func(context.Context) stream.Seq { return seq } }

// deaf continues after it was told to stop, and counts how often.
func deaf(told *int, chunks ...provider.Chunk) stream.Seq {
	return func(yield func(provider.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				*told++
			}
		}
	}
}

// sleep waits for d like a provider that respects its context; it returns false after it has
// yielded the cancellation.
func sleep(ctx context.Context, d time.Duration, yield func(provider.Chunk, error) bool) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		yield(provider.Chunk{}, ctx.Err())
		return false
	}
}

// read returns the chunks and the error of seq. Several errors, or a chunk after one, are an error
// of read.
func read(seq stream.Seq) (chunks []provider.Chunk, err error) {
	for c, e := range seq {
		switch {
		case err != nil:
			err = fmt.Errorf("%v was followed by %v, %v", err, c, e)
		case e != nil:
			err = e
		default:
			chunks = append(chunks, c)
		}
	}
	return chunks, err
}

func TestCollectReturnsThePartialAnswerWithAnError(t *testing.T) {
	res, err := stream.Collect(of(errDown, start, provider.Text("half"),
		provider.ToolStart(7, "b", "second"), provider.ToolStart(2, "a", "first")))
	require.Equal(t, errDown, err)
	require.Equal(t, "half", res.Text())
	require.False(t, res.Complete)
	require.Len(t, res.Calls(), 2)
	require.Equal(t, "second", res.Calls()[0].Name, "in first-seen order")

	res, err = stream.Collect(nil)
	require.ErrorIs(t, err, provider.ErrIncomplete)
	require.NotNil(t, res)
}

func TestCheckPassesOnAValidAnswer(t *testing.T) {
	want := []provider.Chunk{provider.Waiting(provider.Wait{}), start, provider.Text("x"), provider.Reset("again"),
		start,
		provider.ToolStart(0, "", "f"), provider.ToolDelta(0, "{}"), provider.ToolEnd(0), end}
	got, err := read(stream.Check(of(nil, want...)))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestCheckReplacesAViolationByAnError(t *testing.T) {
	told := 0
	got, err := read(stream.Check(deaf(&told, start, provider.Text("x"), start, provider.Text("y"), end)))
	var bad *provider.GrammarError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, provider.KindStart, bad.Kind)
	require.Len(t, got, 2)
	require.Equal(t, 3, told, "and the producer is told to stop")

	_, err = read(stream.Check(of(nil, start, end, provider.Text("late"))))
	require.ErrorAs(t, err, &bad)
}

func TestCheckReportsAMissingEnd(t *testing.T) {
	for _, seq := range []stream.Seq{nil, of(nil), of(nil, start),
		of(nil, start, provider.Text("x"), provider.Reset(""))} {
		_, err := read(stream.Check(seq))
		require.Equal(t, provider.ErrIncomplete, err)
	}
	got, err := read(stream.Check(of(errDown, start)))
	require.Equal(t, errDown, err, "nothing follows an error")
	require.Len(t, got, 1)
}

func TestOnceRejectsASecondRange(t *testing.T) {
	ranges := 0
	seq := stream.Once(func(yield func(provider.Chunk, error) bool) { ranges++; words(1)(yield) })
	for range seq {
		_, err := read(seq) // while the first continues
		require.ErrorIs(t, err, provider.ErrConsumed)
		break
	}
	_, err := read(seq)
	require.ErrorIs(t, err, provider.ErrConsumed)
	require.Equal(t, 1, ranges)
	got, err := read(stream.Once(nil))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestOnceLetsOneOfManyThrough(t *testing.T) {
	seq := stream.Once(words(1))
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		good int
	)
	for range 8 {
		wg.Go(func() {
			if _, err := read(seq); err == nil {
				mu.Lock()
				good++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, good)
}
