package transcripts

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A world is what a script acts on: one store, one model, and processes.
type world struct {
	t      testing.TB
	store  *journal.MapStore
	names  *names
	script script
	all    []*process // also those that were killed
	procs  map[string]*process

	// of the processes that start from now on
	tools  []*toolSpec
	config agent.Config

	mu    sync.Mutex
	main  string // the session that facts are of, unless they say so
	lines []string
}

func newWorld(t testing.TB) *world {
	return &world{t: t, store: &journal.MapStore{}, names: newNames(), procs: map[string]*process{}}
}

// print adds a line to the transcript. Lines of a process that has a name begin with it, and lines
// of another session than the script's first have the name of that session.
func (w *world) print(process, session, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if session != "" && session != w.main {
		text = session + ": " + text
	}
	if process != "" {
		text = process + ": " + text
	}
	w.lines = append(w.lines, w.names.in(text))
}

// printed returns the lines that came since the last time.
func (w *world) printed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.lines, "\n")
	w.lines = nil
	return out
}

// process returns the process with a name; "" is that of scripts with a single one. A process that
// was killed is replaced by a new one.
func (w *world) process(name string) *process {
	p := w.procs[name]
	if p == nil || p.isDead() {
		p = w.newProcess(name)
		w.procs[name] = p
		w.all = append(w.all, p)
	}
	if p.agent == nil {
		p.agent = w.agent(p, "")
	}
	return p
}

// agent makes the agent with a name, a subagent, or the one that has no name.
func (w *world) agent(p *process, name string) *agent.Agent {
	cfg := w.config
	cfg.Name, cfg.Journal, cfg.Provider = name, store{w.store, p}, model{&w.script, p, ""}
	if name != "" {
		cfg.Provider = model{&w.script, p, " of " + name}
		cfg.Memory, cfg.Modes = nil, nil
	}
	for _, t := range w.tools {
		switch {
		case t.attrs["of"] != name:
		case t.has("agent"):
			spec := tools.Spec{Name: t.name, Description: "An agent."}
			cfg.Tools = append(cfg.Tools, agent.AsTool(w.agent(p, t.name), spec))
		default:
			cfg.Tools = append(cfg.Tools, t.tool(p))
		}
	}
	a, err := agent.New(cfg)
	require.NoError(w.t, err)
	return a
}

// close ends all processes and waits for what runs in them.
func (w *world) close() {
	for _, p := range w.all {
		p.end()
		p.runs.Wait()
	}
}

// setTools is the command tools.
func (w *world) setTools(input string) error {
	w.tools = nil
	for l := range strings.Lines(input) {
		t, err := parseTool(l)
		if err != nil {
			return err
		}
		w.tools = append(w.tools, t)
	}
	return nil
}

// setModel is the command model: it adds replies.
func (w *world) setModel(input string) error {
	var steps []providertest.Step
	for l := range strings.Lines(input) {
		s, err := parseReply(strings.TrimSpace(l))
		if err != nil {
			return err
		}
		steps = append(steps, s)
	}
	w.script.mu.Lock()
	defer w.script.mu.Unlock()
	w.script.steps = append(w.script.steps, steps...)
	return nil
}

// setConfig is the command config.
func (w *world) setConfig(input string) error {
	for l := range strings.Lines(input) {
		key, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch key {
		case "in-doubt":
			w.config.InDoubt = agent.AskInDoubt
			if rest == "tell" {
				w.config.InDoubt = agent.TellInDoubt
			}
		case "limits":
			if err := setLimits(&w.config.Limits, rest); err != nil {
				return err
			}
		case "modes":
			for name := range strings.FieldsSeq(rest) {
				w.config.Modes = append(w.config.Modes, agent.Mode{Name: name})
			}
		case "deny", "ask", "permit":
			w.config.Policies = append(w.config.Policies, policy(key, rest))
		case "grants":
			p, h := grants(rest)
			w.config.Policies, w.config.Hooks = append(w.config.Policies, p), append(w.config.Hooks, h)
		case "expires":
			d, err := time.ParseDuration(rest)
			if err != nil {
				return err
			}
			w.config.PauseExpires = d
		case "window":
			var size int
			if _, err := fmt.Sscan(rest, &size); err != nil {
				return err
			}
			w.config.Memory = &agent.Memory{Config: memory.Config{Window: memory.Window{Size: size, Reserve: size / 10},
				Steps: []memory.Step{{Strategy: memory.Slide{}}}, Keep: 1}, NoAsk: true}
		case "redact":
			w.config.Redact = func(s string) string { return strings.ReplaceAll(s, rest, "[redacted]") }
		case "hook":
			w.config.Hooks = append(w.config.Hooks, hook(rest))
		default:
			return fmt.Errorf("config has no %q", key)
		}
	}
	return nil
}
