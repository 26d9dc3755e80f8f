package portfolio

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
)

// A Section is a finished section of a text that isn't complete.
type Section struct {
	Position int
	Body     string
	Sources  int
	Took     time.Duration
}

// KeepSection keeps a finished section beside the artifact. skeleton identifies what is written:
// sections of another one don't count.
func (s *Store) KeepSection(ctx context.Context, artifact, skeleton string, v Section) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO section_drafts VALUES (?, ?, ?, ?, ?, ?)", artifact,
			skeleton, v.Position, v.Body, v.Sources, v.Took.Milliseconds())
		return err
	})
}

// Sections returns the finished sections, by their positions.
func (s *Store) Sections(ctx context.Context, artifact, skeleton string) (map[int]Section, error) {
	all, err := list(ctx, s.db, func(r *sql.Rows, v *Section) error {
		var ms int64
		err := r.Scan(&v.Position, &v.Body, &v.Sources, &ms)
		v.Took = time.Duration(ms) * time.Millisecond
		return err
	}, "SELECT position, body, sources, ms FROM section_drafts WHERE artifact_id = ? AND skeleton = ?", artifact,
		skeleton)
	m := make(map[int]Section)
	for _, v := range all {
		m[v.Position] = v
	}
	return m, err
}

// DropSections deletes the finished sections of an artifact.
func (s *Store) DropSections(ctx context.Context, artifact string) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM section_drafts WHERE artifact_id = ?", artifact)
		return err
	})
}

// Image returns an image of an artifact of a user.
func (s *Store) Image(ctx context.Context, user, id string) (Image, error) {
	i := Image{ID: id}
	err := s.db.QueryRowContext(ctx,
		"SELECT i.type, i.data FROM images i JOIN artifacts a ON a.id = i.artifact_id WHERE i.id = ? AND a.user_id = ?",
		id, user).Scan(&i.Type, &i.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return i, notFound()
	}
	return i, err
}

// The states of pipelines.
const (
	PipelineRunning   = "running"
	PipelineFailed    = "failed" // it can be tried again
	PipelineCompleted = "completed"
	PipelineCanceled  = "canceled"
)

// A Pipeline is a sequence of tools that runs, or ran, on an artifact.
type Pipeline struct {
	Name, Artifact, User, State string
	Tools                       []string
	Failed, Reason              string // the tool that failed, and why
	Trace                       string
	Started, Ended              time.Time
}

// StartPipeline records a new pipeline. Only one of an artifact can run or wait to be tried again:
// what failed before is canceled.
func (s *Store) StartPipeline(ctx context.Context, p Pipeline) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.unlocked(ctx, tx, p.User, p.Artifact, p.Name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE pipelines SET state = ? WHERE artifact_id = ? AND state = ?",
			PipelineCanceled, p.Artifact, PipelineFailed); err != nil {
			return err
		}
		made, err := tx.ExecContext(ctx,
			"INSERT OR IGNORE INTO pipelines (name, artifact_id, user_id, state, tools, trace, started_at) VALUES "+
				"(?, ?, ?, ?, ?, ?, ?)",
			p.Name, p.Artifact, p.User, PipelineRunning, strings.Join(p.Tools, " "), p.Trace, s.now().UnixMilli())
		if err != nil {
			return err
		}
		if n, err := made.RowsAffected(); n == 0 {
			return errors.Join(err, Errorf(Conflict, "This artifact is being worked on; wait until that has ended."))
		}
		return nil
	})
}

// SetPipeline records what became of a pipeline. One that is set to running begins anew.
func (s *Store) SetPipeline(ctx context.Context, name, state, failed, reason string) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now := s.now().UnixMilli()
		_, err := tx.ExecContext(ctx,
			"UPDATE pipelines SET state = ?, failed = ?, reason = ?, ended_at = ?, started_at = iif(state != ? AND ? "+
				"= ?, ?, started_at) WHERE name = ?",
			state, failed, reason, now, PipelineRunning, state, PipelineRunning, now, name)
		return err
	})
}

const pipelineColumns = "SELECT name, artifact_id, user_id, state, tools, failed, reason, trace, started_at, " +
	"ended_at FROM pipelines "

func scanPipeline(r *sql.Rows, p *Pipeline) error {
	var names string
	var started, ended int64
	err := r.Scan(&p.Name, &p.Artifact, &p.User, &p.State, &names, &p.Failed, &p.Reason, &p.Trace, &started, &ended)
	p.Tools, p.Started = strings.Fields(names), time.UnixMilli(started).UTC()
	if ended > 0 {
		p.Ended = time.UnixMilli(ended).UTC()
	}
	return err
}

// Pipelines returns the pipelines of an artifact of a user, the latest first.
func (s *Store) Pipelines(ctx context.Context, user, artifact string) ([]Pipeline, error) {
	all, err := list(ctx, s.db, scanPipeline, pipelineColumns+"WHERE user_id = ? AND artifact_id = ? ORDER BY rowid",
		user, artifact)
	slices.Reverse(all)
	return all, err
}

// Stalled returns the pipelines in progress that began before a time, and whose artifacts have had
// no change of status since then.
func (s *Store) Stalled(ctx context.Context, before time.Time) ([]Pipeline, error) {
	at := before.UnixMilli()
	return list(ctx, s.db, scanPipeline, pipelineColumns+`WHERE state = ? AND started_at < ? AND NOT EXISTS (
		SELECT 1 FROM status_history h WHERE h.artifact_id = pipelines.artifact_id AND h.at >= ?) ORDER BY rowid`,
		PipelineRunning, at, at)
}

// PipelineCounts are numbers of pipelines by their states.
type PipelineCounts struct {
	Running   int `json:"running"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	AverageMS int `json:"averageMs"` // of those that are completed
}

// CountPipelines counts the pipelines in progress, and those that ended since a time.
func (s *Store) CountPipelines(ctx context.Context, since time.Time) (n PipelineCounts, err error) {
	err = s.db.QueryRowContext(ctx,
		`SELECT count(CASE WHEN state = ? THEN 1 END), count(CASE WHEN state = ? AND ended_at >= ? THEN 1 END),
		count(CASE WHEN state = ? AND ended_at >= ? THEN 1 END), CAST(coalesce(avg(CASE WHEN state = ? AND ended_at >= ? THEN ended_at - started_at END), 0) AS INTEGER) FROM pipelines`,
		PipelineRunning, PipelineCompleted, since.UnixMilli(), PipelineFailed, since.UnixMilli(), PipelineCompleted,
		since.UnixMilli()).Scan(&n.Running, &n.Completed, &n.Failed, &n.AverageMS)
	return n, err
}

// RunningPipelines returns those of all users that haven't ended, for recovery after a crash.
func (s *Store) RunningPipelines(ctx context.Context) ([]Pipeline, error) {
	return list(ctx, s.db, scanPipeline, pipelineColumns+"WHERE state = ? ORDER BY rowid", PipelineRunning)
}
