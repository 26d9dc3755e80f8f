package assistant

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// The artifact can't be locked: nobody drives the pipeline then, so it isn't in progress, and its
// user can continue it.
func TestAPipelineThatNobodyDrivesIsStopped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	db, err := sql.Open("sqlite", "file:"+b.Store.Path()+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer db.Close()
	a := b.draft("ann", "Remote work")
	_, err = db.Exec("CREATE TRIGGER full BEFORE UPDATE ON artifacts BEGIN SELECT RAISE(ABORT, 'full'); END")
	require.NoError(t, err)
	job := Job{User: "ann", Artifact: a.ID, Trace: "t", Key: "k", Tools: Full}
	_, err = b.Start(t.Context(), job)
	require.Error(t, err)
	_, err = db.Exec("DROP TRIGGER full")
	require.NoError(t, err)
	p, err := b.Pipeline(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, PipelineStopped, p.State)
	out, err := b.Continue(t.Context(), job)
	require.NoError(t, err)
	require.Equal(t, PipelineCompleted, out.Pipeline.State)
}
