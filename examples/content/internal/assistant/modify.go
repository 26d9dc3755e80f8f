package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

var (
	// newTitle finds the title in a request to change it.
	newTitle = regexp.MustCompile(`(?i)^(?:please )?(?:(?:change|set|make|update)\b.*?\b(?:title|headline)\b.*?\bto|` +
		`(?:rename|call) (?:it|this)(?: to)?|(?:the )?(?:title|headline) should be)\s+["“„']?([^"”“']+?)["”“']?[.!]?$`)
	titleAlone = regexp.MustCompile(`(?i)\b(?:title|headline)\b|^(?:please )?(?:rename|call) `)
	// takenOut begins a request to take a part out.
	takenOut = regexp.MustCompile(`(?i)^(?:please )?(?:cut|delete|remove|drop|take out|get rid of)\b`)
	// sectionWord says that such a request is about a whole section.
	sectionWord = regexp.MustCompile(`(?i)\bsections?\b|\bintro(?:duction)?\b|\bconclusion\b`)
	opening     = regexp.MustCompile(`(?i)\bintro(?:duction)?\b|\bopening\b`)
	ending      = regexp.MustCompile(`(?i)\bconclusion\b|\bending\b|\blast section\b`)
	ordinal     = regexp.MustCompile(`(?i)\b(first|second|third|fourth|fifth|sixth) (?:section|part)\b`)
)

var ordinals = map[string]int{"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5}

// modify changes the title, or proposes a change of the text, which the user accepts on the page.
func (s *Services) modify(ctx context.Context, r *Request, a *Answer, v *Session) error {
	if v.Artifact == "" {
		return s.whichOne(ctx, r, a, intent.Verdict{Intent: ModifyContent})
	}
	at, err := s.Store.Artifact(ctx, r.User, v.Artifact)
	if err != nil {
		return err
	}
	if m := newTitle.FindStringSubmatch(r.Message); m != nil {
		at, err := s.Store.Retitle(ctx, r.User, at.ID, m[1])
		if err != nil {
			return err
		}
		a.Success, a.Message = true, fmt.Sprintf("The title is “%s” now.", at.Title)
		return nil
	}
	if titleAlone.MatchString(r.Message) {
		a.Success, a.ClarificationNeeded = true, true
		a.Message = "What should the title be? For example: Change the title to “A better title”."
		return nil
	}
	section := sectionOf(at.Content, r.Message)
	in := agent.CallTool("", contenttools.ProposeEdit, map[string]any{"artifactId": at.ID, "instruction": r.Message,
		"section": section, "remove": takenOut.MatchString(r.Message) && sectionWord.MatchString(r.Message)})
	in.User, in.CallKey, in.Labels = r.User, a.TraceID, map[string]string{"trace": a.TraceID}
	res, err := s.Agent.Run(ctx, in)
	if err != nil {
		return err
	}
	a.ToolsUsed = append(a.ToolsUsed, contenttools.ProposeEdit)
	text := ""
	for _, p := range res.Called.Parts {
		text += p.Text
	}
	var e contenttools.Envelope
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return fmt.Errorf("content: %s: %s", contenttools.ProposeEdit, text)
	}
	if !e.Success {
		return &portfolio.Error{Category: e.Error.Category, Message: e.Error.Message}
	}
	var p portfolio.Proposal
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return err
	}
	a.Success, a.Data = true, e.Data
	a.Message = fmt.Sprintf("I have a proposal for %s. Nothing has changed yet: accept or reject it above the text.",
		p.Target)
	return nil
}

// sectionOf returns the section that a message is about; empty if it names none.
func sectionOf(text, message string) string {
	var headings []string
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			headings = append(headings, strings.TrimSpace(title))
		}
	}
	lower := strings.ToLower(message)
	for _, h := range headings {
		if strings.Contains(lower, strings.ToLower(h)) {
			return h
		}
	}
	if m := ordinal.FindStringSubmatch(message); m != nil {
		if n := ordinals[strings.ToLower(m[1])]; n < len(headings) {
			return headings[n]
		}
		return m[0] // which the tool refuses, with the names of those that there are
	}
	switch {
	case opening.MatchString(message):
		return "introduction"
	case ending.MatchString(message):
		return "conclusion"
	}
	return ""
}
