package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"github.com/pawlkit/pawl/provider"
)

// Loops checks the requests of recorded tool loops and conversations, and prints a table. If the recorded request of
// exchange i+1 continues that of exchange i, the adapter gets the request that [RequestFrom] makes of exchange i, decodes
// its recorded answer, and gets a second request: the first, with the answer as a message, and the results that were recorded
// in the next. The calls in it have ids as an agent sets them, with the provider's ids in ProviderID. The adapter's second request
// is compared with the recorded one: only the normalized conversation ([Conversation]), without the keys in cfg.Ignore.
// cfg.KnownDeviations has the cases in which the recording program did it differently, with reasons.
func Loops(t *testing.T, cfg Config) {
	t.Helper()
	var tab table
	for _, c := range cfg.cases(t) {
		var steps []step
		for i := range len(c.Exchanges) - 1 {
			if s, ok := cfg.step(c, i); ok {
				steps = append(steps, s)
			}
		}
		if len(steps) == 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var wrong []string
			for _, s := range steps {
				for _, line := range s.judge(t, &cfg) {
					wrong = append(wrong, fmt.Sprintf("request %d: %s", s.i+1, line))
				}
			}
			tab.add(t, c, wrong, cfg.KnownDeviations[c.Name])
		})
	}
	tab.print(t.Name())
	tab.unknown(t, cfg.KnownDeviations)
}

// A step is an exchange whose successor continues with its answer.
type step struct {
	c     *Case
	i     int
	first *provider.Request
	rest  []provider.Message // of the second request, after the answer
}

// step reports whether exchange i+1 continues exchange i.
func (cfg *Config) step(c *Case, i int) (step, bool) {
	first, err := RequestFrom(c, i)
	if err != nil || c.Exchanges[i].Response.Status != 200 {
		return step{}, false
	}
	second, err := RequestFrom(c, i+1)
	n := len(first.Messages)
	if err != nil || len(second.Messages) <= n || second.Messages[n].Role != provider.RoleAssistant {
		return step{}, false
	}
	if !reflect.DeepEqual(first.Messages, second.Messages[:n]) {
		return step{}, false
	}
	return step{c: c, i: i, first: first, rest: second.Messages[n+1:]}, true
}

func (s *step) judge(t testing.TB, cfg *Config) []string {
	answer := cfg.play(t, s.c, s.i)
	if answer.Err != nil {
		return []string{"the answer before it is an error: " + answer.Err.Error()}
	}
	req := s.first.Clone()
	message, names := asAgent(answer.Response.Message())
	req.Messages = append(append(req.Messages, message), named(s.rest, names)...)
	_, asked := cfg.call(t, s.c.Only(s.i+1), req)
	if len(asked) == 0 {
		return []string{"no request was made"}
	}
	got, err := Conversation(s.c.Wire, asked[0].Body, cfg.Ignore...)
	if err != nil {
		return []string{"the adapter's request can't be read:  " + err.Error()}
	}
	recorded, err := s.c.Exchanges[s.i+1].Request.Bytes()
	if err != nil {
		return []string{err.Error()}
	}
	want, err := Conversation(s.c.Wire, recorded, cfg.Ignore...)
	if err != nil {
		return []string{"the recorded request can't be read:  " + err.Error()}
	}
	return compareLists(got, want)
}

// A callName is a call with its id, as an agent sets it.
type callName struct {
	id, provider, tool string
	answered           bool
}

// asAgent sets the ids of the calls of an answer as an agent does.
func asAgent(m provider.Message) (provider.Message, []*callName) {
	var names []*callName
	out := provider.Message{Role: m.Role}
	for _, p := range m.Parts {
		if p.Kind == provider.PartToolCall && p.Call != nil {
			c := *p.Call
			c.ProviderID, c.ID = c.ID, "run.1."+strconv.Itoa(len(names))
			names = append(names, &callName{id: c.ID, provider: c.ProviderID, tool: c.Name})
			p.Call = &c
		}
		out.Parts = append(out.Parts, p)
	}
	return out, names
}

// named makes results refer to calls by the agent's ids: found by the provider's id, else by the tool, in order.
func named(messages []provider.Message, names []*callName) []provider.Message {
	var out []provider.Message
	for _, m := range messages {
		copied := provider.Message{Role: m.Role}
		for _, p := range m.Parts {
			if p.Result != nil {
				r := *p.Result
				for _, n := range names {
					if !n.answered && (n.provider == r.CallID && r.CallID != "" || r.CallID == "" && n.tool == r.Name) {
						r.CallID, r.Name, n.answered = n.id, n.tool, true
						break
					}
				}
				p.Result = &r
			}
			copied.Parts = append(copied.Parts, p)
		}
		out = append(out, copied)
	}
	return out
}

// compareLists returns the differences of two conversations.
func compareLists(got, want []any) []string {
	var d differences
	for i := range max(len(got), len(want)) {
		var g, w any
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		diff(&d, "["+strconv.Itoa(i)+"]", g, w)
	}
	return d
}

func diff(d *differences, path string, got, want any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			for key := range w {
				diff(d, path+"."+key, g[key], w[key])
			}
			for key := range g {
				if _, known := w[key]; !known {
					diff(d, path+"."+key, g[key], nil)
				}
			}
			return
		}
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(w) {
			for i := range w {
				diff(d, path+"["+strconv.Itoa(i)+"]", g[i], w[i])
			}
			return
		}
	}
	if !reflect.DeepEqual(got, want) {
		d.add(path, plain(got), plain(want))
	}
}

func plain(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
