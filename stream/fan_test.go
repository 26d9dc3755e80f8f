package stream_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

func fixed(seq stream.Seq) stream.Call { return func(context.Context) stream.Seq { return seq } }

func TestEveryReaderSeesEveryChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, last := range []error{nil, errDown} {
			want := []provider.Chunk{start, provider.Cite(provider.Source{ID: "1"})}
			for i := range 300 {
				want = append(want, provider.ToolDelta(i, "x"))
			}
			f := stream.NewFan(t.Context(), stream.FanConfig{Ahead: 10}, func(ctx context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					if sleep(ctx, s, yield) { // until all have begun
						of(last, want...)(yield)
					}
				}
			})
			var wg sync.WaitGroup
			for i := range 4 {
				pace := time.Duration(i) * s
				seq := f.Reader()
				wg.Go(func() {
					var got []provider.Chunk
					var err error
					for c, e := range seq {
						if err = e; e == nil {
							got = append(got, c)
						}
						if pace > 0 {
							<-time.After(pace)
						}
					}
					require.Equal(t, last, err)
					require.Equal(t, want, got)
					require.Same(t, want[1].Extra, got[1].Extra, "shared, not copied")
				})
			}
			wg.Wait()
		}
	})
}

func TestASlowReaderDelaysOthersOnlyAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m stream.Metrics
		f := stream.NewFan(t.Context(), stream.FanConfig{Ahead: 10, Metrics: &m}, fixed(words(100)))
		fast := 0
		wait := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for range f.Reader() {
				<-wait
			}
		})
		synctest.Wait() // it holds its first chunk
		wg.Go(func() {
			for range f.Reader() {
				fast++
			}
		})
		synctest.Wait()
		require.Equal(t, 11, fast)
		require.Positive(t, m.Figures().BackPressure)
		close(wait)
		wg.Wait()
		require.Equal(t, 102, fast)
	})
}

func TestASlowReaderIsCutWithCutSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := stream.NewFan(t.Context(), stream.FanConfig{Ahead: 10, CutSlow: true}, fixed(words(100)))
		wait := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			n := 0
			for _, err := range f.Reader() {
				if err != nil {
					var lag *stream.LagError
					require.ErrorAs(t, err, &lag)
					require.Equal(t, stream.LagError{Missed: 102 - 20 - 1}, *lag)
					require.Equal(t, fault.Permanent, fault.Of(err))
					n++
				}
				<-wait
			}
			require.Equal(t, 1, n)
		})
		synctest.Wait()
		for fast := range 2 { // the second begins too late to get the first chunks
			n := 0
			var failed error
			for _, err := range f.Reader() {
				n++
				failed = err
			}
			require.Equal(t, []int{102, 1}[fast], n)
			require.Equal(t, fast == 1, failed != nil)
		}
		close(wait)
		wg.Wait()
	})
}

func TestALateReaderSeesTheBeginningWhileItIsKept(t *testing.T) {
	f := stream.NewFan(t.Context(), stream.FanConfig{}, fixed(words(100)))
	for range 2 { // the second after the call is over
		got, err := read(f.Reader())
		require.NoError(t, err)
		require.Len(t, got, 102)
	}
	f = stream.NewFan(t.Context(), stream.FanConfig{Ahead: 10}, fixed(words(100)))
	_, err := read(f.Reader())
	require.NoError(t, err)
	_, err = read(f.Reader())
	var lag *stream.LagError
	require.ErrorAs(t, err, &lag)
	require.Equal(t, 82, lag.Missed)
}

func TestAReaderThatStopsOrNeverBeginsDelaysNoOther(t *testing.T) {
	for _, cut := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := stream.NewFan(t.Context(), stream.FanConfig{Ahead: 3, CutSlow: cut}, fixed(words(100)))
			f.Reader() // never begins
			var wg sync.WaitGroup
			wg.Go(func() {
				for range f.Reader() {
					<-time.After(s)
					break
				}
			})
			wg.Go(func() {
				defer func() { require.Equal(t, "mine", recover()) }()
				for range f.Reader() {
					<-time.After(s)
					panic("mine")
				}
			})
			synctest.Wait()
			got, err := read(f.Reader())
			require.NoError(t, err)
			require.Len(t, got, 102)
			wg.Wait()
		})
	}
}

func TestTheCallIsStoppedWhenItsReadersHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, call := range map[string]stream.Call{
			"in a chunk": fixed(words(1_000_000)),
			"in between": slow(start, provider.Text("x"), time.Hour, end),
		} {
			ended := false
			f := stream.NewFan(t.Context(), stream.FanConfig{Ahead: 5}, func(ctx context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					defer func() { ended = true }()
					call(ctx)(yield)
				}
			})
			began := time.Now()
			for range 3 {
				n := 0
				for range f.Reader() {
					if n++; n == 2 {
						break
					}
				}
				require.True(t, ended, "the last one out waits for it")
			}
			require.Zero(t, time.Since(began))
			_, err := read(f.Reader())
			require.Error(t, err)
			if name == "in between" {
				require.Equal(t, stream.ErrNoReaders, err)
				require.Equal(t, fault.None, fault.Of(err))
			}
		}
	})
}

func TestAFanWithoutReadersStartsNothing(t *testing.T) {
	stream.NewFan(t.Context(), stream.FanConfig{}, func(context.Context) stream.Seq {
		t.Error("the call was made")
		return nil
	}).Reader()
}

func TestTheFansContextEndsTheCallForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := stream.NewFan(ctx, stream.FanConfig{}, slow(start, time.Hour, end))
		time.AfterFunc(s, cancel)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				got, err := read(f.Reader())
				require.ErrorIs(t, err, context.Canceled)
				require.Len(t, got, 1)
			})
		}
		wg.Wait()
	})
}
