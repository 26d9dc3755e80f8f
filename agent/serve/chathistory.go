package serve

import (
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// chatHistory returns the conversation that facts record as messages of useChat: for each run its
// input and one message of the agent, and the same for each message that was sent to it while it
// was in progress. Runs that were replaced aren't among them.
func chatHistory(facts []agent.Fact) []*uimessage.Message {
	before, rest := display.Current(facts)
	out := fromMessages("h", before)
	var c *chatMap
	answer := func(input *uimessage.Message, t turn) {
		m := &uimessage.Message{Role: "assistant", Parts: []uimessage.Part{}}
		c = newChatMap(uimessage.NewWriter(m.Apply, uimessage.V7Late).Write)
		c.follow(t)
		out = append(out, input, m)
	}
	for _, f := range rest {
		switch f := f.(type) {
		case *agent.RunStarted:
			if f.ContextReset != nil && c != nil {
				break
			}
			out = append(out, fromMessages(f.Run()+"-h", f.History)...)
			input := &uimessage.Message{}
			if f.Call == nil {
				input = userMessage("u-"+f.Run(), &f.Message)
			}
			answer(input, turn{id: f.Run(), run: f.Run(), from: f.Seq, runs: true})
		case *machine.Steered:
			id := steeredID(f)
			answer(userMessage("u-"+id, &f.Message), turn{id: id, run: f.Run(), from: f.Seq})
		}
		if c != nil {
			_ = c.event(f) // what the writer refuses isn't part of the message
		}
	}
	kept := out[:0]
	for _, m := range out {
		if len(m.Parts) > 0 {
			kept = append(kept, m)
		}
	}
	return kept
}

// userMessage returns a user's message.
func userMessage(id string, m *provider.Message) *uimessage.Message {
	out := &uimessage.Message{ID: id, Role: "user", Parts: []uimessage.Part{}}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case provider.PartText:
			out.Parts = append(out.Parts, uimessage.Part{Type: "text", Text: p.Text})
		case provider.PartMedia:
			out.Parts = append(out.Parts,
				uimessage.Part{Type: "file", MediaType: p.Media.Type, Filename: p.Media.Name, URL: mediaURL(p.Media)})
		}
	}
	return out
}

// fromMessages returns messages of which no facts are left: those of a session that was pruned, or
// that began elsewhere.
func fromMessages(prefix string, messages []provider.Message) (out []*uimessage.Message) {
	var c *chatMap
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case provider.RoleUser:
			c = nil
			out = append(out, userMessage(fmt.Sprint(prefix, "-", i), m))
			continue
		case provider.RoleAssistant:
			if c == nil {
				to := &uimessage.Message{ID: fmt.Sprint(prefix, "-", i), Role: "assistant", Parts: []uimessage.Part{}}
				c = newChatMap(uimessage.NewWriter(to.Apply, uimessage.V7Late).Write)
				c.run = to.ID
				out = append(out, to)
			}
			_ = c.beginStep() // what the writer refuses isn't part of the message
			_ = c.reply(m)
		case provider.RoleTool:
			for j := range m.Parts {
				if res := m.Parts[j].Result; res != nil && c != nil {
					_ = c.result(res)
				}
			}
		}
	}
	return out
}
