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
		`content_pipelines_started_total 1`,
		`content_pipelines_ended_total{state="failed"} 1`,
		`content_pipelines_ended_total{state="completed"} 1`,
		`content_rollbacks_total{tool="contentWriter"} 1`,
		`content_recoveries_total{outcome="completed"} 1`,
		`content_pipeline_seconds_count 1`,
		`content_tool_seconds_count{status="ok",tool="topicResearch"} 1`,
		`content_tool_seconds_count{status="ok",tool="contentWriter"} 1`,
		`content_tool_seconds_count{status="error",tool="contentWriter"} 1`,
		`content_request_seconds_count{intent="TRY_AGAIN"} 1`,
		`content_provider_calls_total{outcome="failed",`,
		`content_tokens_total{kind="writer"} `,
		`content_errors_total{category="ARTIFACT_NOT_FOUND"} 1`,
	} {
		require.True(t, strings.Contains(text, line), line)
	}
	require.False(t, strings.Contains(text, a.ID))
	require.False(t, strings.Contains(text, `"ann"`))
}
