package transcripts

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// parseReply reads a line of the command model.
func parseReply(text string) (providertest.Step, error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	next := func() (word string) {
		word, rest, _ = strings.Cut(rest, " ")
		return word
	}
	switch kind {
	case "say":
		return providertest.Say(rest), nil
	case "call":
		var calls []providertest.CallSpec
		for c := range strings.SplitSeq(rest, " + ") {
			name, input, _ := strings.Cut(strings.TrimSpace(c), " ")
			calls = append(calls, providertest.CallSpec{Tool: name, Input: input})
		}
		return providertest.Calls(calls...), nil
	case "unfit":
		s, err := parseReply(rest)
		return providertest.Unfit(s), err
	case "refuse":
		return providertest.Refuse(rest), nil
	case "empty":
		return providertest.Empty(), nil
	case "hang":
		return providertest.Hang(), nil
	case "fail":
		return providertest.Fail(class(rest)), nil
	case "too-long":
		limit, err := strconv.Atoi(next())
		if err != nil {
			return providertest.Step{}, err
		}
		size, err := strconv.Atoi(next())
		return providertest.FailWith(&provider.Error{Class: fault.UserFixable, Status: 400,
			ContextLength: &provider.ContextLength{Limit: limit, Size: size}}), err
	case "fail-after", "cut-after":
		n, err := strconv.Atoi(next())
		if err != nil {
			return providertest.Step{}, err
		}
		of := fault.None
		if kind == "fail-after" {
			of = class(next())
		}
		s, err := parseReply(rest)
		if kind == "cut-after" {
			return providertest.Cut(n, s), err
		}
		return providertest.FailAfter(n, s, of), err
	case "full":
		s, err := parseReply(rest)
		return providertest.Stop(provider.StopLength, s), err
	case "slow":
		d, err := time.ParseDuration(next())
		if err != nil {
			return providertest.Step{}, err
		}
		s, err := parseReply(rest)
		return providertest.Slow(d, s), err
	}
	return providertest.Step{}, fmt.Errorf("no such reply: %q", kind)
}

// class returns the class with that name.
func class(name string) fault.Class {
	var c fault.Class
	if err := json.Unmarshal([]byte(strconv.Quote(name)), &c); err != nil {
		panic(err)
	}
	return c
}

// noReply is printed if the model is called after its last reply. No script may have it.
const noReply = "model: no reply is left"

// A script is what the model replies, whatever process or agent asks.
type script struct {
	mu    sync.Mutex
	steps []providertest.Step
}

// A model is the script as an agent of a process reaches it. It prints the requests.
type model struct {
	*script
	p     *process
	agent string
}

func (m model) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		var b line
		messages := "messages"
		if len(req.Messages) == 1 {
			messages = "message"
		}
		b.add("model%s: %d %s,", m.agent, len(req.Messages), messages)
		if len(req.Tools) == 0 {
			b.add("no tools")
		} else {
			b.add("tools")
		}
		for _, t := range req.Tools {
			b.add("%s", t.Name)
		}
		m.p.print("", "%s", b)
		if m.p.at("during model") {
			yield(provider.Chunk{}, errDead)
			return
		}
		m.mu.Lock()
		step := providertest.Fail(fault.Permanent)
		if len(m.steps) > 0 {
			step, m.steps = m.steps[0], m.steps[1:]
		} else {
			m.p.print("", noReply)
		}
		m.mu.Unlock()
		providertest.Script(step).Stream(ctx, req)(yield)
	}
}
