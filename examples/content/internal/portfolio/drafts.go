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

// KeepSection keeps a finished section beside the artifact. skeleton identifies what is written: sections of another one don't count.
func (s *Store) KeepSection(ctx context.Context, artifact, skeleton string, v Section) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO section_drafts VALUES (?, ?, ?, ?, ?, ?)", artifact, skeleton, v.Position, v.Body, v.Sources, v.Took.Milliseconds())
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
	}, "SELECT position, body, sources, ms FROM section_drafts WHERE artifact_id = ? AND skeleton = ?", artifact, skeleton)
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
	err := s.db.QueryRowContext(ctx, "SELECT i.type, i.data FROM images i JOIN artifacts a ON a.id = i.artifact_id WHERE i.id = ? AND a.user_id = ?", id, user).Scan(&i.Type, &i.Data)
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

// StartPipeline records a new pipeline. Only one of an artifact can run or wait to be tried again: what failed before is canceled.
func (s *Store) StartPipeline(ctx context.Context, p Pipeline) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.unlocked(ctx, tx, p.User, p.Artifact, p.Name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE pipelines SET state = ? WHERE artifact_id = ? AND state = ?", PipelineCanceled, p.Artifact, PipelineFailed); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO pipelines (name, artifact_id, user_id, state, tools, trace, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			p.Name, p.Artifact, p.User, PipelineRunning, strings.Join(p.Tools, " "), p.Trace, s.now().UnixMilli())
		return err
	})
}

// SetPipeline records what became of a pipeline.
func (s *Store) SetPipeline(ctx context.Context, name, state, failed, reason string) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE pipelines SET state = ?, failed = ?, reason = ?, ended_at = ? WHERE name = ?", state, failed, reason, s.now().UnixMilli(), name)
		return err
	})
}

const pipelineColumns = "SELECT name, artifact_id, user_id, state, tools, failed, reason, trace, started_at, ended_at FROM pipelines "

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
	all, err := list(ctx, s.db, scanPipeline, pipelineColumns+"WHERE user_id = ? AND artifact_id = ? ORDER BY rowid", user, artifact)
	slices.Reverse(all)
	return all, err
}

// RunningPipelines returns those of all users that haven't ended, for recovery after a crash.
func (s *Store) RunningPipelines(ctx context.Context) ([]Pipeline, error) {
	return list(ctx, s.db, scanPipeline, pipelineColumns+"WHERE state = ? ORDER BY rowid", PipelineRunning)
}
