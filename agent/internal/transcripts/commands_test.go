package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A command is one of a script.
type command struct {
	w       *world
	name    string
	session string   // its first word, if it is one of a session
	words   []string // what follows
	options map[string]string
	input   string
	p       *process
	s       *agent.Session
}

var options = []string{"on", "by", "key", "mode", "supersede", "accept", "at", "steps", "until", "replaces"}

// do does a command and returns what the transcript shows of it.
func (w *world) do(d *datadriven.TestData) (string, error) {
	c := &command{w: w, name: d.Cmd, options: map[string]string{}, input: d.Input}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 1 && slices.Contains(options, a.Key) {
			c.options[a.Key] = a.Vals[0]
		} else {
			c.words = append(c.words, a.String())
		}
	}
	err := c.do()
	synctest.Wait()
	return w.printed(), err
}

func (c *command) do() error {
	w := c.w
	switch c.name {
	case "tools":
		return w.setTools(c.input)
	case "model":
		return w.setModel(c.input)
	case "config":
		return w.setConfig(c.input)
	case "restart": // the process ends in order, and another takes its place
		delete(w.procs, c.options["on"])
		return nil
	case "advance":
		d, err := time.ParseDuration(c.words[0])
		time.Sleep(d)
		return err
	}
	c.p = w.process(c.options["on"])
	switch c.name {
	case "kill":
		return c.kill()
	case "disconnect", "reconnect":
		c.p.mu.Lock()
		defer c.p.mu.Unlock()
		c.p.cut = c.name == "disconnect"
		return nil
	case "recover":
		n, err := c.p.agent.Recover(context.Background(), agent.Recovery{})
		c.p.print("", "%d sessions recovered", n)
		return err
	case "drain":
		c.returned(c.p.agent.Drain(context.Background()))
		return nil
	}
	if len(c.words) == 0 {
		return fmt.Errorf("%s of which session?", c.name)
	}
	c.session, c.words = c.words[0], c.words[1:]
	if w.main == "" {
		w.main = c.session
	}
	c.s = c.p.agent.Session(c.session)
	if do, ok := runs[c.name]; ok {
		return do(c)
	}
	if do, ok := others[c.name]; ok {
		return do(c, context.Background())
	}
	return fmt.Errorf("no such command: %q", c.name)
}

func (c *command) rest() string { return strings.Join(c.words, " ") }

// returned prints how a function of package agent returned, after all that it led to at once.
func (c *command) returned(err error) {
	synctest.Wait()
	c.p.print("", "%s returned %s", c.name, describe(err))
}

// describe returns the type of an error, and what tells it from others of its type. Texts may
// change.
func describe(err error) string {
	var (
		decision *agent.DecisionError
		stop     *machine.StopError
		session  *agent.SessionError
		limit    *agent.LimitError
		model    *provider.Error
		replaced string
	)
	kind := exported(err)
	switch {
	case err == nil:
		return "no error"
	case errors.As(err, &session):
		return fmt.Sprintf("%s: %s", kind, string(session.Code))
	case errors.As(err, &decision):
		if decision.NewID != "" {
			replaced = " by " + decision.NewID
		}
		return fmt.Sprintf("%s: %s%s", kind, decision.Code, replaced)
	case errors.As(err, &limit):
		return fmt.Sprintf("%s: %s", kind, limit.Limit)
	case errors.As(err, &stop):
		return fmt.Sprintf("%s: %s", kind, stop.Code)
	case errors.As(err, &model):
		return fmt.Sprintf("%s: %s", kind, model.Class)
	}
	return kind
}

// exported returns the name of the first type in the chain of err that isn't private.
func exported(err error) string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if name := reflect.TypeOf(e).String(); !private.MatchString(name) {
			return strings.Replace(name, "*machine.", "*agent.", 1)
		}
	}
	return "an error"
}

var private = regexp.MustCompile(`\.[a-z]|^\*(fmt|errors)\.`)

// kill is "kill", or "kill after tool_started", with how many of them pass before.
func (c *command) kill() error {
	if len(c.words) == 0 {
		c.p.kill()
		return nil
	}
	times := 0
	if n, err := strconv.Atoi(c.words[len(c.words)-1]); err == nil {
		times, c.words = n-1, c.words[:len(c.words)-1]
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.point, c.p.times = c.rest(), times
	return nil
}

// runs are the commands that run an agent.
var runs = map[string]func(*command) error{
	"run":      func(c *command) error { return c.run(c.prompt(), true) },
	"start":    func(c *command) error { return c.run(c.prompt(), false) },
	"stream":   func(c *command) error { return c.stream() },
	"continue": func(c *command) error { return c.run(agent.Continue(c.session), true) },
	"resume": func(c *command) error {
		ds, err := c.decisions()
		if err != nil {
			return err
		}
		return c.run(agent.Resume(c.session, ds...), true)
	},
	"call": func(c *command) error {
		return c.run(agent.CallTool(c.session, c.words[0], json.RawMessage(strings.Join(c.words[1:], " "))), true)
	},
}

func (c *command) prompt() agent.Input {
	return agent.Input{Session: c.session, Prompt: c.rest()}
}

// settings returns work with the settings that the options give.
func (c *command) settings(w agent.Work) agent.Work {
	key, mode, supersede := c.options["key"], c.options["mode"], c.options["supersede"] != ""
	replaces, _ := strconv.ParseUint(c.options["replaces"], 10, 64)
	switch w := w.(type) {
	case agent.Input:
		w.Key, w.Mode, w.Replaces, w.Supersede = key, mode, replaces, supersede
		return w
	case agent.HostCall:
		w.Key, w.Mode, w.Replaces, w.Supersede = key, mode, replaces, supersede
		return w
	case agent.Resumption:
		w.AcceptChanges = c.options["accept"] != ""
		return w
	}
	return w
}

// run runs an input. If wait is set, it waits until the run has ended or paused, or its process is
// dead.
func (c *command) run(in agent.Work, wait bool) error {
	in = c.settings(in)
	done := make(chan struct{})
	c.p.runs.Go(func() {
		defer close(done)
		res, err := c.p.agent.Run(c.p.ctx, in)
		c.finished(res, err)
	})
	if wait {
		select {
		case <-done:
		case <-c.p.dead:
		}
	}
	return nil
}

func (c *command) finished(res *agent.Result, err error) {
	text := ""
	if res != nil && res.Text() != "" {
		text = ", the answer is " + c.w.names.quoted(res.Text())
	}
	c.p.print("", "%s returned %s%s", c.name, describe(err), text)
}

// stream runs a prompt and prints what a reader is shown of replies. With until=kind the reader
// leaves at the first fact of that kind.
func (c *command) stream() error {
	for ev, err := range c.p.agent.Stream(c.p.ctx, c.settings(c.prompt())) {
		switch ev := ev.(type) {
		case nil:
			c.p.print("", "stream ended with %s", describe(err))
		case *agent.TextDelta:
			c.p.print("", "shown: %q", ev.Text)
		case *agent.Reset:
			c.p.print("", "reset: what was shown of the reply is void")
		}
		if f, ok := ev.(agent.Fact); ok && machine.Record(f).Kind == c.options["until"] {
			c.p.print("", "the reader leaves")
			break
		}
	}
	return nil
}

// decisions reads "approve p-1 + reject p-2 for a reason".
func (c *command) decisions() (ds []agent.Decision, err error) {
	for text := range strings.SplitSeq(c.rest(), " + ") {
		kind, rest, _ := strings.Cut(text, " ")
		name, what, _ := strings.Cut(rest, " ")
		id := c.w.names.id(name)
		var d agent.Decision
		switch kind {
		case "approve":
			d = agent.Approve(id)
		case "reject":
			d = agent.Reject(id, what)
		case "edit":
			d = agent.Edit(id, json.RawMessage(what))
		case "suggest":
			d = agent.Suggest(id, what)
		case "answer":
			d = agent.Answer(id, json.RawMessage(what))
		case "always":
			d = agent.AllowAlways(id).For(what)
		default:
			return nil, fmt.Errorf("no such decision: %q", kind)
		}
		ds = append(ds, d.By(c.options["by"]))
	}
	return ds, nil
}
