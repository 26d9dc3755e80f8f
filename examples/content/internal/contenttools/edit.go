package contenttools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
)

// ProposeEdit is the name of the tool that proposes a change of a text.
const ProposeEdit = "proposeEdit"

type editInput struct {
	ArtifactID  string `json:"artifactId"`
	Instruction string `json:"instruction,omitempty" description:"what is to change, in the words of the user"`
	Section     string `json:"section,omitempty" description:"a heading, introduction, or conclusion; the whole text if it is empty"`
	Selection   string `json:"selection,omitempty" description:"a passage of the text, exactly as it is there; instead of section"`
	Remove      bool   `json:"remove,omitempty" description:"take the part out"`
}

// proposeEdit rewrites a part of a text, and keeps that as a proposal. The text itself stays as it
// is until its owner accepts the proposal.
func (k *kit) proposeEdit() tools.Tool {
	return tools.Func[editInput, Envelope]{
		Spec: tools.Spec{Name: ProposeEdit, Category: "content", Idempotent: true, NoBreaker: true,
			Description: "Proposes a change of an artifact's text: shorter, another tone, a translation, a part taken " +
				"out. Nothing changes until the user accepts the proposal on the page."},
		Run: func(ctx context.Context, in editInput) (Envelope, error) {
			return k.answer(ctx, func(c *tools.Call, e *Envelope) error {
				a, err := k.artifact(ctx, c.User, in.ArtifactID)
				if err != nil {
					return err
				}
				p, err := k.edit(ctx, &job{kit: k, user: c.User, artifact: a}, in)
				if err != nil {
					return err
				}
				p.ID = portfolio.Hash(c.IdempotencyKey, "")
				if p, err = k.Store.Propose(ctx, c.User, p); err != nil {
					return err
				}
				e.Data, err = json.Marshal(p)
				return err
			})
		},
	}
}

// edit returns the proposal for a request.
func (k *kit) edit(ctx context.Context, j *job, in editInput) (p portfolio.Proposal, err error) {
	if in.Instruction = strings.TrimSpace(in.Instruction); in.Instruction == "" && !in.Remove {
		return p, portfolio.Errorf(portfolio.MissingContext, "Say what is to change.")
	}
	if err := portfolio.CheckLength("instruction", in.Instruction, MaxTopic); err != nil {
		return p, err
	}
	p = portfolio.Proposal{Artifact: j.artifact.ID, Instruction: in.Instruction}
	if p.Target, p.Old, err = partOf(j.artifact.Content, in); err != nil || in.Remove {
		return p, err
	}
	text := fmt.Sprintf("Title: %s\nPart: %s\nRequest: %s\n%s", j.artifact.Title, p.Target, in.Instruction,
		prompt.Data("text", p.Old))
	if p.New, err = k.ask(ctx, j.task("editor", j.artifact.Tone, text, 0.4)); err != nil {
		return p, err
	}
	space := p.Old[len(strings.TrimRight(p.Old, "\n")):]
	p.New = strings.TrimSpace(p.New) + space
	switch {
	case p.New == p.Old:
		err = portfolio.Errorf(portfolio.MissingContext, "The text would stay the same; say more exactly what you want.")
	case !slices.Equal(picture.FindAllString(p.Old, -1), picture.FindAllString(p.New, -1)):
		err = portfolio.Errorf(portfolio.ToolExecutionFailed, "The new text has lost a picture, so it isn't proposed.")
	}
	return p, err
}

// picture finds pictures and the places where they are to be.
var picture = regexp.MustCompile(`!\[[^\]\n]*\]\([^)\n]*\)|\[IMAGE: [^\]\n]+\]`)

// heading finds the headings of sections.
var heading = regexp.MustCompile(`(?m)^## +(.+)\n+`)

// partOf returns the part of a text that a request is about, and what it is called. A section that
// is to be taken out has its heading in it; otherwise the heading stays.
func partOf(text string, in editInput) (name, part string, err error) {
	found := heading.FindAllStringSubmatchIndex(text, -1)
	section := strings.ToLower(strings.TrimSpace(in.Section))
	switch {
	case strings.TrimSpace(text) == "":
		return "", "", portfolio.Errorf(portfolio.MissingContext, "The artifact has no text to change.")
	case in.Selection != "":
		return "the selection", in.Selection, nil
	case section == "" && in.Remove:
		return "", "", portfolio.Errorf(portfolio.MissingContext, "Say which section is to go.")
	case section == "":
		return "the whole text", text, nil
	case section == "introduction" && len(found) > 0:
		start := len(titleLine.FindString(text))
		if part = text[start:found[0][0]]; strings.TrimSpace(part) != "" {
			return "the introduction", part, nil
		}
		section = strings.ToLower(text[found[0][2]:found[0][3]]) // the first section is the introduction
	case section == "conclusion" && len(found) > 0:
		last := found[len(found)-1]
		section = strings.ToLower(text[last[2]:last[3]])
	}
	var names []string
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		title := strings.TrimSpace(text[m[2]:m[3]])
		if strings.ToLower(title) == section {
			start := m[1]
			if in.Remove {
				start = m[0]
			}
			return fmt.Sprintf("the section “%s”", title), text[start:end], nil
		}
		names = append(names, title)
	}
	return "", "", portfolio.Errorf(portfolio.MissingContext, "There is no section %q; there are: %s.",
		excerpt(in.Section, 100), strings.Join(names, ", "))
}

// titleLine finds the title at the beginning of a text.
var titleLine = regexp.MustCompile(`\A\s*# .+\n+`)
