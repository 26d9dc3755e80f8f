package contenttools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
)

// A Section is a part of an outline.
type Section struct {
	Heading          string `json:"heading"`
	Type             string `json:"type"` // intro, body, conclusion or cta
	Placeholder      string `json:"placeholder"`
	ImagePlaceholder string `json:"imagePlaceholder,omitempty"`

	instead, wish string // of a section that is written again: what it is, and how it is to be
}

// A Skeleton is the outline of an artifact, and its text so far.
type Skeleton struct {
	Skeleton           string    `json:"skeleton"`
	Sections           []Section `json:"sections"`
	EstimatedWordCount int       `json:"estimatedWordCount"`
}

// A form says which sections an artifact of a type has. Headings can be changed by the model, types
// and images can't.
type form struct {
	Words    int  // of a section
	Headings bool // whether the text has them
	Sections []struct {
		Heading, Type string
		Image         bool
	}
}

// forms are those of the types.
var forms = func() (all map[string]form) {
	text, err := promptFiles.ReadFile("prompts/forms.json")
	if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil {
		panic(err) // it is embedded
	}
	return all
}()

// A drafted is a section as the model returns it.
type drafted struct {
	Heading     string `json:"heading"`
	Placeholder string `json:"placeholder" description:"what the section will say, one sentence"`
	Image       string `json:"image" description:"what a picture for it shows"`
}

type skeletonInput struct {
	ofArtifact
	repeat
	Topic        string `json:"topic"`
	ArtifactType string `json:"artifactType" enum:"blog,social_post,showcase"`
	Tone         string `json:"tone,omitempty" enum:"formal,casual,professional,conversational,technical,friendly,authoritative,humorous"`
}

func (k *kit) skeleton() tools.Tool {
	return writing(k, tools.Spec{Name: portfolio.SkeletonCreator,
		Description: "Makes the outline of an artifact with the status research. The status becomes skeleton."},
		func(ctx context.Context, j *job, in skeletonInput) (c portfolio.Change, data any, err error) {
			if err := checkTopic(in.Topic); err != nil {
				return c, nil, err
			}
			if err := j.is(in.ArtifactType); err != nil {
				return c, nil, err
			}
			s, err := mock.Call(ctx, k.Mocks.Category("skeletonTools"), mock.Key{Name: "generateContentSkeleton",
				Variant: in.ArtifactType, Values: map[string]any{"topic": in.Topic, "title": j.artifact.Title}},
				func(ctx context.Context) (Skeleton, error) { return k.outline(ctx, j, in) })
			if err != nil {
				return c, nil, err
			}
			if len(s.Sections) == 0 {
				return c, nil, portfolio.Errorf(portfolio.ToolExecutionFailed, "The outline has no sections.")
			}
			c = portfolio.Change{From: j.artifact.Status, To: portfolio.Skeleton, Content: &s.Skeleton,
				Metadata: map[string]any{"sections": s.Sections}}
			if in.Tone != "" {
				c.Tone = &in.Tone
			}
			return c, s, nil
		})
}

// outline asks the model for the headings, and puts them into the form of the type.
func (k *kit) outline(ctx context.Context, j *job, in skeletonInput) (s Skeleton, err error) {
	f := forms[in.ArtifactType]
	var b strings.Builder
	fmt.Fprintf(&b, "Topic: %s\nType: %s\n%sSections:\n", in.Topic, in.ArtifactType, j.insights())
	for _, p := range f.Sections {
		fmt.Fprintf(&b, "- %s (%s)\n", p.Heading, p.Type)
	}
	got, err := list[drafted](ctx, k, j.task("skeleton", cmp.Or(in.Tone, j.artifact.Tone), b.String(), 0.6))
	if err != nil {
		return s, err
	}
	bodies := []string{}
	for i, p := range f.Sections {
		d := drafted{Heading: p.Heading, Placeholder: p.Heading + " of " + in.Topic, Image: p.Heading + ": " + in.Topic}
		if i < len(got) && got[i].Heading != "" && got[i].Placeholder != "" {
			d = got[i]
		}
		v := Section{Heading: line(d.Heading), Type: p.Type, Placeholder: line(d.Placeholder)}
		if p.Image {
			v.ImagePlaceholder = line(excerpt(d.Image, 150))
		}
		s.Sections, bodies = append(s.Sections, v), append(bodies, "[WRITE: "+v.Placeholder+"]")
	}
	s.Skeleton = render(in.ArtifactType, s.Sections, bodies)
	s.EstimatedWordCount = f.Words * len(s.Sections)
	return s, nil
}

// is returns an error if the artifact of a job has another type.
func (j *job) is(kind string) error {
	if kind == j.artifact.Type {
		return nil
	}
	return portfolio.Errorf(portfolio.InvalidContentType, "The artifact is a %s, and not a %s.", j.artifact.Type, kind)
}

// insights returns what the research has found, as data: it comes from the web.
func (j *job) insights() string {
	var all []string
	if json.Unmarshal(j.artifact.Metadata["insights"], &all) != nil || len(all) == 0 {
		return ""
	}
	return tools.Untrusted("insights from the web", strings.Join(all, "\n")) + "\n"
}

// line makes a text one line without brackets, so that it can be in a placeholder.
func line(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("[", "(", "]", ")", "#", "").Replace(text)), " ")
}

// render puts sections together.
func render(kind string, sections []Section, bodies []string) string {
	var b strings.Builder
	for i, s := range sections {
		if forms[kind].Headings && s.Type != "intro" {
			fmt.Fprintf(&b, "## %s\n\n", s.Heading)
		}
		b.WriteString(strings.TrimSpace(bodies[i]) + "\n\n")
		if s.ImagePlaceholder != "" {
			fmt.Fprintf(&b, "[IMAGE: %s]\n\n", s.ImagePlaceholder)
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

var headings = regexp.MustCompile(`(?m)^#{1,2} +(.+?)\s*$`)

// ParseSections returns the sections of a text in Markdown: one for each heading of the first two
// levels.
func ParseSections(text string) (all []Section) {
	for i, m := range headings.FindAllStringSubmatch(text, -1) {
		kind := "body"
		if i == 0 {
			kind = "intro"
		}
		all = append(all, Section{Heading: m[1], Type: kind, Placeholder: m[1]})
	}
	return all
}

// sectionsOf returns the sections of an artifact: those of its outline, else those of its text.
func sectionsOf(a *portfolio.Artifact) (all []Section) {
	if raw, ok := a.Metadata["sections"]; ok && json.Unmarshal(raw, &all) == nil && len(all) > 0 {
		return all
	}
	return ParseSections(a.Content)
}
