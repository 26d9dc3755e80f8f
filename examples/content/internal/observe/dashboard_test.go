package observe

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func TestTheDashboardSumsUpADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a := b.draft()
		require.True(t, b.say(a.ID, "Create content for artifact "+a.ID+": Remote work").Success)
		_, err := b.services.Store.Move(t.Context(), "ann", a.ID, portfolio.Published, portfolio.ByUser)
		require.NoError(t, err)
		b.say(a.ID, "Research this topic")
		d, err := b.Dashboard(t.Context(), b.services, unused)
		require.NoError(t, err)
		require.Equal(t, 1, d.Pipelines.Completed)
		require.Equal(t, 1, d.Pipelines.Failed)
		require.Zero(t, d.Pipelines.Running)
		require.Len(t, d.Spans, 6)
		require.True(t, slices.ContainsFunc(d.Spans, func(s Span) bool {
			return s.Category == string(portfolio.InvalidStatus)
		}))
		require.Len(t, d.Tokens, 3)
		time.Sleep(25 * time.Hour)
		d, err = b.Dashboard(t.Context(), b.services, unused)
		require.NoError(t, err)
		require.Empty(t, d.Spans)
		require.Zero(t, d.Pipelines.Completed)
	})
}
