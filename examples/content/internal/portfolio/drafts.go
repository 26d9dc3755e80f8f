package portfolio

import (
	"context"
	"database/sql"
	"errors"
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

// A Pipeline is a sequence of tools on an artifact. Where it is, its plan says: see package
// assistant.
type Pipeline struct {
	Name, Artifact, User string
	Tools                []string
	Trace                string
	Stopped              bool // by the user; it can be continued
}

// StartPipeline records a new pipeline.
func (s *Store) StartPipeline(ctx context.Context, p Pipeline) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.unlocked(ctx, tx, p.User, p.Artifact, p.Name); err != nil {
			return err
		}
		made, err := tx.ExecContext(ctx,
			"INSERT OR IGNORE INTO pipelines (name, artifact_id, user_id, tools, trace) VALUES (?, ?, ?, ?, ?)", p.Name,
			p.Artifact, p.User, strings.Join(p.Tools, " "), p.Trace)
		if err != nil {
			return err
		}
		if n, err := made.RowsAffected(); n == 0 {
			return errors.Join(err, Errorf(Conflict, "This artifact is being worked on; wait until that has ended."))
		}
		return nil
	})
}

// StopPipeline records that the user has stopped a pipeline, or that it goes on.
func (s *Store) StopPipeline(ctx context.Context, name string, stopped bool) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE pipelines SET stopped = ? WHERE name = ?", stopped, name)
		return err
	})
}

// Pipelines returns the pipelines of an artifact of a user, the latest first.
func (s *Store) Pipelines(ctx context.Context, user, artifact string) ([]Pipeline, error) {
	return s.pipelines(ctx, "WHERE user_id = ? AND artifact_id = ? ORDER BY rowid DESC", user, artifact)
}

// PipelineNamed returns the pipeline with a name, and false if there is none.
func (s *Store) PipelineNamed(ctx context.Context, name string) (p Pipeline, ok bool, err error) {
	all, err := s.pipelines(ctx, "WHERE name = ?", name)
	if err != nil || len(all) == 0 {
		return p, false, err
	}
	return all[0], true, nil
}

func (s *Store) pipelines(ctx context.Context, where string, args ...any) ([]Pipeline, error) {
	return list(ctx, s.db, func(r *sql.Rows, p *Pipeline) error {
		var names string
		err := r.Scan(&p.Name, &p.Artifact, &p.User, &names, &p.Trace, &p.Stopped)
		p.Tools = strings.Fields(names)
		return err
	}, "SELECT name, artifact_id, user_id, tools, trace, stopped FROM pipelines "+where, args...)
}
