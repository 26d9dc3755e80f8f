package contenttools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/content/internal/humanity"
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
		return c, nil, portfolio.Errorf(portfolio.MissingContext, "The article has no sections to write.")
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
	version := edition(&j.artifact, sections, tone)
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

// edition identifies what sections are written for.
func edition(a *portfolio.Artifact, sections []Section, tone string) string {
	return portfolio.Hash(a.Title+fmt.Sprint(sections)+tone, "")
}

// Written returns the text of an artifact, with the sections that are finished while others are
// written. It is for reading only: the artifact has its outline until all are finished.
func Written(ctx context.Context, st *portfolio.Store, a *portfolio.Artifact) (string, error) {
	if a.Status != portfolio.Writing {
		return a.Content, nil
	}
	sections, text := sectionsOf(a), a.Content
	finished, err := st.Sections(ctx, a.ID, edition(a, sections, a.Tone))
	for i, s := range finished {
		if i < len(sections) {
			text = strings.Replace(text, "[WRITE: "+sections[i].Placeholder+"]", s.Body, 1)
		}
	}
	return text, err
}

// lastPart is how many characters of what comes before a model sees: the last ones.
const lastPart = 5_000

// section writes a section. The model sees the earlier ones, so that the text has one voice.
func (k *kit) section(ctx context.Context, j *job, s Section, tone string, research []portfolio.Source,
	before []string) (string, error) {
	values := map[string]any{"heading": s.Heading, "title": j.artifact.Title, "tone": tone}
	key := mock.Key{Name: "writeContentSection", Variant: tone, Values: values}
	mocked := k.Mocks.Category("contentWritingTools")
	text, err := mock.Call(ctx, mocked, key, func(ctx context.Context) (string, error) {
		var b strings.Builder
		fmt.Fprintf(&b, "Title: %s\nType: %s\nWords: about %d\nSection: %s (%s)\nPoint: %s\n", j.artifact.Title,
			j.artifact.Type, forms[j.artifact.Type].Words, s.Heading, s.Type, s.Placeholder)
		b.WriteString("Outline:\n")
		for i, o := range sectionsOf(&j.artifact) {
			fmt.Fprintf(&b, "%d. %s: %s\n", i+1, o.Heading, o.Placeholder)
		}
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
	return Sourced(text, s.instead, research), err
}

type humanizerInput struct {
	ofArtifact
	Content    string `json:"content,omitempty" description:"the text to revise; that of the artifact if it is empty"`
	Tone       string `json:"tone,omitempty" enum:"formal,casual,professional,conversational,technical,friendly,authoritative,humorous"`
	KeepStatus bool   `json:"keepStatus,omitempty" description:"leave the status as it is, because images follow"`
}

// imagePlaceholder finds where an image is to be; its first group is what it shows.
var imagePlaceholder = regexp.MustCompile(`\[IMAGE: ([^\]\n]+)\]`)

func (k *kit) humanizer() tools.Tool {
	return writing(k,
		tools.Spec{Name: portfolio.Humanizer,
			Description: "Revises the text of an artifact so that it sounds less like a machine. The status becomes " +
				"ready, unless keepStatus is set."},
		func(ctx context.Context, j *job, in humanizerInput) (c portfolio.Change, data any, err error) {
			old := cmp.Or(in.Content, j.artifact.Content)
			if old == "" {
				return c, nil, portfolio.Errorf(portfolio.MissingContext, "The article has no text to revise.")
			}
			if err := portfolio.CheckLength("content", old, portfolio.MaxContent); err != nil {
				return c, nil, err
			}
			text, before, after, err := k.humanize(ctx, j, old, cmp.Or(in.Tone, j.artifact.Tone))
			if err != nil {
				return c, nil, err
			}
			if j.artifact.Status == portfolio.Published { // it is taken back first, which is a change of its own
				_, err := k.Store.Apply(ctx, portfolio.Change{User: j.user, Artifact: j.artifact.ID, Holder: j.holder,
					By: portfolio.BySystem, From: portfolio.Published, To: portfolio.Ready})
				if err != nil {
					return c, nil, err
				}
				j.artifact.Status = portfolio.Ready
			}
			to := portfolio.Ready
			if in.KeepStatus {
				to = j.artifact.Status
			}
			was, is := utf8.RuneCountInString(old), utf8.RuneCountInString(text)
			result := map[string]any{"originalLength": was, "humanizedLength": is, "lengthChange": is - was,
				"patternsChecked": humanity.Checked, "patternsFixed": max(before.Total()-after.Total(), 0),
				"humanityScoreBefore": before.Score, "humanityScoreAfter": after.Score,
				"before": before.Summary, "after": after.Summary, "found": slices.Sorted(maps.Keys(after.Found)),
			}
			return portfolio.Change{From: j.artifact.Status, To: to, Content: &text,
				Metadata: map[string]any{"humanity": result}}, result, nil
		})
}

// humanize revises a text, and checks what has become of it.
func (k *kit) humanize(ctx context.Context, j *job, old, tone string) (text string, before, after humanity.Report,
	err error) {
	before = humanity.Check(old)
	text, err = mock.Call(ctx, k.Mocks.Category("humanityCheckTools"), mock.Key{Name: "applyHumanityCheck",
		Values: map[string]any{"content": old}}, func(ctx context.Context) (string, error) {
		found := "Found:\n"
		for _, p := range humanity.Patterns {
			if n := before.Found[p.Name]; n > 0 {
				found += fmt.Sprintf("- %s (%d): %s\n", p.Name, n, p.Advice)
			}
		}
		return k.ask(ctx, j.task("humanizer", tone, found+prompt.Data("text", old), 0.7))
	})
	if err != nil {
		return "", before, after, err
	}
	text = Sourced(text, old, nil)
	after = humanity.Check(text)
	was, is := utf8.RuneCountInString(old), utf8.RuneCountInString(text)
	wrong := ""
	switch {
	case after.Score < before.Score:
		wrong = fmt.Sprintf("has more patterns of machines than before: %d finds instead of %d", after.Total(),
			before.Total())
	case is*10 < was*7 || is*10 > was*13:
		wrong = fmt.Sprintf("has %d characters instead of %d; it may differ by 30 %%", is, was)
	case !slices.Equal(imagePlaceholder.FindAllString(old, -1), imagePlaceholder.FindAllString(text, -1)):
		wrong = "has lost a placeholder of an image"
	default:
		return text, before, after, nil
	}
	return "", before, after, portfolio.Errorf(portfolio.ToolExecutionFailed, "The revised text %s.", wrong)
}
