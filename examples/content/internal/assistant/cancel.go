package assistant

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
)

// Progress is what a pipeline in progress is doing.
type Progress struct {
	Tool    string  `json:"tool"`
	Text    string  `json:"text"` // such as "Text: section 2 of 6: Why it matters"
	Done    float64 `json:"done"` // of the tool, from 0 to 1
	Written string  `json:"written,omitempty"`
}

// A driven pipeline is in progress in this process.
type driven struct {
	Pipeline
	ctx   context.Context
	stop  context.CancelCauseFunc
	ended chan struct{} // is closed when nothing works on it any more
	s     *Services

	// guarded by s.mu
	now      Progress
	sessions []string // the conversations that wait for it
	reports  []func(Progress)
}

// errStopped is the cause of the end of a pipeline that its user has stopped.
var errStopped = portfolio.Errorf(portfolio.Conflict, "The user has stopped this.")

// begin makes this process the one that drives a pipeline, until driven.end is called.
// [Services.Cancel] ends its context.
func (s *Services) begin(ctx context.Context, p Pipeline, j Job) (*driven, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := s.pipelines[p.Artifact]; busy {
		return nil, portfolio.Errorf(portfolio.Conflict,
			"This article is being worked on. Wait until that has ended, or stop it.")
	}
	ctx, stop := context.WithCancelCause(ctx)
	d := &driven{Pipeline: p, ctx: ctx, stop: stop, ended: make(chan struct{}), s: s}
	d.listen(j)
	s.pipelines[p.Artifact] = d
	return d, nil
}

// listen has a job told what the pipeline does. The caller holds s.mu.
func (d *driven) listen(j Job) {
	d.sessions = append(d.sessions, j.Session)
	if j.Report != nil {
		d.reports = append(d.reports, j.Report)
	}
}

// end says that nothing works on the pipeline any more.
func (d *driven) end() {
	d.s.mu.Lock()
	delete(d.s.pipelines, d.Artifact)
	d.s.mu.Unlock()
	d.stop(nil)
	close(d.ended)
}

// report tells what the pipeline does.
func (d *driven) report(p Progress) {
	d.s.mu.Lock()
	d.now = p
	reports := slices.Clone(d.reports)
	d.s.mu.Unlock()
	for _, f := range reports {
		f(p)
	}
}

// shown is how many characters of a section that is being written are shown: the last ones.
const shown = 600

// wrote tells what a section has so far.
func (d *driven) wrote(text string) {
	d.s.mu.Lock()
	p := d.now
	d.s.mu.Unlock()
	if r := []rune(text); len(r) > shown {
		text = "…" + string(r[len(r)-shown:])
	}
	p.Written = text
	d.report(p)
}

// silence is after how long it is said that a model hasn't begun to answer, in these words.
const (
	silence = 20 * time.Second
	silent  = "the model hasn't begun to answer for 20 s; you can wait, or stop this"
)

// heard passes on an answer of a model. Until it begins, the progress says after 20 s that it
// hasn't.
func (d *driven) heard(answer iter.Seq2[provider.Chunk, error]) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		d.s.mu.Lock()
		before := d.now
		d.s.mu.Unlock()
		said := before
		said.Text = upper(results[before.Tool]) + ": " + silent
		timer, begun := time.AfterFunc(silence, func() { d.report(said) }), false
		defer timer.Stop()
		for c, err := range answer {
			if c.Kind == provider.KindWaiting { // it is called after that
				timer.Reset(silence + max(0, time.Until(c.Extra.Wait.Until)))
			} else if !begun {
				begun = true
				timer.Stop()
				d.s.mu.Lock()
				over := d.now.Text == said.Text
				d.s.mu.Unlock()
				if over {
					d.report(before)
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// driven returns the pipeline in progress that a session of a tool belongs to; nil: none.
func (s *Services) driven(session string) *driven {
	parts := strings.Split(session, "/")
	if len(parts) < 3 || parts[0]+"/" != contenttools.PipelinePrefix {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pipelines[parts[1]]
}

// Progress returns what the pipeline of an artifact is doing in this process, and false if none is
// in progress.
func (s *Services) Progress(artifact string) (Progress, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.pipelines[artifact]
	if !ok {
		return Progress{}, false
	}
	return d.now, true
}

// Stop stops the pipelines that a conversation of a user waits for, and reports whether there was
// one.
func (s *Services) Stop(ctx context.Context, user, session string) (found bool, err error) {
	var ids []string
	s.mu.Lock()
	for id, d := range s.pipelines {
		if d.User == user && slices.Contains(d.sessions, session) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	for _, id := range ids {
		err = errors.Join(err, s.Cancel(ctx, user, id))
	}
	return len(ids) > 0, err
}

// Cancel stops the pipeline of an artifact, if it is in progress or has failed. What its finished
// tools did stays, and the tool in progress is undone. [Services.Continue] continues it. If another
// process works on the artifact, the error is a *portfolio.Error of the category Conflict.
func (s *Services) Cancel(ctx context.Context, user, artifact string) error {
	p, err := s.Pipeline(ctx, user, artifact)
	if err != nil || p == nil || p.State != PipelineRunning && p.State != PipelineFailed {
		return err
	}
	s.mu.Lock()
	d := s.pipelines[artifact]
	s.mu.Unlock()
	if d != nil && d.Name == p.Name {
		if err := s.Store.StopPipeline(ctx, p.Name, true); err != nil {
			return err
		}
		d.stop(errStopped)
		select {
		case <-d.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := s.Store.Unlock(ctx, artifact, p.Name); err != nil {
			return err
		}
	}
	if err := s.Store.Lock(ctx, user, artifact, "cancel", 0); err != nil { // it is free: see above
		return err
	}
	err = errors.Join(s.Store.StopPipeline(ctx, p.Name, true), s.Store.Unlock(ctx, artifact, "cancel"))
	if err == nil {
		_, err = s.Store.RollBackAbandoned(ctx)
	}
	return err
}

// results are what the tools of pipelines make, for people.
var results = map[string]string{portfolio.TopicResearch: "research", portfolio.SkeletonCreator: "outline",
	portfolio.ContentWriter: "text", portfolio.Humanizer: "revision", portfolio.VisualsCreator: "images"}

// resultsOf names what tools make: "research, outline and text".
func resultsOf(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, results[name])
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}

// be returns the verb for what tools make.
func be(names []string) string {
	if len(names) > 1 || len(names) == 1 && names[0] == portfolio.VisualsCreator {
		return "are"
	}
	return "is"
}

// stopped says what a pipeline has done, and what it hasn't: "Stopped. Research and outline are
// done; the text isn't."
func stopped(done, open []string) string {
	if len(open) == 0 {
		return "Stopped, but it was done already."
	}
	text := "the " + results[open[0]] + " " + be(open[:1]) + "n't."
	if len(done) == 0 {
		return "Stopped. " + upper(strings.TrimSuffix(text, ".")) + " done."
	}
	return "Stopped. " + upper(resultsOf(done)) + " " + be(done) + " done; " + text
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
