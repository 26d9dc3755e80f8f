package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// prompt is what a run of a script is asked.
func prompt(script string) string { return "run " + script }

// model says what the script of the run says, whichever process asks. It knows the script and the
// step by the conversation.
func (p *process) model() provider.Provider {
	return providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		name, step := "", 0
		for i := range req.Messages {
			switch m := &req.Messages[i]; m.Role {
			case provider.RoleUser:
				if s, ok := strings.CutPrefix(m.Text(), prompt("")); ok {
					name, step = strings.Fields(s)[0], 0
					if _, resets, ok := strings.Cut(s, "[Context reset "); ok {
						step, _ = strconv.Atoi(strings.Split(resets, ".")[0]) // what was done isn't done again
					}
				}
			case provider.RoleAssistant:
				if step++; p.program.has("memory") { // some were left out
					step = p.reached(name, m, step-1)
				}
			}
		}
		p.asked(name, req)
		key, n := p.count("model %s %d", name, step)
		chance := p.draw(p.name, key, n) % 100
		most := 1500 * time.Millisecond
		if chance >= 95 {
			most = 20 * time.Second
		}
		if err := p.wait(ctx, 1+p.within(most, p.name, key, "time", n)); err != nil {
			return nil, err
		}
		busy := uint64(5)
		if p.program.queues() {
			busy = 12
		}
		switch {
		case chance < busy:
			return nil, fault.New(fault.Transient, "the model is busy")
		case chance < busy+1:
			return nil, fault.New(fault.Permanent, "the model is gone")
		}
		script := p.program.scripts[name]
		if step >= len(script) || len(req.Tools) == 0 {
			return providertest.Say("done " + name).Response(), nil
		}
		var calls []providertest.CallSpec
		for _, c := range script[step] {
			spec := providertest.CallSpec{Tool: c.tool, Input: order{c.n}}
			if c.task != "" {
				spec.Input = agent.Task{Task: prompt(c.task)}
			}
			calls = append(calls, spec)
		}
		return providertest.Calls(calls...).Response(), nil
	})
}

// reached returns the step that follows a message with the calls of a step; known without one.
func (p *process) reached(name string, m *provider.Message, known int) int {
	for i, calls := range p.program.scripts[name] {
		for _, said := range m.Calls() {
			for _, c := range calls {
				if c.tool == said.Name && (c.task == "" && string(said.Input) == fmt.Sprintf(`{"n":%d}`, c.n) ||
					c.task != "" && strings.Contains(string(said.Input), prompt(c.task)+`"`)) {
					return i + 1
				}
			}
		}
	}
	return known
}

// asked compares a request with the one before it of the same run: messages are only appended, in
// whatever process.
func (p *process) asked(run string, req *provider.Request) {
	var now []string
	for i := range req.Messages {
		data, err := json.Marshal(req.Messages[i])
		if err != nil {
			p.fail("a message can't be encoded: %v", err)
		}
		now = append(now, string(data))
	}
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if p.dead() || p.program.has("memory") {
		return
	}
	if open := unmarked(req); open != "" {
		p.failLocked("a request of run %s has the prompt %q, which was neither answered nor is marked", run, open)
	}
	before := p.requests[run]
	for i := range min(len(before), len(now)) {
		if now[i] == before[i] {
			continue
		}
		if !p.deletes() { // else it may be another session by that name
			p.failLocked("message %d of a request of run %s was %s, and is %s", i, run, before[i], now[i])
		}
		before = nil
		break
	}
	if len(now) > len(before) || before == nil { // else a process that has lost the session asks what was asked before
		p.requests[run] = now
	}
}

// unmarked returns a prompt that a model would carry out although its run is over: one before the
// newest that has no answer, and no mark that says so before the next prompt.
func unmarked(req *provider.Request) string {
	open := ""
	for i := range req.Messages {
		m := &req.Messages[i]
		text := m.Text()
		switch {
		case m.Role == provider.RoleAssistant && strings.HasPrefix(text, "done "):
			open = ""
		case m.Role != provider.RoleUser:
		case strings.HasPrefix(text, prompt("")):
			if open != "" {
				return open
			}
			open = text
		case strings.HasPrefix(text, "Note: ") && open != "" && strings.Contains(text, fmt.Sprintf("(%q)", open)):
			open = ""
		}
	}
	return ""
}
