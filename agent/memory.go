package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Memory keeps the conversations of an agent within the window of its model: see [memory.Compactor], which prepares each
// model call. Its zero value compacts at 70 % of the window less its reserve, without a model and without a Store.
//
// What a compaction changes is recorded as a [Compacted]; what was said before stays in the log. A conversation that can't
// be made to fit ends the run as failed, with [machine.CodeContext] and a *[memory.ContextTooLargeError]. Whatever else goes wrong
// is a warning ([MemoryWarning]), and the run goes on.
type Memory struct {
	// Config says when a conversation is compacted, and how. A Window without a Size is that of the model which a step asks for,
	// the mode's or the agent's, as [provider.InfoOf] has it when the Agent is made; of a model that isn't known there, that of
	// the agent's, and then of the Provider's own. It isn't that of a model which a hook asks for instead. A nil Counter is an
	// Estimator for the agent's model. Strategies, Store and Asks are shared by all sessions. With a Store the agent has
	// the tool that reads back ([memory.ReadTool]).
	memory.Config
	// Stores returns the Store of a session, so that no session reads what another's put there. It takes the place of Store.
	Stores func(session string) memory.Store
	// NoAsk keeps the Provider from being asked how many tokens a request takes, where it can tell and Config.Asks is nil: see there
	// for when it is asked.
	NoAsk bool
	// SubgoalDone names the tool whose successful call has finished a subgoal: what [memory.OnSubgoal] waits for. Package
	// memory/recall has tools for subgoals, which Config.Subgoals finds with [memory.SubgoalCalls].
	SubgoalDone string

	// Context says what a request says besides the conversation. It is asked when a run begins or goes on, and when a person
	// has said something; in between what it said holds, so that the prompt cache does, too. What it returns is redacted, and
	// recorded with the step. An error, or more text than Limits.PromptBytes, is a warning: what it said before holds, and it is
	// asked again before the next step. Its Goal isn't heeded: that is the input of the run.
	Context func(ctx context.Context, in ContextInput) (memory.Context, error)

	// ProgressNotes have notes written as the conversation grows.
	ProgressNotes []ProgressNotes
	// ContextReset continues the work in a fresh run when the conversation fills the window. Without Rules the conversation is then
	// compacted only where that fails.
	ContextReset *ContextReset

	// OnForget is called when a session's conversation has lost something, to a compaction or a context reset, before its next
	// model call: for what remembers what the model has seen, such as the snapshots of package memory/recall.
	OnForget func(ctx context.Context, session string)
}

// A ContextInput says for which request a context is wanted.
type ContextInput struct {
	Session string
	Run     string
	Mode    string
	Phase   string
	Task    string
	// Text is what the user said last; of a message to a running session at most 4 KiB.
	Text string
}

// MemoryWarning is a note that something went wrong with the memory of a session: a summary that failed, a store that is
// down. The run goes on.
type MemoryWarning struct {
	Meta
	Text string
}

// A memoryConfig is what an agent prepares model calls with; nil without a Config.Memory.
type memoryConfig struct {
	Memory
	windows map[string]int // of the models that modes ask for, where they are known and Config doesn't say; fixed
}

// addMemory checks Config.Memory, before the registry is made: a Store brings a tool with it.
func (a *Agent) addMemory() error {
	if a.cfg.Memory == nil {
		return nil
	}
	g := &memoryConfig{Memory: *a.cfg.Memory}
	info := infoOf(a.cfg.Provider, a.cfg.Params.Model)
	if g.Window.Size == 0 {
		g.Window.Size = info.Window
		g.windows = make(map[string]int)
		for _, m := range a.cfg.Modes {
			if info, ok := provider.InfoOf(a.cfg.Provider, m.Model); ok && m.Model != "" && info.Window > 0 {
				g.windows[m.Model] = info.Window
			}
		}
	}
	if g.Counter == nil {
		g.Counter = memory.NewEstimator(info)
	}
	if g.Asks == nil && !g.NoAsk {
		g.Asks = a.cfg.Provider
	}
	if err := g.addContextReset(); err != nil {
		return err
	}
	if err := g.addProgressNotes(); err != nil {
		return err
	}
	if _, err := memory.New(g.Config); err != nil {
		return &ConfigError{Field: "Memory", Problem: err.Error(), Err: err}
	}
	a.memoryConfig = g
	if (g.Store != nil || g.Stores != nil) && !hasTool(a.cfg.Tools, memory.ReadTool().Name) {
		a.cfg.Tools = append(a.cfg.Tools[:len(a.cfg.Tools):len(a.cfg.Tools)], g.readBack())
	}
	return nil
}

// infoOf returns what is known of the model that p calls by that name, else of p's own.
func infoOf(p provider.Provider, model string) provider.ModelInfo {
	info, ok := provider.InfoOf(p, model)
	if !ok {
		info, _ = provider.Info(p)
	}
	return info
}

// window returns the window for a step that asks for a model.
func (g *memoryConfig) window(model string) memory.Window {
	w := g.Window
	w.Size = cmp.Or(g.windows[model], w.Size)
	return w
}

// hasTool reports whether there is a tool by that name.
func hasTool(list []tools.Tool, name string) bool {
	return slices.ContainsFunc(list, func(t tools.Tool) bool {
		if t == nil {
			return false
		}
		d, err := t.Define()
		return err == nil && d.Name() == name
	})
}

// store returns the Store of a session; nil if there is none.
func (g *memoryConfig) store(session string) memory.Store {
	if g.Stores != nil {
		return g.Stores(session)
	}
	return g.Store
}

// compactor returns the one of a session. A panic of Stores is an error.
func (g *memoryConfig) compactor(session string) (c *memory.Compactor, err error) {
	defer contain(&err)
	cfg := g.Config
	cfg.Store = g.store(session)
	return memory.New(cfg)
}

// readBack returns the tool with which a model reads what was taken out of its conversation.
func (g *memoryConfig) readBack() tools.Tool {
	told := memory.ReadTool()
	return tools.Raw{
		Spec: tools.Spec{Name: told.Name, Description: told.Description, Category: "memory", ReadOnly: true, Schema: told.Schema},
		Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
			session := ""
			if call, ok := tools.CallOf(ctx); ok {
				session = call.Session
			}
			text, err := memory.ReadBack(ctx, g.store(session), input)
			if err != nil {
				return tools.Result{}, err
			}
			return tools.Text(text), nil
		},
	}
}
