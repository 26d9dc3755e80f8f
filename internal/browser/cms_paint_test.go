package browser

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// painted is a script that returns when the page showed something first and when the assistant was
// there, and what was loaded for it.
const painted = `JSON.stringify((loaded => ({
	paint: Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0),
	ready: Math.round(performance.getEntriesByName("ready")[0]?.startTime ?? 0),
	requests: loaded.length,
	bytes: loaded.reduce((n, e) => n + e.decodedBodySize, 0),
	foreign: loaded.filter(e => new URL(e.name).origin !== location.origin).map(e => e.name),
}))(performance.getEntriesByType("resource").filter(e => e.initiatorType !== "iframe" && !e.name.includes("/uploads/"))))`

// TestTheFirstPaintOfTheCMS measures the first paint on loopback with an empty cache. The time is
// reported; what it depends on is asserted.
func TestTheFirstPaintOfTheCMS(t *testing.T) {
	t.Parallel()
	p := openCMS(t, startCMS(t), "")
	rounds := 2
	if *screens {
		rounds = 5
	}
	for range rounds {
		p.run(chromedp.Navigate("about:blank"))
		p.reach("")
		p.wait(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		var got struct {
			Paint, Ready, Requests, Bytes int
			Foreign                       []string
		}
		require.NoError(t, json.Unmarshal([]byte(p.text(painted)), &got))
		require.Positive(t, got.Paint)
		require.Empty(t, got.Foreign, "everything comes from the own server")
		require.LessOrEqual(t, got.Requests, 50)
		require.LessOrEqual(t, got.Bytes, 300_000)
		t.Logf("first paint after %d ms, ready after %d ms, %d requests, %d bytes", got.Paint, got.Ready, got.Requests,
			got.Bytes)
	}
}
