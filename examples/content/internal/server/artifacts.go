package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/humanity"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A newArtifact is a draft to be made.
type newArtifact struct {
	Type    string   `json:"type"`
	Title   string   `json:"title"`
	Tone    string   `json:"tone"`
	Tags    []string `json:"tags"`
	Content string   `json:"content"`
	// Idea is that of the suggested topic that it is made from; nil: none.
	Idea *contenttools.Idea `json:"idea"`
}

// An artifactChange changes what isn't nil. With UpdatedAt, that of the artifact that it is made
// from, it is refused if the artifact has changed since.
type artifactChange struct {
	UpdatedAt *time.Time `json:"updatedAt"`
	// NewVersion says that the text is a version of its own. Otherwise it joins that of the same
	// person from the last ten minutes.
	NewVersion bool `json:"newVersion"`

	Title   *string   `json:"title"`
	Tone    *string   `json:"tone"`
	Tags    *[]string `json:"tags"`
	Content *string   `json:"content"`
}

// A shown artifact is one with what a page shows of it.
type shown struct {
	portfolio.Artifact
	HTML     string              `json:"html"`
	Humanity humanity.Report     `json:"humanity"`           // of the text as it is now
	Pipeline *assistant.Pipeline `json:"pipeline,omitempty"` // the newest
	// Proposal is a change of the text that waits to be accepted or rejected.
	Proposal *portfolio.Proposal `json:"proposal,omitempty"`
}

func (s *Server) artifactRoutes(mux *http.ServeMux) {
	st := s.Store
	on(s, mux, "GET /api/artifacts", func(c *call, _ none) (any, error) {
		var wanted []portfolio.Status
		for _, status := range c.URL.Query()["status"] {
			if !slices.Contains(portfolio.Statuses, portfolio.Status(status)) {
				return nil, portfolio.Errorf(portfolio.InvalidInput, "There is no status %q.", status)
			}
			wanted = append(wanted, portfolio.Status(status))
		}
		all, err := st.Artifacts(c.Context(), c.user.ID, wanted...)
		for i := range all {
			all[i].Content, all[i].Metadata = "", nil
		}
		return map[string]any{"artifacts": all}, err
	})
	on(s, mux, "POST /api/artifacts", func(c *call, in newArtifact) (any, error) {
		if err := contenttools.CheckTags(in.Tags); err != nil {
			return nil, err
		}
		a := portfolio.Artifact{User: c.user.ID, Type: in.Type, Title: in.Title, Tone: in.Tone, Tags: in.Tags,
			Content: in.Content}
		if in.Idea != nil {
			idea, err := json.Marshal(in.Idea)
			if err = errors.Join(err, in.Idea.Check()); err != nil {
				return nil, err
			}
			a.Metadata = map[string]json.RawMessage{"idea": idea}
		}
		a, err := st.Create(c.Context(), a)
		return s.show(c, a, err)
	})
	at(s, mux, "GET", "", func(c *call, a portfolio.Artifact, _ none) (any, error) { return s.show(c, a, nil) })
	at(s, mux, "PATCH", "", s.edit)
	at(s, mux, "DELETE", "", func(c *call, a portfolio.Artifact, _ none) (any, error) {
		return nil, st.Delete(c.Context(), a.User, a.ID)
	})
	for name, to := range map[string]portfolio.Status{"publish": portfolio.Published, "archive": portfolio.Archived,
		"edit": ""} {
		at(s, mux, "POST", "/"+name, func(c *call, a portfolio.Artifact, _ none) (_ any, err error) {
			switch name {
			case "publish":
				err = contenttools.CheckPlaceholders(a.Content)
			case "archive":
				err = s.Cancel(c.Context(), a.User, a.ID)
			}
			if err == nil {
				a, err = st.Move(c.Context(), a.User, a.ID, cmp.Or(to, reopened(a)), portfolio.ByUser)
			}
			return s.show(c, a, err)
		})
	}
	lists(s, mux, "research", st.Research)
	lists(s, mux, "history", st.History)
	at(s, mux, "GET", "/markdown", func(c *call, a portfolio.Artifact, _ none) (any, error) {
		sources, err := st.Research(c.Context(), a.User, a.ID)
		if err == nil {
			c.w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
			_, err = io.WriteString(c.w, contenttools.Markdown(&a, sources, "http://"+c.Host))
		}
		return answered, err
	})
	at(s, mux, "POST", "/preview", func(c *call, a portfolio.Artifact, in struct {
		Content string `json:"content"`
	}) (any, error) {
		sources, err := st.Research(c.Context(), a.User, a.ID)
		a.Content = in.Content
		return map[string]any{"html": article(&a, sources)}, err
	})
	s.versionRoutes(mux)
	on(s, mux, "GET "+contenttools.ImagePath+"{id}", func(c *call, _ none) (any, error) {
		i, err := st.Image(c.Context(), c.user.ID, c.PathValue("id"))
		if err != nil {
			return nil, err
		}
		c.w.Header().Set("Content-Type", i.Type)
		// an SVG could contain code, if it were opened by itself
		c.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		c.w.Header().Set("Cache-Control", "private, max-age=3600")
		_, err = c.w.Write(i.Data)
		return answered, err
	})
}

// lists adds a path that lists something of an artifact, under its name.
func lists[T any](s *Server, mux *http.ServeMux, name string,
	get func(ctx context.Context, user, artifact string) ([]T, error)) {
	at(s, mux, "GET", "/"+name, func(c *call, a portfolio.Artifact, _ none) (any, error) {
		all, err := get(c.Context(), a.User, a.ID)
		return map[string]any{name: all}, err
	})
}

// reopened returns the status in which an artifact can be edited.
func reopened(a portfolio.Artifact) portfolio.Status {
	switch {
	case a.Status == portfolio.Archived && a.Content == "":
		return portfolio.Draft
	case a.Status == portfolio.Archived, a.Status == portfolio.Published:
		return portfolio.Ready
	}
	return a.Status
}

// show adds to an artifact what a page shows of it.
func (s *Server) show(c *call, a portfolio.Artifact, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	sources, err := s.Store.Research(c.Context(), c.user.ID, a.ID)
	if err != nil {
		return nil, err
	}
	out := shown{Artifact: a, Humanity: humanity.Check(a.Content)}
	if a.Content, err = contenttools.Written(c.Context(), s.Store, &a); err != nil {
		return nil, err
	}
	out.HTML = article(&a, sources)
	out.Pipeline, err = s.Pipeline(c.Context(), c.user.ID, a.ID)
	if err == nil {
		out.Proposal, err = s.Store.Proposal(c.Context(), c.user.ID, a.ID)
	}
	return out, err
}

// edit changes an artifact. A published one becomes ready with it.
func (s *Server) edit(c *call, a portfolio.Artifact, in artifactChange) (any, error) {
	change := portfolio.Change{User: a.User, Artifact: a.ID, Seen: in.UpdatedAt, Apart: in.NewVersion, Title: in.Title,
		Tone: in.Tone, Content: in.Content}
	if in.Title != nil {
		if *in.Title = strings.TrimSpace(*in.Title); *in.Title == "" {
			return nil, portfolio.Errorf(portfolio.InvalidInput, "The title is empty.")
		}
	}
	if in.Tags != nil {
		if err := contenttools.CheckTags(*in.Tags); err != nil {
			return nil, err
		}
		change.Tags = *in.Tags
	}
	a, err := s.Store.Edit(c.Context(), change)
	return s.show(c, a, err)
}
