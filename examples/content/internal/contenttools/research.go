package contenttools

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
	"github.com/pawlkit/pawl/tools/web"
)

// MaxTopic is the greatest length of a topic, in characters.
const MaxTopic = 500

const (
	relevant = 0.6 // what is less relevant isn't kept
	kept     = 20  // sources for each artifact
	few      = 3   // fewer sources that answer are mentioned
	query    = 300 // characters of a topic that are searched for
)

type researchInput struct {
	ofArtifact
	repeat
	Topic        string   `json:"topic" description:"at most 500 characters"`
	ArtifactType string   `json:"artifactType,omitempty" enum:"blog,social_post,showcase"`
	Sources      []string `json:"sources,omitempty" enum:"reddit,linkedin,quora,medium,substack" description:"where to search; everywhere if it is empty"`
}

// Findings are what a search and its analysis return.
type Findings struct {
	Sources     []portfolio.Source `json:"sources"`
	KeyInsights []string           `json:"keyInsights"`
	Warning     string             `json:"warning,omitempty"`
}

func (k *kit) research() tools.Tool {
	return writing(k,
		tools.Spec{Name: portfolio.TopicResearch,
			Description: "Researches a topic for an artifact with the status draft, in several sources. The status " +
				"becomes research."},
		func(ctx context.Context, j *job, in researchInput) (c portfolio.Change, data any, err error) {
			if err := checkTopic(in.Topic); err != nil {
				return c, nil, err
			}
			found, err := mock.Call(ctx, k.Mocks.Category("researchTools"), mock.Key{Name: "conductDeepResearch",
				Variant: j.artifact.Type, Values: map[string]any{"topic": in.Topic}},
				func(ctx context.Context) (Findings, error) { return k.find(ctx, j, in) })
			if err != nil {
				return c, nil, err
			}
			found.Sources = slices.DeleteFunc(found.Sources, func(s portfolio.Source) bool {
				return s.Relevance <= relevant
			})
			slices.SortStableFunc(found.Sources, func(a, b portfolio.Source) int {
				return int(1000 * (b.Relevance - a.Relevance))
			})
			if found.Sources = best(found.Sources, kept); len(found.Sources) == 0 && found.Warning != NoSearch {
				return c, nil, portfolio.Errorf(portfolio.ToolExecutionFailed,
					"No source had anything relevant about %q. Try other words.", excerpt(in.Topic, 100))
			}
			to := portfolio.Research
			if in.Again {
				to = j.artifact.Status
			}
			c = portfolio.Change{From: j.artifact.Status, To: to, Sources: found.Sources,
				Metadata: map[string]any{"insights": found.KeyInsights, "researchNote": found.Warning}}
			return c, map[string]any{"sourceCount": len(found.Sources), "sources": found.Sources,
				"keyInsights": found.KeyInsights, "warning": found.Warning}, nil
		})
}

func checkTopic(topic string) error {
	if strings.TrimSpace(topic) == "" {
		return portfolio.Errorf(portfolio.MissingContext, "The topic is empty; say what it is about.")
	}
	return portfolio.CheckLength("topic", topic, MaxTopic)
}

// NoSearch is the note of research that had nowhere to search.
const NoSearch = "No search service is set up (TAVILY_API_KEY or SEARXNG_URL), so nothing was searched, and the text " +
	"cites nothing."

// find searches in all sources in parallel, and asks a model what they say.
func (k *kit) find(ctx context.Context, j *job, in researchInput) (f Findings, err error) {
	if len(k.Sources) == 0 {
		return Findings{Warning: NoSearch, KeyInsights: []string{}}, nil
	}
	searchers := slices.DeleteFunc(slices.Clone(k.Sources), func(s web.Searcher) bool {
		return len(in.Sources) > 0 && !slices.Contains(in.Sources, s.Name())
	})
	if len(searchers) == 0 {
		searchers = k.Sources // none of them searches there alone
	}
	tools.Progress(ctx, tools.ProgressReport{Text: fmt.Sprintf("searching in %d sources", len(searchers))})
	found, err := web.Find(ctx, excerpt(in.Topic, query), kept, searchers...)
	if err != nil {
		return f, noAnswer(err)
	}
	if n := len(searchers) - len(found.Failed); n < few && n < len(searchers) {
		f.Warning = fmt.Sprintf("Only %d of %d sources have answered.", n, len(searchers))
	}
	var b strings.Builder
	for _, r := range found.Results {
		text := excerpt(screen.Clean(r.Text), 600)
		kind, at := sourceOf(r.URL)
		f.Sources = append(f.Sources, portfolio.Source{Type: kind, Name: excerpt(screen.Clean(r.Title), 200),
			URL: at, Excerpt: text, Relevance: r.Score})
		fmt.Fprintf(&b, "- %s: %s\n", r.Title, text)
	}
	f.KeyInsights, err = list[string](ctx, k, task{[]string{"insights"}, j.user, j.artifact.Metadata["idea"],
		"Topic: " + in.Topic + "\n" + tools.Untrusted("the web", b.String()), 0.3})
	return f, err
}

// noAnswer is the error when no source has answered. It says what to do about it, if that is known.
func noAnswer(err error) error {
	text := "No source has answered."
	if remedy, ok := fault.Remedy(err); ok {
		text += " To do: " + remedy + "."
	} else if fault.Of(err) == fault.UserFixable {
		text += " The search service refuses the key."
	}
	return &portfolio.Error{Category: portfolio.ToolExecutionFailed, Message: text, Err: err}
}

// sourceOf returns the type of the source at an address, and the address if it can exist: that of
// what is made up ends with .invalid.
func sourceOf(address string) (kind, at string) {
	u, err := url.Parse(address)
	if err != nil {
		return "web", ""
	}
	host := strings.ToLower(u.Hostname())
	if strings.HasSuffix(host, ".invalid") {
		return "made_up", ""
	}
	for _, site := range Sites {
		if host == site+".com" || strings.HasSuffix(host, "."+site+".com") {
			return site, address
		}
	}
	return "web", address
}

// Sites are where research looks besides the web at large: their addresses end with .com.
var Sites = []string{"reddit", "linkedin", "quora", "medium", "substack"}

// A Topic is an idea for an artifact.
type Topic struct {
	Title            string  `json:"title"`
	Description      string  `json:"description"`
	Rationale        string  `json:"rationale"`
	Audience         string  `json:"audience" description:"who it is for"`
	TrendingScore    float64 `json:"trendingScore,omitempty" description:"0 to 1, from the excerpts"`
	CompetitionLevel string  `json:"competitionLevel,omitempty" enum:"low,medium,high"`
	SuggestedAngle   string  `json:"suggestedAngle"`
}

type topicsInput struct {
	ContentType string `json:"contentType" enum:"blog,social_post,showcase"`
	FocusArea   string `json:"focusArea,omitempty"`
	Count       int    `json:"count" default:"5" minimum:"1" maximum:"10"`
}

func (k *kit) topics() tools.Tool {
	return reading(k,
		tools.Spec{Name: TopicsResearch,
			Description: "Suggests topics for new artifacts, from the user's fields and what is discussed now.", Progress: true},
		func(ctx context.Context, user string, in topicsInput) (any, error) {
			if err := portfolio.CheckLength("focusArea", in.FocusArea, MaxTopic); err != nil {
				return nil, err
			}
			about, err := k.Store.Context(ctx, user)
			if err != nil {
				return nil, err
			}
			have, err := k.listed(ctx, user)
			if err != nil {
				return nil, err
			}
			focus := cmp.Or(strings.TrimSpace(in.FocusArea), about.Expertise)
			all, err := mock.Call(ctx, k.Mocks.Category("topicsResearchTools"),
				mock.Key{Name: "topicsResearch", Variant: in.ContentType, Values: map[string]any{"focusArea": focus}},
				func(ctx context.Context) ([]Topic, error) { return k.suggest(ctx, in, user, focus, have) })
			if err != nil {
				return nil, err
			}
			all = slices.DeleteFunc(all, func(t Topic) bool {
				return slices.ContainsFunc(have, func(l Listed) bool { return strings.EqualFold(l.Title, t.Title) })
			})
			asked := []string{}
			for _, s := range k.Sources {
				asked = append(asked, s.Name())
			}
			if len(asked) == 0 { // what is discussed now isn't known
				for i := range all {
					all[i].TrendingScore, all[i].CompetitionLevel = 0, ""
				}
			}
			return map[string]any{"topics": all[:min(in.Count, len(all))], "sourcesQueried": asked}, nil
		})
}

func (k *kit) suggest(ctx context.Context, in topicsInput, user, focus string, have []Listed) ([]Topic, error) {
	found := &web.Found{}
	if len(k.Sources) > 0 {
		var err error
		if found, err = web.Find(ctx, excerpt("trends "+focus, query), 10, k.Sources...); err != nil {
			return nil, noAnswer(err)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Type: %s\nFocus: %s\nCount: %d\nExisting titles:\n", in.ContentType, focus, in.Count+len(have))
	for _, l := range have {
		fmt.Fprintf(&b, "- %s\n", l.Title)
	}
	for _, r := range found.Results {
		b.WriteString(tools.Untrusted("the web", excerpt(screen.Clean(r.Title+": "+r.Text), 300)) + "\n")
	}
	return list[Topic](ctx, k, task{[]string{"topics", in.ContentType}, user, nil, b.String(), 0.8})
}
