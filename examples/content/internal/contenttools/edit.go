package contenttools

import (
	"cmp"
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

// An Edit is the input of proposeEdit.
type Edit struct {
	ArtifactID  string `json:"artifactId"`
	Instruction string `json:"instruction,omitempty" description:"the words of the user"`
	Section     string `json:"section,omitempty" description:"a heading, introduction or conclusion"`
	Selection   string `json:"selection,omitempty" description:"a passage, word for word"`
	Remove      bool   `json:"remove,omitempty"`
	Again       bool   `json:"again,omitempty" description:"write anew"`
	Picture     string `json:"picture,omitempty" description:"its address: another one"`
}

// proposeEdit changes a part of a text or a picture, and keeps that as a proposal. The text itself
// stays as it is until its owner accepts the proposal.
func (k *kit) proposeEdit() tools.Tool {
	return tools.Func[Edit, Envelope]{
		Spec: tools.Spec{Name: ProposeEdit, Category: "content", Idempotent: true, NoBreaker: true,
			Description: "Proposes a change of a text or another picture, for decideProposal."},
		Title: func(ctx context.Context, in Edit) string {
			title := "Propose a change of " + Quoted(ctx, k.Store, in.ArtifactID)
			if in.Section != "" {
				title += ", section “" + in.Section + "”"
			}
			return title
		},
		Run: func(ctx context.Context, in Edit) (Envelope, error) {
			return k.answer(ctx, func(c *tools.Call, e *Envelope) error {
				a, err := k.artifact(ctx, c.User, in.ArtifactID)
				if err != nil {
					return err
				}
				p, images, err := k.edit(ctx, &job{kit: k, user: c.User, artifact: a}, in)
				if err != nil {
					return err
				}
				p.ID = portfolio.Hash(c.IdempotencyKey, "")
				if p, err = k.Store.Propose(ctx, c.User, p, images...); err != nil {
					return err
				}
				e.Data, err = json.Marshal(p)
				return err
			})
		},
	}
}

// edit returns the proposal for a request, with its new picture.
func (k *kit) edit(ctx context.Context, j *job, in Edit) (p portfolio.Proposal, images []portfolio.Image, err error) {
	in.Instruction = strings.TrimSpace(in.Instruction)
	if in.Instruction == "" && !in.Remove && !in.Again && in.Picture == "" {
		return p, nil, portfolio.Errorf(portfolio.MissingContext, "Say what is to change.")
	}
	if err := portfolio.CheckLength("instruction", in.Instruction, MaxTopic); err != nil {
		return p, nil, err
	}
	p = portfolio.Proposal{Artifact: j.artifact.ID, Instruction: in.Instruction}
	if in.Picture != "" {
		image, err := k.another(ctx, j, in, &p)
		return p, []portfolio.Image{image}, err
	}
	if p.Target, p.Old, err = partOf(j.artifact.Content, in); err != nil || in.Remove {
		return p, nil, err
	}
	if in.Again {
		err = k.again(ctx, j, &p)
	} else {
		text := fmt.Sprintf("Title: %s\nPart: %s\nRequest: %s\n%s", j.artifact.Title, p.Target, in.Instruction,
			prompt.Data("text", p.Old))
		p.New, err = k.ask(ctx, j.task("editor", j.artifact.Tone, text, 0.4))
	}
	if why, refused := strings.CutPrefix(p.New, "CAN'T: "); refused {
		err = portfolio.Errorf(portfolio.InvalidInput, "%s", why)
	}
	if err != nil {
		return p, nil, err
	}
	space := p.Old[len(strings.TrimRight(p.Old, "\n")):]
	if !in.Again { // else its sources are known
		p.New = Sourced(p.New, j.artifact.Content, nil)
	}
	p.New = strings.TrimSpace(p.New) + space
	switch {
	case p.New == p.Old:
		err = portfolio.Errorf(portfolio.MissingContext,
			"The text would stay the same; say more exactly what you want.")
	case !slices.Equal(picture.FindAllString(p.Old, -1), picture.FindAllString(p.New, -1)):
		err = portfolio.Errorf(portfolio.ToolExecutionFailed, "The new text has lost a picture, so it isn't proposed.")
	}
	return p, nil, err
}

// again writes a section again from the research. Its pictures stay.
func (k *kit) again(ctx context.Context, j *job, p *portfolio.Proposal) error {
	p.Instruction = cmp.Or(p.Instruction, "Write it again")
	before, _, _ := strings.Cut(j.artifact.Content, p.Old)
	name := strings.TrimSuffix(strings.TrimPrefix(p.Target, "the section “"), "”")
	s := Section{Heading: name, Type: "body", Placeholder: name}
	for _, v := range sectionsOf(&j.artifact) {
		if strings.EqualFold(v.Heading, name) || v.Type == "intro" && p.Target == "the introduction" {
			s = v
		}
	}
	s.instead, s.wish = p.Old, p.Instruction
	research, err := k.Store.Research(ctx, j.user, j.artifact.ID)
	if err != nil {
		return err
	}
	p.New, err = k.section(ctx, j, s, j.artifact.Tone, best(research, 10), []string{before})
	for _, kept := range picture.FindAllString(p.Old, -1) {
		p.New = strings.TrimSpace(p.New) + "\n\n" + kept
	}
	return err
}

// views make another picture of the same thing.
var views = []string{"seen from another side", "from further away", "closer", "in another light"}

// another draws another picture.
func (k *kit) another(ctx context.Context, j *job, in Edit, p *portfolio.Proposal) (image portfolio.Image, err error) {
	for _, m := range picture.FindAllStringSubmatch(j.artifact.Content, -1) {
		if m[2] != in.Picture {
			continue
		}
		shows := line(cmp.Or(in.Instruction, m[1]))
		what := shows
		if shows == m[1] {
			what += ", " + views[int(portfolio.Hash(m[2], "")[0])%len(views)]
		}
		p.Target, p.Old = fmt.Sprintf("the picture “%s”", m[1]), m[0]
		p.Instruction = cmp.Or(in.Instruction, "Another picture")
		image, _, err = k.drawn(ctx, j, what, "")
		p.New = fmt.Sprintf("![%s](%s)", shows, ImagePath+image.ID)
		return image, err
	}
	return image, portfolio.Errorf(portfolio.MissingContext, "The text doesn't have this picture any more.")
}

// picture finds pictures, with what they show and their addresses, and the places where they are to
// be.
var picture = regexp.MustCompile(`!\[([^\]\n]*)\]\(([^)\n]*)\)|\[IMAGE: [^\]\n]+\]`)

// heading finds the headings of sections.
var heading = regexp.MustCompile(`(?m)^## +(.+)\n+`)

// partOf returns the part of a text that a request is about, and what it is called. A section that
// is to be taken out has its heading in it; otherwise the heading stays.
func partOf(text string, in Edit) (name, part string, err error) {
	found := heading.FindAllStringSubmatchIndex(text, -1)
	section := strings.ToLower(strings.TrimSpace(in.Section))
	switch {
	case strings.TrimSpace(text) == "":
		return "", "", portfolio.Errorf(portfolio.MissingContext, "The article has no text to change.")
	case in.Selection != "" && strings.Count(text, in.Selection) != 1:
		return "", "", portfolio.Errorf(portfolio.Conflict, "The text has this passage %d times; mark another one.",
			strings.Count(text, in.Selection))
	case in.Selection != "":
		return "the selection", in.Selection, nil
	case section == "" && (in.Remove || in.Again):
		return "", "", portfolio.Errorf(portfolio.MissingContext, "Say which section it is about.")
	case section == "":
		return "the whole text", text, nil
	case len(found) == 0 && in.Remove:
		return "", "", portfolio.Errorf(portfolio.MissingContext, "The text has no headings, so it is one section.")
	case len(found) == 0: // it is one section
		return "the whole text", text, nil
	case section == "introduction":
		start := len(titleLine.FindString(text))
		if part = text[start:found[0][0]]; strings.TrimSpace(part) != "" {
			return "the introduction", part, nil
		}
		section = strings.ToLower(text[found[0][2]:found[0][3]]) // the first section is the introduction
	case section == "conclusion":
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
