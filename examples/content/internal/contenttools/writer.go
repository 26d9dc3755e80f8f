package contenttools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
)

// temperatures are those of the tones.
var temperatures = map[string]float64{"formal": .5, "technical": .5, "authoritative": .55, "professional": .6,
	"conversational": .7, "friendly": .7, "casual": .75, "humorous": .8}

type writerInput struct {
	ofArtifact
	repeat
	Tone            string   `json:"tone,omitempty" enum:"formal,casual,professional,conversational,technical,friendly,authoritative,humorous"`
	ArtifactType    string   `json:"artifactType,omitempty" enum:"blog,social_post,showcase"`
	SectionsToWrite []string `json:"sectionsToWrite,omitempty" description:"headings; all sections if it is empty"`
}

// A SectionResult says what became of a section.
type SectionResult struct {
	Heading             string `json:"heading"`
	ContentLength       int    `json:"contentLength"`
	ResearchSourcesUsed int    `json:"researchSourcesUsed"`
	Ms                  int64  `json:"ms"`
}

func (k *kit) writer() tools.Tool {
	return writing(k,
		tools.Spec{Name: portfolio.ContentWriter,
			Description: "Writes the sections of an artifact with the status skeleton, one after the other. The " +
				"status becomes creating_visuals."}, k.write)
}

// write moves the artifact to writing, writes the sections and returns the text. If it fails, the
// artifact is as before, and the finished sections are kept beside it.
func (k *kit) write(ctx context.Context, j *job, in writerInput) (c portfolio.Change, data any, err error) {
	tone := cmp.Or(in.Tone, j.artifact.Tone)
	if err := j.is(cmp.Or(in.ArtifactType, j.artifact.Type)); err != nil {
		return c, nil, err
	}
	sections := sectionsOf(&j.artifact)
	for _, h := range in.SectionsToWrite {
		if !slices.ContainsFunc(sections, func(s Section) bool { return s.Heading == h }) {
			return c, nil, portfolio.Errorf(portfolio.InvalidInput, "There is no section %q.", excerpt(h, 100))
		}
	}
	if len(sections) == 0 {
		return c, nil, portfolio.Errorf(portfolio.MissingContext, "The artifact has no sections to write.")
	}
	research, err := k.Store.Research(ctx, j.user, j.artifact.ID)
	if err != nil {
		return c, nil, err
	}
	_, err = k.Store.Apply(ctx, portfolio.Change{User: j.user, Artifact: j.artifact.ID, Holder: j.holder,
		By: portfolio.ByTool, Tool: j.tool, From: j.artifact.Status,
		To: portfolio.Writing, Key: j.key, Begins: true})
	if err != nil {
		return c, nil, err
	}
	began := time.Now().UTC()
	bodies, results, err := k.sections(ctx, j, sections, in.SectionsToWrite, tone, best(research, 10))
	if err != nil {
		_, failed := k.Store.Undo(context.WithoutCancel(ctx), j.user, j.key, j.holder)
		return c, nil, errors.Join(err, failed)
	}
	if err := k.Store.DropSections(ctx, j.artifact.ID); err != nil {
		return c, nil, err
	}
	text := render(j.artifact.Type, sections, bodies)
	c = portfolio.Change{From: portfolio.Writing, To: portfolio.CreatingVisuals, Content: &text, Tone: &tone,
		Metadata: map[string]any{"writing_metadata": map[string]any{"startedAt": began, "endedAt": time.Now().UTC(),
			"sections": results}}}
	return c, map[string]any{"sectionsWritten": len(results), "totalLength": utf8.RuneCountInString(text),
		"sectionResults": results, "status": portfolio.CreatingVisuals}, nil
}

// sections writes the sections, those that are finished already excepted.
func (k *kit) sections(ctx context.Context, j *job, sections []Section, only []string, tone string,
	research []portfolio.Source) (bodies []string, results []SectionResult, err error) {
	version := portfolio.Hash(j.artifact.Title+fmt.Sprint(sections)+tone, "")
	finished, err := k.Store.Sections(ctx, j.artifact.ID, version)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range sections {
		if len(only) > 0 && !slices.Contains(only, s.Heading) {
			bodies = append(bodies, "[WRITE: "+s.Placeholder+"]")
			continue
		}
		done, ok := finished[i]
		if !ok {
			tools.Progress(ctx,
				tools.ProgressReport{Text: fmt.Sprintf("writing section %d of %d: %s", i+1, len(sections), s.Heading),
					Done: float64(i) / float64(len(sections))})
			if err := k.Store.Lock(ctx, j.user, j.artifact.ID, j.holder, lease); err != nil {
				return nil, nil, err
			}
			began := time.Now()
			text, err := k.section(ctx, j, s, tone, research, bodies)
			if err != nil {
				return nil, nil, fmt.Errorf("section %d (%s): %w", i+1, s.Heading, err)
			}
			done = portfolio.Section{Position: i, Body: text, Took: time.Since(began)}
			for _, r := range research {
				if strings.Contains(text, fmt.Sprintf("[%d]", r.Number)) {
					done.Sources++
				}
			}
			if err := k.Store.KeepSection(ctx, j.artifact.ID, version, done); err != nil {
				return nil, nil, err
			}
		}
		bodies = append(bodies, done.Body)
		results = append(results,
			SectionResult{s.Heading, utf8.RuneCountInString(done.Body), done.Sources, done.Took.Milliseconds()})
	}
	return bodies, results, nil
}

// lastPart is how many characters of what comes before a model sees: the last ones.
const lastPart = 5_000

// section writes a section. The model sees the earlier ones, so that the text has one voice.
func (k *kit) section(ctx context.Context, j *job, s Section, tone string, research []portfolio.Source,
	before []string) (string, error) {
	values := map[string]any{"heading": s.Heading, "title": j.artifact.Title, "tone": tone}
	return mock.Call(ctx, k.Mocks.Category("contentWritingTools"), mock.Key{Name: "writeContentSection", Variant: tone,
		Values: values}, func(ctx context.Context) (string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, "Title: %s\nType: %s\nWords: about %d\nSection: %s (%s)\nPoint: %s\n", j.artifact.Title,
			j.artifact.Type, forms[j.artifact.Type].Words, s.Heading, s.Type, s.Placeholder)
		for _, r := range research {
			from := fmt.Sprintf("source %d: %s", r.Number, r.Name)
			b.WriteString(tools.Untrusted(from, excerpt(r.Excerpt, 200)) + "\n")
		}
		if len(research) == 0 {
			b.WriteString("There are no excerpts: cite nothing.\n")
		}
		b.WriteString(j.insights())
		b.WriteString(prompt.Data("earlier sections", tail(strings.Join(before, "\n\n"), lastPart)))
		if s.instead != "" {
			fmt.Fprintf(&b, "\nAgain: write the section in another way. Wish: %s\n%s", s.wish,
				prompt.Data("as it is", s.instead))
		}
		return k.ask(ctx, j.task("writer", tone, b.String(), temperatures[tone]))
	})
}
