package consenttest

import (
	"context"
	"net/http"
	"strings"
)

// A Prompted is a server of chat completions that makes the call of [Prompted.Calls] whose key is
// in the newest message of the person, and then says Done. Without such a call, it says at once
// that nothing is changed. Asked what the person wants of a call, it says that they request it. It
// is safe for concurrent use.
type Prompted struct {
	Calls map[string]Call
	End   string // see [Speaker]
	// Judge answers what the person wants of a call instead; empty: no answer comes.
	Judge func(ctx context.Context) string
	Write func(system, prompt string) string // see [Speaker]
}

// ServeHTTP answers a request.
func (p *Prompted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve(w, r, func(messages []message, step bool) reply {
		last := messages[len(messages)-1]
		switch {
		case !step && judges(messages) && p.Judge != nil:
			return reply{said: p.Judge(r.Context())}
		case !step && judges(messages):
			return reply{said: "requests"}
		case !step && p.Write != nil:
			return reply{said: p.Write(messages[0].text(), last.text())}
		case !step:
			return reply{said: "As you like."}
		case last.Role != "user":
			return answered(p.End, "Done.")
		}
		for key, call := range p.Calls {
			if strings.Contains(last.text(), key) {
				return reply{call: call}
			}
		}
		return answered(p.End, "Nothing is changed.")
	})
}
