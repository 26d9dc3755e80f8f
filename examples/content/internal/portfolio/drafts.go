package portfolio

import (
	"context"
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
	return s.exec(ctx, "INSERT OR REPLACE INTO section_drafts VALUES (?, ?, ?, ?, ?, ?)", artifact, skeleton,
		v.Position, v.Body, v.Sources, v.Took.Milliseconds())
}

// Sections returns the finished sections, by their positions.
func (s *Store) Sections(ctx context.Context, artifact, skeleton string) (map[int]Section, error) {
	all, err := list(ctx, s, func(r row, v *Section) error {
		err := r.Scan(&v.Position, &v.Body, &v.Sources, &v.Took)
		v.Took *= time.Millisecond // as a column
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
	return s.exec(ctx, "DELETE FROM section_drafts WHERE artifact_id = ?", artifact)
}

// Image returns an image of an artifact of a user.
func (s *Store) Image(ctx context.Context, user, id string) (Image, error) {
	return get(ctx, s.db, func(r row, i *Image) error { return r.Scan(&i.ID, &i.Type, &i.Data) }, notFound(),
		"SELECT i.id, i.type, i.data FROM images i JOIN artifacts a ON a.id = i.artifact_id WHERE i.id = ? AND "+
			"a.user_id = ?", id, user)
}

// A Pipeline is a sequence of tools on an artifact. Where it is, its plan says: see package
// assistant.
type Pipeline struct {
	Name     string   `json:"-"`
	Artifact string   `json:"-"`
	User     string   `json:"-"`
	Tools    []string `json:"tools"`
	Trace    string   `json:"traceId"`
	Stopped  bool     `json:"-"` // by the user; it can be continued
}

// StartPipeline records a new pipeline.
func (s *Store) StartPipeline(ctx context.Context, p Pipeline) error {
	return s.write(ctx, func(t *tx) {
		t.unlocked(p.User, p.Artifact, p.Name)
		if read(t, scalar[string], nil, "SELECT name FROM pipelines WHERE name = ?", p.Name) != "" {
			t.fail(Errorf(Conflict, "This article is being worked on. Wait until that has ended, or stop it."))
		}
		t.exec("INSERT INTO pipelines (name, artifact_id, user_id, tools, trace) VALUES (?, ?, ?, ?, ?)", p.Name,
			p.Artifact, p.User, strings.Join(p.Tools, " "), p.Trace)
	})
}

// StopPipeline records that the user has stopped a pipeline, or that it goes on.
func (s *Store) StopPipeline(ctx context.Context, name string, stopped bool) error {
	return s.exec(ctx, "UPDATE pipelines SET stopped = ? WHERE name = ?", stopped, name)
}

// Pipelines returns the pipelines of an artifact of a user, the latest first.
func (s *Store) Pipelines(ctx context.Context, user, artifact string) ([]Pipeline, error) {
	return list(ctx, s, scanPipeline, pipelineColumns+"WHERE user_id = ? AND artifact_id = ? ORDER BY rowid DESC", user,
		artifact)
}

// PipelineNamed returns the pipeline with a name, and false if there is none.
func (s *Store) PipelineNamed(ctx context.Context, name string) (p Pipeline, ok bool, err error) {
	p, err = get(ctx, s.db, scanPipeline, nil, pipelineColumns+"WHERE name = ?", name)
	return p, p.Name != "", err
}

// DoneIn returns the tools whose changes took effect in a pipeline, and weren't undone.
func (s *Store) DoneIn(ctx context.Context, pipeline string) ([]string, error) {
	return list(ctx, s, scalar[string], "SELECT tool FROM effects WHERE state = ? AND substr(key, 1, ?) = ?", done,
		len(pipeline)+1, pipeline+"/")
}

const pipelineColumns = "SELECT name, artifact_id, user_id, tools, trace, stopped FROM pipelines "

func scanPipeline(r row, p *Pipeline) error {
	var names string
	err := r.Scan(&p.Name, &p.Artifact, &p.User, &names, &p.Trace, &p.Stopped)
	p.Tools = strings.Fields(names)
	return err
}
