package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// CutResults cuts big tool results, biggest first, and puts the whole text into the Store, if there
// is one: a handle stands in the text, with which [ReadBack] reads it. Images and other media in
// results are left out where they are big.
type CutResults struct {
	// Over is how many tokens of text, or of media, a result may have; 0: 2,000.
	Over int
	// To is how many tokens are left of a text that is cut; 0: a quarter of Over.
	To int
}

// Name returns "cut results".
func (CutResults) Name() string { return "cut results" }

// Compact cuts results. When the Store fails, it isn't asked again, and the rest stays.
func (s CutResults) Compact(ctx context.Context, v *View) ([]Edit, error) {
	over := s.Over
	if over <= 0 {
		over = 2_000
	}
	to := s.To
	if to <= 0 || to > over {
		to = over / 4
	}
	type found struct {
		group, tokens int
		at            NewResult
	}
	var big []found
	for _, i := range v.Free() {
		if v.Groups[i].Tokens <= over {
			continue
		}
		eachResult(&v.Groups[i], func(m, p int, r *provider.ToolResult) {
			if n := resultTokens(v.Counter, &v.Groups[i], m, r); n > over && !allCut(r) {
				big = append(big, found{i, n, NewResult{Message: m, Part: p}})
			}
		})
	}
	slices.SortStableFunc(big, func(a, b found) int { return cmp.Compare(b.tokens, a.tokens) })
	byGroup := make(map[int]int)
	var edits []Edit
	freed := 0
	for i := range big {
		if freed >= v.Need {
			break
		}
		f := &big[i]
		r := v.Groups[f.group].Messages[f.at.Message].Parts[f.at.Part].Result
		parts, err := cutParts(ctx, v.Counter, v.Store, r.Parts, to)
		if err != nil {
			return edits, err
		}
		saved := f.tokens - v.Counter.CountMessage(&provider.Message{Parts: parts})
		if saved <= 0 { // what says that it was cut takes as much
			continue
		}
		f.at.Parts = parts
		freed += saved
		k, ok := byGroup[f.group]
		if !ok {
			k = len(edits)
			byGroup[f.group] = k
			edits = append(edits, Edit{Group: f.group})
		}
		edits[k].Results = append(edits[k].Results, f.at)
	}
	return edits, nil
}

func eachResult(g *Group, f func(message, part int, r *provider.ToolResult)) {
	for m := range g.Messages {
		for p := range g.Messages[m].Parts {
			if part := &g.Messages[m].Parts[p]; part.Kind == provider.PartToolResult && part.Result != nil {
				f(m, p, part.Result)
			}
		}
	}
}

// resultTokens returns what a result takes: of one alone in its message, what was counted already.
func resultTokens(c Counter, g *Group, message int, r *provider.ToolResult) int {
	if message < len(g.tokens) && len(g.Messages[message].Parts) == 1 {
		return max(g.tokens[message]-perCall, 0)
	}
	return c.CountMessage(&provider.Message{Parts: r.Parts})
}

// allCut reports a result of which this package has made what it is.
func allCut(r *provider.ToolResult) bool {
	for i := range r.Parts {
		if !isCut(&r.Parts[i]) {
			return false
		}
	}
	return len(r.Parts) > 0
}

// filesLeftOut is said where images and other files of a result became their names.
const filesLeftOut = "[The files that are named here were left out to save room.]"

// cutParts returns parts as one text of at most about limit tokens, with a handle to the whole.
// Files that are text are a part of it, others become their names. Of what was cut before, the
// whole is read back, so that there is one handle to it, and not one to what was left of it.
func cutParts(ctx context.Context, c Counter, store Store, parts []provider.Part, limit int) ([]provider.Part, error) {
	text, kept := ResultText(parts), false
	m := mark{}
	if len(parts) == 1 && isCut(&parts[0]) {
		m.Handle = markOf(&provider.Message{Parts: parts}).Handle // of a store that isn't this one
		if store != nil && m.Handle != "" {
			if whole, err := store.Get(ctx, m.Handle); err == nil {
				text, kept = whole, true
			}
		}
	}
	if store != nil {
		m.Handle = HandleOf(text)
	}
	shown := text
	if slices.ContainsFunc(parts, func(p provider.Part) bool { return p.Media != nil && !isText(p.Media) }) {
		shown += "\n" + filesLeftOut
	}
	short, cut := CutText(c, shown, cutNotice(m.Handle, limit), limit)
	if !cut && store != nil {
		m.Handle = ""
	} else if store != nil && !kept {
		if err := store.Put(ctx, m.Handle, text); err != nil {
			return nil, fmt.Errorf("memory: keeping what is cut: %w", err)
		}
	}
	return []provider.Part{markedPart(markCut, short, m)}, nil
}

// cutNotice says what was left out, in few words where there is little room.
func cutNotice(handle string, limit int) string {
	little := limit < 150
	switch {
	case handle == "" && little:
		return "[… %d bytes …]"
	case handle == "":
		return "[… %d bytes were left out here to save room …]"
	case little:
		return "[… %d bytes: memory.read " + handle + " …]"
	}
	return "[… %d bytes were left out here to save room; memory.read with the handle " + handle + " reads them …]"
}

// DropSuperseded replaces the result of a call that was made again later, so that only the newest
// says how things are: a file that was read three times stays once. Calls are the same if tool and
// arguments are. The call itself stays, and so does a result of up to 50 tokens.
type DropSuperseded struct{}

// Name returns "drop superseded".
func (DropSuperseded) Name() string { return "drop superseded" }

const supersededOver = 50 // tokens

const supersededText = "[left out: a later call of the same tool shows how it is now]"

// Compact replaces superseded results. One that failed supersedes nothing.
func (DropSuperseded) Compact(_ context.Context, v *View) ([]Edit, error) {
	later := make(map[string]bool)
	var edits []Edit
	for i := len(v.Groups) - 1; i >= 0; i-- {
		g := &v.Groups[i]
		if g.Kind != KindReply {
			continue
		}
		keys := callKeys(g)
		e := Edit{Group: i}
		eachResult(g, func(m, p int, r *provider.ToolResult) {
			k, ok := keys[r.CallID]
			if ok && later[k] && g.Pinned == "" && !isSuperseded(r) &&
				resultTokens(v.Counter, g, m, r) > supersededOver {
				e.Results = append(e.Results,
					NewResult{Message: m, Part: p, Parts: []provider.Part{markedPart(markCut, supersededText, mark{})}})
			}
		})
		eachResult(g, func(_, _ int, r *provider.ToolResult) {
			if k, ok := keys[r.CallID]; ok && !r.Error {
				later[k] = true
			}
		})
		if len(e.Results) > 0 {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

func isSuperseded(r *provider.ToolResult) bool {
	return len(r.Parts) == 1 && r.Parts[0].Text == supersededText
}

// callKeys returns the keys of a group's calls by their ids.
func callKeys(g *Group) map[string]string {
	keys := make(map[string]string)
	for i := range g.Messages {
		for j := range g.Messages[i].Parts {
			p := &g.Messages[i].Parts[j]
			if p.Kind != provider.PartToolCall || p.Call == nil || p.Call.ID == "" {
				continue
			}
			keys[p.Call.ID] = sameCall(p.Call)
		}
	}
	return keys
}

func sameCall(c *provider.ToolCall) string {
	input := []byte(c.Input)
	if bytes.ContainsAny(input, " \t\r\n") {
		var b bytes.Buffer
		if json.Compact(&b, input) == nil {
			input = b.Bytes()
		}
	}
	return c.Name + "\x00" + string(input) + c.Invalid
}
