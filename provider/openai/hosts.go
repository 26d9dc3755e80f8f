package openai

import (
	"net/url"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/servers"
)

// A host is the server that a Model calls.
type host struct {
	servers.Server // its zero value with other defaults, if the server isn't known

	name string // of the provider
	own  bool   // OpenAI itself
	home bool   // the address is the server's own
}

// hostOf returns the server at u, or, with a name, that server, which may be behind a gateway at u.
// A server that isn't known may need no key, and gets requests in the most common form.
func hostOf(u *url.URL, named *servers.Server) host {
	h := host{name: strings.ToLower(u.Hostname())}
	h.Keyless, h.Chat.TopK = true, true
	at := servers.At(h.name)
	s := at
	if named != nil {
		s = named
	}
	if s == nil {
		return h
	}
	h.Server, h.own, h.home = *s, s.Name == "openai", s == at
	switch {
	case h.own, len(s.Hosts) == 0:
		h.name = s.Name
	case !h.home && !s.URLIsExample:
		h.name = s.Hosts[0] // the same name with a gateway as without: it marks opaque data
	}
	return h
}

// needsKey reports whether a call without a key is sure to fail: a gateway may have one of its own.
func (h *host) needsKey() bool { return h.home && !h.Keyless }

// callIDs returns what makes ids of calls that the server accepts; nil: it accepts any.
func (h *host) callIDs() func(id string) string {
	switch {
	case h.Chat.ShortIDs:
		return shortIDs
	case h.Chat.NineCharIDs:
		return nineCharIDs
	}
	return nil
}

// isReasoningModel reports whether a model of OpenAI reasons, judging by its name. Such models take
// the instructions as the developer's, and return encrypted reasoning; others reject a request for
// that.
func isReasoningModel(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	model = strings.TrimPrefix(model, "ft:")
	if len(model) > 1 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9' {
		return true
	}
	version, ok := strings.CutPrefix(model, "gpt-")
	return strings.HasPrefix(model, "codex-") || ok && len(version) > 0 && version[0] >= '5' && version[0] <= '9' &&
		!strings.Contains(model, "-chat")
}

// supportsEncryptedReasoning reports whether a model can return encrypted reasoning: all but those
// known not to reason.
func supportsEncryptedReasoning(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	return isReasoningModel(model) || !strings.HasPrefix(model, "gpt-") && !strings.HasPrefix(model, "chatgpt-") &&
		!strings.HasPrefix(model, "ft:gpt-")
}
