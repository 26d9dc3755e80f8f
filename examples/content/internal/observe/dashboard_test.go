package observe

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func TestTheDashboardSumsUpADay(t *testing.T) {
	b := newBench(t)
	a := b.draft()
	require.True(t, b.say(a.ID, "Create content for artifact "+a.ID+": Remote work").Success)
	b.say(a.ID, "Research this topic") // it is ready
	d, err := b.Dashboard(t.Context(), b.services, unused)
	require.NoError(t, err)
	require.Equal(t, 1, d.Pipelines.Completed)
	require.Equal(t, 1, d.Pipelines.Failed)
	require.Zero(t, d.Pipelines.Running)
	require.Equal(t, "topicResearch", d.Tools[0].Tool)
	require.Equal(t, [2]int{2, 1}, [2]int{d.Tools[0].Calls, d.Tools[0].Failed})
	require.Equal(t, []Count{{string(portfolio.InvalidStatus), 1}}, d.Errors)
	require.Len(t, d.Hours, 24)
	calls := 0
	for _, h := range d.Hours {
		for _, n := range h.Calls {
			calls += n
		}
	}
	require.Equal(t, 6, calls)
	require.Equal(t, 1, d.Active)
	require.Len(t, d.Tokens, 3)
	b.wait(25 * time.Hour)
	d, err = b.Dashboard(t.Context(), b.services, unused)
	require.NoError(t, err)
	require.Empty(t, d.Tools)
	require.Zero(t, d.Pipelines.Completed)
}

func TestQuantiles(t *testing.T) {
	require.Zero(t, quantile(nil, 50))
	require.EqualValues(t, 7, quantile([]int64{7}, 99))
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	require.EqualValues(t, 50, quantile(hundred, 50))
	require.EqualValues(t, 95, quantile(hundred, 95))
	require.EqualValues(t, 99, quantile(hundred, 99))
}

func TestTheAdminPagesGetJSON(t *testing.T) {
	b := newBench(t)
	a := b.draft()
	trace := b.say(a.ID, "Research this topic").TraceID
	h := b.Handler(b.services, unused)
	for path, key := range map[string]string{"dashboard": "tools", "alerts": "alerts", "traces": "traces",
		"traces?traceId=" + trace: "spans"} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", "/api/admin/"+path, nil))
		require.Equal(t, 200, rec.Code, path)
		var body map[string]any
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &body))
		require.NotNil(t, body[key], path)
	}
	require.NoError(t, b.Close())
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/api/admin/traces", nil))
	require.Equal(t, 500, rec.Code)
	require.NotContains(t, rec.Body.String(), "sql")
}
