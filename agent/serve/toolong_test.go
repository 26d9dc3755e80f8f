package serve_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestAFileThatIsTooLongDoesNotEndAConversation sends files to a model that takes 4,000 tokens: one
// that is text is cut, and one that isn't is refused before it is recorded. Without Config.Memory
// the run fails. The next message is answered.
func TestAFileThatIsTooLongDoesNotEndAConversation(t *testing.T) {
	text := []byte(strings.Repeat("My order is late. ", 17_000))
	webp := []byte("RIFF\x00\x00\x00\x00WEBPVP8 ")
	for name, mem := range map[string]*agent.Memory{"without memory": nil, "with memory": {}} {
		t.Run(name, func(t *testing.T) {
			model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				if bytesOf(req) > 16_000 {
					return nil, &provider.Error{Class: fault.UserFixable, Status: 400,
						ContextLength: &provider.ContextLength{}}
				}
				return providertest.Say("I see.").Response(), nil
			})
			s := newSiteOf(t, agent.Config{Provider: small{model}, Memory: mem}, serve.Config{})
			send := func(session, file string, data []byte) obj {
				return obj{"session": session, "text": "look", "files": []obj{{"name": file, "data": data}}}
			}

			s.must("ann", "POST", "sessions/send", send("s-1", "order.txt", text), nil)
			info := s.wait("s-1")
			if mem != nil {
				require.Equal(t, agent.Completed, info.Status)
				p := s.refused("ann", "POST", "sessions/send", send("s-2", "order.webp", webp))
				require.Equal(t, []any{422, serve.CodeBad}, []any{p.Status, p.Code})
				require.Contains(t, p.Detail, "there is room for 4000; give smaller files or fewer")
				facts, err := s.agent.Session("s-2").Facts(t.Context())
				require.NoError(t, err)
				require.Empty(t, facts)
				require.Equal(t, []any{422, serve.CodeBad}, chatRefusal(s, "s-2", webp))
			} else {
				require.Equal(t, agent.Failed, info.Status)
				res, err := s.agent.Session("s-1").Result(t.Context())
				require.NoError(t, err)
				require.Equal(t, machine.CodeContext, res.Code)
				s.must("ann", "POST", "sessions/send", send("s-2", "order.webp", webp), nil)
				s.wait("s-2")
			}
			for _, session := range []string{"s-1", "s-2"} {
				for range 2 {
					s.send("ann", session, "hello")
					require.Equal(t, agent.Completed, s.wait(session).Status)
				}
			}
		})
	}
}

// chatRefusal sends a file as useChat does, and returns the status and the code.
func chatRefusal(s *site, session string, data []byte) []any {
	p := s.refused("ann", "POST", "chat", obj{"id": session, "trigger": "submit-message", "messages": []obj{{
		"id": "m-1", "role": "user", "parts": []obj{{"type": "text", "text": "look"}, {"type": "file",
			"mediaType": "image/webp", "filename": "order.webp",
			"url": "data:image/webp;base64," + base64.StdEncoding.EncodeToString(data)}}}}})
	return []any{p.Status, p.Code}
}

// small is a model with a window of 8,000 tokens, of which 4,096 are for the answer, at most half.
type small struct{ provider.Provider }

func (small) Info() provider.ModelInfo { return provider.ModelInfo{ID: "small", Window: 8_000} }

// bytesOf returns how many bytes the messages of a request have.
func bytesOf(req *provider.Request) (n int) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if n += len(p.Text); p.Media != nil {
				n += len(p.Media.Data)
			}
		}
	}
	return n
}
