package serve

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/agui"
)

// aguiRepeated streams what followed answers that were taken before. It is an error if one of them
// was never asked for, or was answered otherwise.
func (s *server) aguiRepeated(w http.ResponseWriter, r *http.Request, g *grant, in *agui.RunInput) *problem {
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	pauses := make(map[string]agent.Pause)
	decided := make(map[string]*machine.Decided)
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.Suspended:
			for _, p := range f.Pause.Flat() {
				pauses[p.ID] = p
			}
		case *machine.Decided:
			decided[f.Decision.ID] = f
		}
	}
	var first uint64
	for i := range in.Resume {
		pause, asked := pauses[in.Resume[i].InterruptID]
		was, ok := decided[pause.ID]
		if !asked || !ok {
			return fail(http.StatusNotFound, CodeUnknown, fault.NotFound,
				"the session has no such interrupt, or not all that are open are answered")
		}
		d, p := resumeDecision(&pause, &in.Resume[i])
		if p != nil {
			return p
		}
		if d.Kind != was.Decision.Kind || string(d.Input) != string(was.Decision.Input) ||
			string(d.Value) != string(was.Decision.Value) {
			return fail(http.StatusConflict, CodeUsed, fault.Invalid, "the interrupt was answered otherwise before")
		}
		if first == 0 || was.Seq < first {
			first = was.Seq
		}
	}
	return s.aguiStream(w, r, g, in, first-1, "", restated(facts, first-1, in))
}

// aguiNewest streams the newest run from its beginning.
func (s *server) aguiNewest(w http.ResponseWriter, r *http.Request, g *grant, in *agui.RunInput) *problem {
	res, err := g.session.Result(r.Context())
	if err != nil {
		return failed(err)
	}
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	return s.aguiStream(w, r, g, in, res.Start-min(res.Start, 1), "", restated(facts, res.Start, in))
}

// restated returns the messages that the client should have before it sees what follows a fact: the
// conversation until then. The client drops all others but its reasoning. Of that, what is streamed
// again is emptied, because the client would add to it.
func restated(facts []agent.Fact, upTo uint64, in *agui.RunInput) []agui.Message {
	facts = until(facts, upTo)
	run, step := "", 0
	if n := len(facts); n > 0 {
		run, step = facts[n-1].Envelope().Run(), facts[n-1].Envelope().Step
	}
	out := append([]agui.Message{}, aguiMessages(machine.Conversation(facts))...)
	for _, m := range in.Messages {
		if m.Role != agui.RoleReasoning {
			continue
		}
		if rest, ok := strings.CutPrefix(m.ID, run+"."); ok { // see aguiMap.part
			number, _, _ := strings.Cut(rest, ".")
			if at, err := strconv.Atoi(number); err == nil && at > step {
				m.Content = agui.Text("")
			}
		}
		out = append(out, m)
	}
	return out
}

// until returns the facts up to a number.
func until(facts []agent.Fact, number uint64) []agent.Fact {
	n := 0
	for n < len(facts) && facts[n].Envelope().Seq <= number {
		n++
	}
	return facts[:n]
}
