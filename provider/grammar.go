package provider

import "slices"

// A Grammar checks the order of the chunks of one call; the package comment has the rules. The zero
// Grammar is ready for use. It isn't safe for concurrent use.
type Grammar struct {
	begun bool    // a Start was seen since the last Reset
	ended bool    // End was seen
	open  []int32 // calls that were started and not ended
}

// Next checks the next chunk, and returns a *[GrammarError] if it isn't allowed here. After an
// error the Grammar is unchanged.
func (g *Grammar) Next(c *Chunk) error {
	if c.Kind == KindText && g.begun && !g.ended {
		return nil
	}
	if g.ended {
		return &GrammarError{c.Kind, "the answer has ended"}
	}
	switch c.Kind {
	case KindText, KindReasoning, KindRefusal:
		return g.inAnswer(c)
	case KindWaiting:
		if g.begun {
			return &GrammarError{c.Kind, "the answer has begun; Reset comes first"}
		}
		if c.Extra == nil || c.Extra.Wait == nil {
			return &GrammarError{c.Kind, "Extra.Wait is missing"}
		}
	case KindStart:
		if g.begun {
			return &GrammarError{c.Kind, "the answer has begun"}
		}
		g.begun = true
	case KindReset:
		if err := g.inAnswer(c); err != nil {
			return err
		}
		g.begun, g.open = false, g.open[:0]
	case KindToolStart:
		if c.Name == "" {
			return &GrammarError{c.Kind, "the call has no name"}
		}
		if slices.Contains(g.open, c.Index) {
			return &GrammarError{c.Kind, "a call with this index is open"}
		}
		if err := g.inAnswer(c); err != nil {
			return err
		}
		g.open = append(g.open, c.Index)
	case KindToolDelta:
		if !slices.Contains(g.open, c.Index) {
			return &GrammarError{c.Kind, "no call with this index is open"}
		}
	case KindToolEnd:
		i := slices.Index(g.open, c.Index)
		if i < 0 {
			return &GrammarError{c.Kind, "no call with this index is open"}
		}
		g.open = slices.Delete(g.open, i, i+1)
	case KindProviderCall, KindProviderResult, KindSource, KindFile, KindOpaque:
		if !c.hasContent() {
			return &GrammarError{c.Kind, "Extra.Part lacks what this kind carries"}
		}
		return g.inAnswer(c)
	case KindEnd:
		if err := g.inAnswer(c); err != nil {
			return err
		}
		if len(g.open) > 0 {
			return &GrammarError{c.Kind, "a tool call is open"}
		}
		if c.Extra == nil || c.Extra.Stop == "" {
			return &GrammarError{c.Kind, "the stop reason is missing"}
		}
		g.ended = true
	default:
		return &GrammarError{c.Kind, "this kind is unknown"}
	}
	return nil
}

// Reset forgets everything, for the next call.
func (g *Grammar) Reset() { *g = Grammar{open: g.open[:0]} }

// Complete reports whether End has arrived.
func (g *Grammar) Complete() bool { return g.ended }

func (g *Grammar) inAnswer(c *Chunk) error {
	if !g.begun {
		return &GrammarError{c.Kind, "the answer hasn't begun; Start comes first"}
	}
	return nil
}

// hasContent reports whether a chunk that carries a part has the part that its kind names.
func (c *Chunk) hasContent() bool {
	if c.Extra == nil || c.Extra.Part == nil {
		return false
	}
	p := c.Extra.Part
	switch c.Kind {
	case KindProviderCall:
		return p.Kind == PartProviderCall && p.Call != nil
	case KindProviderResult:
		return p.Kind == PartProviderResult && p.Result != nil
	case KindSource:
		return p.Kind == PartSource && p.Source != nil
	case KindFile:
		return p.Kind == PartMedia && p.Media != nil
	case KindOpaque:
		return p.Opaque != nil
	}
	return false
}
