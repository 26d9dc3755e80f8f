package observe

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scrape returns what a Prometheus reads.
func (b *bench) scrape() string {
	rec := httptest.NewRecorder()
	b.Metrics().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(b.t, 200, rec.Code)
	require.Contains(b.t, rec.Header().Get("Content-Type"), "text/plain")
	return rec.Body.String()
}

func TestMetricsCountWhatHappened(t *testing.T) {
	b := newBench(t)
	a := b.draft()
	b.fail("writer")
	require.False(t, b.say(a.ID, "Create content for artifact "+a.ID+": Remote work").Success)
	b.fail("")
	again := b.say(a.ID, "Try again")
	require.True(t, again.Success, again.Message)
	b.say("no-such-id", "Research this topic")
	text := b.scrape()
	for _, line := range []string{
		`content_events{event="pipeline_started",what=""} 1`,
		`content_events{event="pipeline_retried",what=""} 1`,
		`content_events{event="rollback",what="contentWriter"} 1`,
		`content_events{event="error",what="ARTIFACT_NOT_FOUND"} 1`,
		`content_events{event="provider call failed",what="model 1"} `,
		`content_events{event="tokens",what="writer"} `,
		`content_seconds_count{event="pipeline",what="completed"} 1`,
		`content_seconds_count{event="pipeline",what="failed"} 1`,
		`content_seconds_count{event="request",what="FULL_PIPELINE"} 1`,
		`content_seconds_bucket{event="pipeline",what="completed",le="+Inf"} 1`,
		`gen_ai_execute_tool_duration_count{`,
	} {
		require.True(t, strings.Contains(text, line), line)
	}
	require.False(t, strings.Contains(text, a.ID))
	require.False(t, strings.Contains(text, `"ann"`))
}
