package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Memory keeps the conversations of an agent within the window of its model: see
// [memory.Compactor], which prepares each model call. Its zero value compacts at 70 % of the window
// less its reserve, without a model and without a Store.
//
// A compaction is recorded as a [machine.Compacted]; the original conversation stays in the log. If
// a conversation can't be made to fit, the run fails with [machine.CodeContext] and a
// *[memory.ContextTooLargeError]. If the provider refuses a request for its length, the
// conversation is compacted once to 60 % of what the model takes, as the refusal says, and the call
// is made again; a second refusal ends the run with a *[ContextLengthError]. Without Config.Memory
// the first refusal does. Other problems are warnings ([MemoryWarning]), and the run continues.
//
// Long texts are cut, also those of files whose type is a text's. An input whose images and other
// files alone don't fit is refused before anything is recorded: the error is an *[ArgError] with a
// *[memory.ContextTooLargeError]. What a run brought in that has failed because its request was too
// long isn't sent again, with or without Config.Memory: the next run replaces its input, the
// messages sent to it, its replies and results by a note to the model, with a [machine.Compacted].
// [Session.Messages] still has them.
type Memory struct {
	// Config says when a conversation is compacted, and how. If Window.Size is 0, it is that of the
	// model of a step (the mode's or the agent's) according to [provider.InfoOf] when the Agent is
	// made; for an unknown model, that of the agent's model, then that of the Provider's default
	// model. A model that a hook sets doesn't change it. A nil Counter is an Estimator for the
	// agent's model. If ResultShare is 0, it is a quarter. Strategies, Store and Asks are shared by
	// all sessions.
	//
	// The agent gets the tool [memory.ReadTool], which reads from the Store, and the results of the
	// session's own calls from its log. So a result that is cut because it takes more than
	// ResultShare of the window stays readable without a Store, until the session is pruned.
	memory.Config
	// Stores returns the Store of a session, so that sessions don't share one. It overrides Store.
	Stores func(session string) memory.Store
	// NoAsk prevents that the Provider is asked for the number of tokens of a request if
	// Config.Asks is nil.
	NoAsk bool
	// SubgoalDone names the tool whose successful call completes a subgoal, for [memory.OnSubgoal].
	// Package memory/recall has tools for subgoals, which Config.Subgoals finds with
	// [memory.SubgoalCalls].
	SubgoalDone string

	// Context returns what a request contains besides the conversation. It is called when a run
	// starts or is resumed, and after each message of a user; in between its last value is used,
	// which keeps the prompt cache valid. Screen and Fetched are only at the user's newest message,
	// so the prompt from there on is read anew when the user writes again. The value is redacted
	// and recorded with the step. An error, or more text than Limits.PromptBytes, is a warning: the
	// last value is used, and Context is called again before the next step. Goal is ignored: it is
	// the input of the run.
	Context func(ctx context.Context, in ContextInput) (memory.Context, error)

	// ProgressNotes have notes written as the conversation grows.
	ProgressNotes []notes.Progress
	// ContextReset continues the work in a new run when the conversation fills the window. Without
	// Rules, the conversation is then compacted only if that fails.
	ContextReset *notes.ContextReset
}

// A ContextInput describes the request for which Memory.Context is called.
type ContextInput struct {
	Session string
	Run     string
	Mode    string
	Phase   string
	Task    string
	// Text is the user's newest message. A message to a running session is cut to 4 KiB.
	Text string
}

// MemoryWarning is a note about a problem with the memory of a session, for example a summary that
// failed. The run continues.
type MemoryWarning struct {
	NoteMeta
	Text string `json:"text"`
}

// A memoryConfig is Config.Memory with the values that New derives from it.
type memoryConfig struct {
	Memory
	agent   *Agent
	learned sync.Map // how many tokens a model takes, by its name, as a refusal said
	sized   bool     // Config says the size of the window
}

// addMemory checks Config.Memory, before the registry is made: a Store brings a tool with it.
func (a *Agent) addMemory() error {
	if a.cfg.Memory == nil {
		return nil
	}
	g := &memoryConfig{Memory: *a.cfg.Memory, agent: a}
	info, ok := provider.InfoOf(a.cfg.Provider, a.cfg.Params.Model)
	if !ok {
		info, _ = provider.Info(a.cfg.Provider)
	}
	if g.ResultShare == 0 {
		g.ResultShare = .25
	}
	if g.sized = g.Window.Size != 0; !g.sized {
		g.Window.Size = info.Window
	}
	if g.Counter == nil {
		g.Counter = memory.NewEstimator(info)
	}
	if g.Asks == nil && !g.NoAsk {
		g.Asks = a.cfg.Provider
	}
	if err := g.addNotes(); err != nil {
		return err
	}
	if _, err := memory.New(g.Config); err != nil {
		return &ArgError{Field: "Config.Memory", Problem: err.Error(), Err: err}
	}
	a.memoryConfig = g
	if name := memory.ReadTool().Name; !slices.ContainsFunc(a.cfg.Tools, func(t tools.Tool) bool {
		if t == nil {
			return false
		}
		d, err := t.Define()
		return err == nil && d.Name() == name
	}) {
		a.cfg.Tools = append(a.cfg.Tools[:len(a.cfg.Tools):len(a.cfg.Tools)], g.readBack())
	}
	return nil
}

// window returns the window for a step that asks for a model.
func (g *memoryConfig) window(model string) memory.Window {
	w := g.Window
	if info := infoOf(g.agent.provider, model); !g.sized && model != "" {
		w.Size = cmp.Or(info.Window, w.Size)
	}
	if n, ok := g.learned.Load(model); ok && (w.Size == 0 || n.(int) < w.Size) {
		w.Size = n.(int)
	}
	return w
}

// store returns the Store of a session; nil if there is none.
func (g *memoryConfig) store(session string) memory.Store {
	if g.Stores != nil {
		return g.Stores(session)
	}
	return g.Store
}

// compactor returns the one of a session. A panic of Stores is an error.
func (g *memoryConfig) compactor(name string) (c *memory.Compactor, err error) {
	defer contain.Panic(&err)
	cfg := g.Config
	if cfg.Store = g.store(name); cfg.Store == nil && cfg.Whole == nil {
		cfg.Whole = logged{g.agent, name}
	}
	return memory.New(cfg)
}

// readBack returns the tool with which a model reads what a compaction moved to the store.
func (g *memoryConfig) readBack() tools.Tool {
	def := memory.ReadTool()
	return tools.Raw{
		Spec: tools.Spec{Name: def.Name, Description: def.Description, Category: "memory", ReadOnly: true,
			Schema: def.Schema},
		Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
			call, _ := tools.CallOf(ctx)
			text, err := memory.ReadBack(ctx, logged{g.agent, call.Session}, input)
			if err != nil {
				return tools.Result{}, err
			}
			m, err := g.agent.sessions.Load(ctx, call.Session)
			res := tools.Text(text)
			res.Outside = err != nil || m.State().HadOutside
			return res, nil
		},
	}
}

// addNotes checks Memory.ProgressNotes and Memory.ContextReset and sets their defaults.
func (g *memoryConfig) addNotes() error {
	g.ProgressNotes = slices.Clone(g.ProgressNotes)
	known := make(map[string]bool)
	for i := range g.ProgressNotes {
		p, err := g.ProgressNotes[i].WithDefaults()
		if err == nil && known[p.Category] {
			err = fmt.Errorf("the category %q is used twice", p.Category)
		}
		if err != nil {
			return &ArgError{Field: fmt.Sprintf("Config.Memory.ProgressNotes[%d]", i), Problem: err.Error(), Err: err}
		}
		g.ProgressNotes[i], known[p.Category] = p, true
	}
	if g.ContextReset == nil {
		return nil
	}
	r, err := g.ContextReset.WithDefaults()
	if err != nil {
		return &ArgError{Field: "Config.Memory.ContextReset", Problem: err.Error(), Err: err}
	}
	if g.Rules == nil {
		g.Rules = []memory.Rule{} // reset the context instead of compacting
	}
	g.ContextReset = &r
	return nil
}

// logged reads back what a compaction took out of a session: from its memory.Store, and results
// from the session's log, which has them whole. It stands in for a Store where none is configured,
// and then keeps nothing itself.
type logged struct {
	agent   *Agent
	session string
}

// Put does nothing: the log has the result already.
func (s logged) Put(context.Context, string, string) error { return nil }

// Get returns the text that has the handle.
func (s logged) Get(ctx context.Context, handle string) (string, error) {
	err := fault.Errorf(fault.NotFound, "agent: the session has no text with the handle %q", handle)
	if store := s.agent.memoryConfig.store(s.session); store != nil {
		text, failed := store.Get(ctx, handle)
		if failed == nil || fault.Of(failed) != fault.NotFound {
			return text, failed
		}
		err = failed
	}
	facts, failed := s.agent.sessions.Facts(ctx, s.session, 0, 0)
	if failed != nil {
		return "", failed
	}
	for i := len(facts) - 1; i >= 0; i-- {
		if f, ok := facts[i].(*machine.ToolFinished); ok {
			if text := memory.ResultText(f.Result.Parts); memory.HandleOf(text) == handle {
				return text, nil
			}
		}
	}
	return "", err
}
