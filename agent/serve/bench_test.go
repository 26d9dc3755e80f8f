package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider"
)

// writes is a model that writes words, one at a time, when it is told to.
func writes(words int, next func()) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			if !yield(provider.Start("writer"), nil) {
				return
			}
			for range words {
				next()
				if !yield(provider.Text("word "), nil) {
					return
				}
			}
			yield(provider.End(provider.StopDone, provider.Usage{Input: 1, Output: int64(words)}), nil)
		}
	})
}

// BenchmarkThousandReaders has 1,000 connections, ten for each of 100 runs of 100 words, on one
// server. It reports the time for each event that a reader gets, and the memory in use for each
// connection while all of them are open.
func BenchmarkThousandReaders(b *testing.B) {
	const runs, readers, words = 100, 10, 100
	for b.Loop() {
		b.StopTimer()
		gate := make(chan struct{})
		s := newSiteOf(b, agent.Config{Provider: writes(words, func() { <-gate })}, serve.Config{MaxReaders: -1})
		http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 2
		for i := range runs {
			s.must("ann", "POST", "sessions/send", obj{"session": fmt.Sprint("s-", i), "text": "x"}, nil)
		}
		before := inUse()
		var got atomic.Int64
		var wg sync.WaitGroup
		for i := range runs * readers {
			res := s.request("ann", "GET", "events?session="+fmt.Sprint("s-", i%runs), nil)
			require.Equal(b, 200, res.StatusCode)
			wg.Go(func() { got.Add(int64(len(events(b, res, ended)))) })
		}
		open := inUse()
		b.StartTimer()
		close(gate)
		wg.Wait()
		b.StopTimer()
		b.ReportMetric(float64(open-before)/(runs*readers)/1024, "KiB/conn")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(got.Load())/float64(max(b.N, 1)), "ns/event")
		b.StartTimer()
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkFirstByte compares how long it takes from the model's first text to the first byte of it
// at the client: through useChat's protocol, and through a bare io.Copy of a stream.
func BenchmarkFirstByte(b *testing.B) {
	b.Run("serve", func(b *testing.B) {
		var said atomic.Int64
		s := newSiteOf(b, agent.Config{Provider: writes(1, func() { said.Store(time.Now().UnixNano()) })},
			serve.Config{})
		var total int64
		n := 0
		for b.Loop() {
			n++
			raw, _ := json.Marshal(obj{"id": fmt.Sprint("c-", n),
				"messages": []obj{{"id": "u", "role": "user", "parts": []obj{{"type": "text", "text": "x"}}}}})
			res := s.request("ann", "POST", "chat", string(raw))
			total += until(b, res.Body, "word") - said.Load()
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		b.ReportMetric(float64(total)/float64(n)/1e6, "ms/first")
	})
	b.Run("copy", func(b *testing.B) {
		var said atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			said.Store(time.Now().UnixNano())
			_, _ = io.Copy(w, strings.NewReader("data: word \n\n"))
			_ = http.NewResponseController(w).Flush()
		}))
		defer server.Close()
		var total int64
		n := 0
		for b.Loop() {
			n++
			res, err := http.Get(server.URL)
			require.NoError(b, err)
			total += until(b, res.Body, "word") - said.Load()
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		b.ReportMetric(float64(total)/float64(n)/1e6, "ms/first")
	})
}

// until reads up to a text, and returns the time.
func until(b *testing.B, r io.Reader, text string) int64 {
	var seen strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(seen.String(), text) {
		n, err := r.Read(buf)
		seen.Write(buf[:n])
		if err != nil && !strings.Contains(seen.String(), text) {
			b.Fatalf("%q: %v", seen.String(), err)
		}
	}
	return time.Now().UnixNano()
}
