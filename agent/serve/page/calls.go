package page

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// maxShown is how many bytes of a call's input or result the page is shown. The input in a pause is
// never cut: who approves it has to see it.
const maxShown = 32 << 10

// formatted returns JSON with indents, and everything else as it is.
func formatted(text string) string {
	var out bytes.Buffer
	if s := strings.TrimSpace(text); len(s) < 2 || s[0] != '{' && s[0] != '[' ||
		json.Indent(&out, []byte(s), "", "  ") != nil {
		return text
	}
	return out.String()
}

// clip returns at most maxShown bytes of a text, and how many it leaves out.
func clip(text string) (string, int) {
	shown := cut.Start(text, maxShown)
	return shown, len(text) - len(shown)
}

// call shows a call, with its input.
func (v *View) call(c *provider.ToolCall, meta agent.Meta, status string) Patch {
	shown := &Call{Name: c.Name, Status: status, Invalid: c.Invalid != ""}
	shown.Input, _ = clip(inputOf(c))
	return Patch{Item: &Item{ID: c.ID, Kind: KindCall, Time: meta.Time, Call: shown}}
}

func inputOf(c *provider.ToolCall) string {
	if c.Invalid != "" {
		return c.Invalid
	}
	return formatted(string(c.Input))
}

// part shows a part of a reply that isn't text, if it has what its kind names.
func (v *View) part(p *provider.Part, g string, index int, meta agent.Meta) []Patch {
	it := Item{ID: partID(g, index), Group: g, Order: index, Done: true}
	switch {
	case p.Kind == provider.PartToolCall && p.Call != nil:
		change := v.call(p.Call, meta, "ready")
		change.Item.Group, change.Item.Order = g, index
		return []Patch{change}
	case p.Kind == provider.PartProviderCall && p.Call != nil:
		change := v.call(p.Call, meta, "ok")
		change.Item.ID, change.Item.Group, change.Item.Order = g+"/call/"+p.Call.ID, g, index
		return []Patch{change}
	case p.Kind == provider.PartProviderResult && p.Result != nil:
		shown := &Call{Status: "ok"}
		if p.Result.Error {
			shown.Status = "failed"
		}
		shown.Result, shown.Cut = clip(formatted(p.Result.Text()))
		return []Patch{{Item: &Item{ID: g + "/call/" + p.Result.CallID, Kind: KindCall, Call: shown}}}
	case p.Kind == provider.PartSource && p.Source != nil:
		it.Kind, it.Text, it.URL = KindSource, p.Source.Title, p.Source.URL
	case p.Kind == provider.PartMedia && p.Media != nil:
		it.Kind, it.Files = KindFile, []File{fileOf(p.Media)}
	default:
		return nil
	}
	return []Patch{{Item: &it}}
}

// finished shows the result of a call.
func (v *View) finished(f *agent.ToolFinished) []Patch {
	if f.Call == nil || f.Result == nil {
		return nil
	}
	change := v.call(f.Call, f.Meta, string(f.Result.Status))
	c := change.Item.Call
	c.Took, c.Attempts = f.Took.Milliseconds(), f.Attempts
	c.Result, c.Cut = clip(formatted(f.Result.Text()))
	c.Cut += f.Result.Cut
	c.Undoable = v.undoable(f)
	if f.Result.Exit.Failed() {
		last, _ := display.LastLines(display.Output(f.Result))
		c.Exit = f.Result.Exit.String()
		c.Last, _ = clip(last)
	}
	for i := range f.Result.Parts {
		if m := f.Result.Parts[i].Media; m != nil {
			change.Item.Files = append(change.Item.Files, fileOf(m))
		}
	}
	return []Patch{change}
}

// undoable reports whether the effect of a call can be undone.
func (v *View) undoable(f *agent.ToolFinished) bool {
	var tool Tool
	if v.cfg.Tool != nil {
		tool = v.cfg.Tool(f.Call.Name)
	}
	switch status := f.Result.Status; status {
	case tools.OK, tools.Unverified:
		_, isPlan := plan.Submitted(f.Call.Name, f.Call.Input)
		return isPlan || f.Call.Name == plan.ToolChoose || tool.Undo
	default:
		return status.Ran() && tool.UndoFailed
	}
}

// afterParts is the first Order after those of the parts of a reply.
const afterParts = 1 << 20

// suspended shows pauses. A pause that replaces another one ends that.
func (v *View) suspended(f *agent.Suspended) (out []Patch) {
	for i, p := range f.Pause.Flat() {
		if n := len(p.Replaces); n > 0 {
			out = append(out,
				Patch{Item: &Item{ID: p.Replaces[n-1], Kind: KindPause,
					Decision: &Decision{Kind: "replaced", Time: f.Time}}})
		}
		shown := &Pause{Call: p.Call.ID, Ask: string(p.Kind), Name: p.Call.Name, Title: p.Title,
			Input: inputOf(&p.Call), Reason: p.Reason, For: p.For, Risk: p.Risk, Schema: p.Schema,
			Expires: p.Expires, Always: p.Always, Scope: p.Scope, Scopes: p.Scopes, Preview: p.Preview,
			Refused: p.Refused, Key: p.IdempotencyKey}
		if len(p.Path) > 0 {
			shown.Call = p.Path[0]
		}
		if v.cfg.Tool != nil && len(p.Path) == 0 {
			tool := v.cfg.Tool(p.Call.Name)
			shown.About, shown.Undo = tool.Description, tool.Undo
			if p.Kind == machine.PauseApproval || p.Kind == machine.PauseCorrection {
				shown.Schema = tool.Schema
			}
		}
		if v.cfg.Preview != nil {
			if show := v.cfg.Preview(&p); show != (Preview{}) {
				shown.Show = &show
			}
		}
		if o, ok := plan.Submitted(p.Call.Name, p.Call.Input); ok && p.Kind == machine.PauseApproval {
			shown.Plan = &o
		}
		out = append(out,
			Patch{Item: &Item{ID: p.ID, Kind: KindPause, Group: group(f.Meta), Order: afterParts + int(f.Seq) + i,
				Time: f.Time, Pause: shown}}) //nolint:gosec // far smaller
	}
	return out
}

// plan shows how far a plan is that was submitted with a call.
func (v *View) plan(kind string, value json.RawMessage, meta agent.Meta) []Patch {
	var o plan.Overview
	if kind != plan.EventKind || json.Unmarshal(value, &o) != nil || o.Run == "" {
		return nil
	}
	return []Patch{
		{Item: &Item{ID: "plan " + o.Run, Kind: KindPlan, Group: group(meta), Order: afterParts - 1, Plan: &o}}}
}

// decided shows what was decided on a pause.
func (v *View) decided(f *machine.Decided) []Patch {
	d := &f.Decision
	who := d.User
	if who == "" {
		who = f.By
	}
	return []Patch{{Item: &Item{ID: d.ID, Kind: KindPause, Decision: &Decision{
		Kind: string(d.Kind), Reason: d.Reason, Input: formatted(string(d.Input)), Value: formatted(string(d.Value)),
		Scope: d.Scope, User: who, Time: f.Time,
	}}}}
}

// undone marks the calls whose effects were undone. The end of an undo says what stays.
func (v *View) undone(f *machine.Undone) (out []Patch) {
	var stays []Stay
	for _, c := range f.Calls {
		switch {
		case c.Call == nil:
		case c.Why == "":
			out = append(out, Patch{Item: &Item{ID: c.Call.ID, Kind: KindCall, Call: &Call{Undone: true}}})
		default:
			stays = append(stays, Stay{tools.TitleOf(c.Call.Name, c.Call.Input), c.Why})
		}
	}
	if len(f.Message.Parts) > 0 {
		end := v.notice("undone", f.Meta, "")
		end.Item.Stays, end.Item.By = stays, f.By
		out = append(out, end)
	}
	return out
}
