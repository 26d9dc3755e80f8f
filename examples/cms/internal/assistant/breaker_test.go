package assistant

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	fetching "github.com/pawlkit/pawl/tools/web"
)

func TestACallIsRefusedWhileItsBreakerIsOpen(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		fmt.Fprint(w, "it is up")
	}))
	defer site.Close()
	fetcher, err := fetching.NewFetcher(fetching.FetchConfig{Hosts: []string{strings.TrimPrefix(site.URL, "http://")},
		Private: []netip.Addr{netip.MustParseAddr("127.0.0.1")}})
	require.NoError(t, err)
	figures := circuit.Tool()
	require.Equal(t, 10*time.Second, figures.Cooldown, "what the program has")
	figures.Cooldown = 300 * time.Millisecond
	f := serveSite(t, nil, func(c *agent.Config) {
		c.Breakers = circuit.NewSet(figures)
		for _, tool := range cmstools.All(cmstools.Config{Fetcher: fetcher}) {
			if d, err := tool.Define(); err == nil && d.Name() == cmstools.Fetch {
				c.Tools = append(c.Tools, tool)
			}
		}
	})
	var messages []string
	for i := range 4 {
		messages = append(messages, fmt.Sprintf("fetch %s/%d", site.URL, i))
	}
	events := f.read(f.ask("s-1", strings.Join(messages, ", then ")), "")
	require.Len(t, of(events, "tool-retry"), 6, "each of the three calls is tried three times")
	open := of(events, "breaker-open")
	require.Len(t, open, 1)
	require.Equal(t, "http.fetch", open[0].data["tool"])
	require.EqualValues(t, 1, open[0].data["seconds"])
	require.Len(t, of(events, "error-escalation"), 1, "after three failures a person is told")

	down.Store(false)
	<-time.After(figures.Cooldown)
	events = f.read(f.ask("s-1", "fetch "+site.URL+"/4"), "")
	require.Empty(t, of(events, "breaker-open"))
	require.Contains(t, of(events, "text-end")[0].data["text"], "it is up")
}
