package stream_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

func TestABufferPassesOnAllChunksInOrder(t *testing.T) {
	want := []provider.Chunk{start}
	for i := range 500 {
		want = append(want, provider.ToolDelta(i, "x"))
	}
	for _, n := range []int{0, 1, 7, 1000} {
		got, err := read(stream.Buffer(t.Context(), n, fixed(of(errDown, want...))))
		require.Equal(t, errDown, err)
		require.Equal(t, want, got)
	}
	got, err := read(stream.Buffer(t.Context(), 0, nil))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestABufferLetsTheProducerRunAheadUpToItsSize(t *testing.T) {
	for size, ahead := range map[int]int{0: 100, 5: 5} {
		synctest.Test(t, func(t *testing.T) {
			made := 0
			seq := stream.Buffer(t.Context(), size, func(context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					for made < 1000 && yield(start, nil) {
						made++
					}
				}
			})
			for range seq {
				synctest.Wait() // until the producer waits
				require.Equal(t, ahead+1, made)
				break
			}
		})
	}
}

func TestStoppingABufferEndsTheProducerFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, leave := range []func(){nil, func() { panic("mine") }} {
			ended := false
			call := func(ctx context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					defer func() { ended = true }()
					if yield(start, nil) && sleep(ctx, time.Hour, yield) {
						yield(end, nil)
					}
				}
			}
			began := time.Now()
			func() {
				defer func() { _ = recover() }()
				for range stream.Buffer(t.Context(), 0, call) {
					if leave != nil {
						leave()
					}
					break
				}
			}()
			require.True(t, ended)
			require.Zero(t, time.Since(began), "it was interrupted")
		}
	})
}

func TestCancellationLosesNoYieldedChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, last := range []error{nil, errDown} {
			ctx, cancel := context.WithCancel(t.Context())
			seq := stream.Buffer(ctx, 2, func(ctx context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					of(nil, start, provider.Text("a"), provider.Text("b"))(yield)
					<-ctx.Done()
					<-time.After(s)
					if last != nil {
						yield(provider.Chunk{}, last)
						return
					}
					yield(end, nil)
				}
			})
			var kinds []provider.ChunkKind
			var err error
			for c, e := range seq {
				if len(kinds) == 1 {
					cancel()
					synctest.Wait()
				}
				if err = e; e == nil {
					kinds = append(kinds, c.Kind)
				}
			}
			require.Equal(t, last, err)
			require.Equal(t, []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindText}, kinds[:3])
			require.Equal(t, last == nil, len(kinds) == 4)
			cancel()
		}
	})
}

func TestAPanicInABufferIsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		do    func()
		value any
	}{
		"panic":  {func() { panic(errDown) }, errDown},
		"goexit": {runtime.Goexit, "runtime.Goexit was called"},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					yield(start, nil)
					tc.do()
				}
			}
			got, err := read(stream.Buffer(t.Context(), 0, call))
			var p *stream.PanicError
			require.ErrorAs(t, err, &p)
			require.Equal(t, tc.value, p.Value)
			require.Len(t, got, 1)
			require.Equal(t, fault.Permanent, fault.Of(err))
			require.NotContains(t, err.Error(), ".go:")
			require.Equal(t, name == "panic", errors.Is(err, errDown))
		})
	}
}
