package browser

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// markdown is a text with everything that is laid out in a special way.
const markdown = "# The state of the site\n\nI looked at **twelve** pages.\n\n1. `about` has no picture\n2. " +
	"`contact` is *old*\n\n" +
	"| Page | Problem |\n|---|---|\n| about | no picture |\n| contact | a name |\n\n```go\nfunc main() " +
	"{\n\tprintln(\"hello\")\n}\n```\n\n" +
	"> A quote.\n\n- [x] looked at\n- [ ] changed\n\nSee [the rules](https://example.org/rules). The end of the " +
	"beginning.\n\n"

// streams is a model that writes a text, waits until the gate is opened, and then writes pieces.
func streams(g *gate, pieces []string) provider.Provider {
	return provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			if !yield(provider.Start("streams"), nil) || !yield(provider.Text(markdown), nil) {
				return
			}
			g.called <- struct{}{}
			select {
			case <-g.open:
			case <-ctx.Done():
				yield(provider.Chunk{}, ctx.Err())
				return
			}
			for _, piece := range pieces {
				<-time.After(10 * time.Millisecond) // the pace of a model: several changes of the page are to be seen
				if !yield(provider.Text(piece), nil) {
					return
				}
			}
			yield(provider.End(provider.StopDone, provider.Usage{Input: 1, Output: 2}), nil)
		}
	})
}

// number evaluates a JavaScript expression whose value is a number.
func (p *tab) number(expression string) float64 {
	p.t.Helper()
	n, err := strconv.ParseFloat(p.text("String("+expression+")"), 64)
	require.NoError(p.t, err)
	return n
}
