package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func TestTheModelsOfThisPackageConformStrictly(t *testing.T) {
	rich := Reply(Think("Oslo, then."), Say("Ich höre. 聞いています。"), Source(provider.Source{URL: "https://example.com"}),
		ProviderRan(provider.ToolCall{ID: "1", Name: "search", Input: json.RawMessage(`{"q":"<b>"}`)},
			provider.ToolResult{CallID: "1", Name: "search"}),
		Unfit(Interleaved(CallSpec{"weather", map[string]string{"city": "<Oslo>"}},
			CallSpec{"cms.createPage", `{"cut`})),
		File(provider.Media{Type: "image/png", Data: []byte{1, 2}}))
	for name, fresh := range map[string]func() provider.Provider{
		"script":     func() provider.Provider { return Script(rich, Say("two")) },
		"same twice": func() provider.Provider { return Script(rich, rich) },
		"empty":      func() provider.Provider { return Script(Empty(), Refuse("No.")) },
		"failing": func() provider.Provider {
			return Script(Fail(fault.Degraded), FailAfter(2, rich, fault.Transient))
		},
		"slow": func() provider.Provider {
			return Script(Slow(time.Microsecond, rich), Slow(time.Microsecond, Say("b")))
		},
		"function": func() provider.Provider {
			return Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				return Say(req.LastUserText()).Response(), nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			Conformance(t, fresh, Strict(), WithHanging(
				func() provider.Provider { return Script(Hang()) },
				func() provider.Provider { return Script(HangAfter(3, rich)) },
				func() provider.Provider { return Script(Slow(time.Hour, rich)) }))
		})
	}
}

func TestModelsDeclareThatTheyEndWithTheirContextUnlessAFunctionOfTheUserMayBlock(t *testing.T) {
	own := Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		return Say("x").Response(), nil
	})
	require.False(t, provider.EndsWithContext(own))
	for _, p := range []provider.Provider{Script(), Draw()} {
		require.True(t, provider.EndsWithContext(p), "%T", p)
	}
}

func TestAProviderWhoseCallsWaitForEachOtherConforms(t *testing.T) {
	Conformance(t, serial(func() provider.Provider { return Script(Say("ok"), Say("ok")) }))
}

// endsWithContext is a provider that declares that its calls end with their context.
type endsWithContext struct{ provider.Provider }

func (endsWithContext) EndsWithContext() bool { return true }

// serial makes a provider's calls wait for each other, which is slow and not wrong.
func serial(fresh func() provider.Provider) func() provider.Provider {
	return func() provider.Provider {
		p, turn := fresh(), make(chan struct{}, 1)
		return provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				turn <- struct{}{}
				defer func() { <-turn }()
				p.Stream(ctx, req)(yield)
			}
		})
	}
}

// streamed makes a provider of a function that yields.
func streamed(f func(ctx context.Context, req *provider.Request,
	yield func(provider.Chunk, error) bool)) func() provider.Provider {
	return func() provider.Provider {
		return provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) { f(ctx, req, yield) }
		})
	}
}

// chunks makes a provider that yields these, whatever happens.
func chunks(list ...provider.Chunk) func() provider.Provider {
	return streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	})
}

func TestEachCheckFindsItsDefect(t *testing.T) {
	release := make(chan struct{}) // ends what the broken ones leave behind
	ended := make(chan struct{}, 100)
	left := 0
	t.Cleanup(func() {
		close(release)
		for range left {
			<-ended
		}
	})
	start, end := provider.Start("m"), provider.End(provider.StopDone, provider.Usage{})
	boom := errors.New("boom")
	shared := func() provider.Provider {
		var text atomic.Value // of whoever asked last
		return streamed(func(_ context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) {
			text.Store(req.LastUserText())
			_ = yield(start, nil) && yield(provider.Text(text.Load().(string)), nil) && yield(end, nil)
		})()
	}
	usage := func(u provider.Usage) func() provider.Provider {
		return chunks(start, provider.End(provider.StopDone, u))
	}
	for _, c := range []struct {
		defect string
		fresh  func() provider.Provider
		check  string
		says   string
	}{
		{"no Start", chunks(provider.Text("x"), end), "the grammar holds", "Start comes first"},
		{"no End", chunks(start, provider.Text("x")), "the grammar holds", "without End"},
		{"nothing at all", chunks(), "the grammar holds", "without End"},
		{"no stop reason", chunks(start, provider.Chunk{Kind: provider.KindEnd, Extra: &provider.Extra{}}),
			"the grammar holds", "stop reason"},
		{"a call left open", chunks(start, provider.ToolStart(0, "", "t"), end), "the grammar holds", "open"},
		{"a chunk after End", chunks(start, end, provider.Text("x")), "the grammar holds", "has ended"},
		{"an error after End",
			streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				_ = yield(start, nil) && yield(end, nil) && yield(provider.Chunk{}, boom)
			}), "the grammar holds", "after End"},
		{"a nil sequence", func() provider.Provider {
			return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
				return nil
			})
		}, "the grammar holds", "nil sequence"},
		{"no provider", func() provider.Provider { return nil }, "the grammar holds", "nil"},
		{"a panic", streamed(func(context.Context, *provider.Request, func(provider.Chunk, error) bool) {
			panic("ouch")
		}), "the grammar holds", "ouch"},
		{"a hang", streamed(func(context.Context, *provider.Request, func(provider.Chunk, error) bool) {
			<-release
			ended <- struct{}{}
		}), "the grammar holds", "didn't end"},
		{"a rune in two chunks", chunks(start, provider.Text("\xc3"), provider.Text("\xa9"), end),
			"text is valid UTF-8", "chunk 1"},
		{"negative usage", usage(provider.Usage{Output: -1}), "usage is plausible", "negative"},
		{"cached tokens not counted", usage(provider.Usage{Input: 1, CacheRead: 2}), "usage is plausible", "cached"},
		{"cached tokens counted twice", usage(provider.Usage{Input: 3, CacheRead: 2, CacheWrite: 2}),
			"usage is plausible", "cached"},
		{"reasoning not counted", usage(provider.Usage{Output: 1, Reasoning: 2}), "usage is plausible", "reasoning"},
		{"a chunk after an error",
			streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				_ = yield(start, nil) && yield(provider.Chunk{}, boom) && yield(end, nil)
			}), "an error comes alone and last", "after the error"},
		{"a chunk with an error",
			streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				yield(start, boom)
			}), "an error comes alone and last", "together"},
		{"a chunk after the error of a canceled call",
			streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				if ctx.Err() != nil {
					_ = yield(provider.Chunk{}, ctx.Err()) && yield(start, nil)
					return
				}
				_ = yield(start, nil) && yield(end, nil)
			}), "an error comes alone and last", "after the error"},
		{"a changed field",
			streamed(func(_ context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) {
				req.Model = "mine"
				_ = yield(start, nil) && yield(end, nil)
			}), "the request is not changed", "was changed"},
		{"a changed tool",
			streamed(func(_ context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) {
				req.Tools[0].Schema[0] = ' '
				_ = yield(start, nil) && yield(end, nil)
			}), "the request is not changed", "JSON"},
		{"a message in the spare room",
			streamed(func(_ context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) {
				_ = append(req.Messages, provider.User("mine"))
				_ = yield(start, nil) && yield(end, nil)
			}), "the request is not changed", "behind"},
		{"raw usage that is no text", chunks(start, provider.End(provider.StopDone, provider.Usage{Raw: "\xff"})),
			"the answer survives JSON", "another one"},
		{"a goroutine", streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
			go func() {
				<-release
				ended <- struct{}{}
			}()
			_ = yield(start, nil) && yield(end, nil)
		}), "leaving at any chunk leaves nothing behind", "TestEachCheckFindsItsDefect"},
		{"going on after the loop was left", chunksDeaf(start, provider.Text("x"), end),
			"leaving at any chunk leaves nothing behind", "panicked"},
		{"another class for a canceled call",
			streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				yield(provider.Chunk{}, errors.New("connection closed"))
			}), "a call of a canceled context ends", "class none"},
		{"deaf to a canceled context",
			streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				<-release
				ended <- struct{}{}
			}), "a call of a canceled context ends", "didn't end"},
		{"deaf to canceling",
			streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				yield(start, nil)
				<-release
				ended <- struct{}{}
			}), "canceling in mid-stream ends the answer", "didn't end"},
		{"cut when canceled",
			streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
				_ = yield(start, nil) && ctx.Err() == nil && yield(end, nil)
			}), "canceling in mid-stream ends the answer", "without End"},
		{"a declaration that isn't true", func() provider.Provider {
			return endsWithContext{
				streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
					switch {
					case !yield(start, nil):
					case ctx.Err() != nil:
						yield(provider.Chunk{}, ctx.Err())
					case !yield(provider.Text("x"), nil):
					case ctx.Err() != nil:
						<-release
						ended <- struct{}{}
					default:
						yield(end, nil)
					}
				})()}
		}, "a call that declares it ends with its context", "after 2 chunks"},
		{"shared state", shared, "two calls at once do not mix", "other answers"},
		{"used twice", chunks(start, end), "a sequence is ranged over once", "ErrConsumed"},
		{"an answer to nothing", chunks(start, end), "a nil request is an error", "nil request"},
	} {
		t.Run(c.defect, func(t *testing.T) {
			s := newSuite(c.fresh, nil)
			s.timeout, s.settle = 200*time.Millisecond, 20*time.Millisecond
			r := &recorder{}
			for _, one := range checks {
				if one.name == c.check {
					one.run(s, r)
				}
			}
			require.Contains(t, r.String(), c.says)
			if strings.Contains(r.String(), "didn't end") || c.defect == "a goroutine" {
				left++
			}
			if c.defect == "a goroutine" {
				left++ // the one of the whole answer, too
			}
		})
	}
}

func TestACallThatDoesNotEndWhenItsServerHangsIsFound(t *testing.T) {
	release, ended := make(chan struct{}), make(chan struct{})
	start, end := provider.Start("m"), provider.End(provider.StopDone, provider.Usage{})
	for says, fresh := range map[string]func() provider.Provider{
		"didn't end": streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
			defer close(ended)
			yield(start, nil)
			<-release
		}),
		"without an error": chunks(start, end),
		"not of class none": streamed(func(ctx context.Context, _ *provider.Request,
			yield func(provider.Chunk, error) bool) {
			<-ctx.Done()
			yield(provider.Chunk{}, errors.New("connection closed"))
		}),
	} {
		s, r := newSuite(chunks(start, end), []Option{WithHanging(fresh)}), &recorder{}
		s.timeout = 200 * time.Millisecond
		s.hangs(r)
		require.Contains(t, r.String(), says)
	}
	close(release)
	<-ended
}

// chunksDeaf goes on when yield says stop.
func chunksDeaf(list ...provider.Chunk) func() provider.Provider {
	return streamed(func(_ context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
		for _, c := range list {
			yield(c, nil)
		}
	})
}

func TestStrictChecksFindALazyProvider(t *testing.T) {
	start, end := provider.Start("m"), provider.End(provider.StopDone, provider.Usage{})
	s := newSuite(chunks(start, provider.Text("x"), end), []Option{Strict()})
	before, amid := &recorder{}, &recorder{}
	s.canceledBefore(before)
	s.canceledAmid(amid)
	require.Contains(t, before.String(), "3 chunks came")
	require.Contains(t, before.String(), "went on to its end")
	require.Contains(t, amid.String(), "2 chunks came after")
}

func TestAnIdleConnectionIsNoLeakAndAHeldOneIs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
	}))
	defer server.Close()
	for _, closes := range []bool{true, false} {
		var bodies []io.Closer
		client := &http.Client{Transport: &http.Transport{}}
		s := newSuite(streamed(func(ctx context.Context, _ *provider.Request, yield func(provider.Chunk, error) bool) {
			res, err := client.Get(server.URL)
			if err != nil {
				yield(provider.Chunk{}, err)
				return
			}
			if closes {
				defer res.Body.Close()
				defer io.Copy(io.Discard, res.Body)
			}
			bodies = append(bodies, res.Body)
			_ = yield(provider.Start("m"), nil) && yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		}), nil)
		s.settle = 300 * time.Millisecond
		r := &recorder{}
		s.leave(r)
		require.Equal(t, closes, r.String() == "", r.String())
		for _, b := range bodies {
			b.Close()
		}
		client.CloseIdleConnections()
	}
}
