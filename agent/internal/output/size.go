package output

import (
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Size counts a reply for Limits.ReplyBytes: text, reasoning, names and inputs of calls, and what
// it cites. The zero Size has no limit.
type Size struct {
	limit int // 0: none
	bytes int
	over  bool
}

const (
	// bytesPerToken is how many bytes of a reply are allowed for each token of its maximum: twice
	// eight, which few texts reach.
	bytesPerToken = 16
	// leastReply is allowed whatever the maximum is.
	leastReply = 4 << 10
	// keptOfReply is how many bytes of a text that exceeds the limit are kept.
	keptOfReply = 16 << 10
)

// SizeOf returns the Size of the reply to a request. It may have limit bytes, and no more than fits
// the request's MaxOutput; without a limit (0 or less) it may have any number.
func SizeOf(req *provider.Request, limit int) Size {
	limit = max(limit, 0)
	if limit > 0 && req.MaxOutput > 0 && req.MaxOutput < limit/bytesPerToken {
		limit = min(limit, max(bytesPerToken*int(req.MaxOutput), leastReply))
	}
	return Size{limit: limit}
}

// Add counts a chunk. Each counts at least a byte, so that a stream of empty chunks ends, too. At
// the limit it returns a *[machine.LimitError].
func (s *Size) Add(c *provider.Chunk) error {
	if c.Kind == provider.KindReset {
		s.bytes = 0
	}
	n := len(c.Text) + len(c.Name)
	if c.Extra != nil && c.Extra.Part != nil {
		n += textOf(c.Extra.Part)
	}
	s.bytes += max(n, 1)
	if s.limit == 0 || s.bytes <= s.limit {
		return nil
	}
	s.over = true
	return &machine.LimitError{Limit: machine.LimitReplyBytes, Max: int64(s.limit), Have: int64(s.bytes),
		Note: "the model went on writing, so its reply was cut"}
}

// textOf returns how many bytes of text a part has: its own, that of the source that it cites, and
// that of a call that the provider makes itself, and of its result.
func textOf(p *provider.Part) int {
	n := len(p.Text)
	if src := p.Source; src != nil {
		n += len(src.ID) + len(src.URL) + len(src.Title) + len(src.Text)
	}
	if c := p.Call; c != nil {
		n += len(c.Name) + len(c.Input) + len(c.Invalid)
	}
	if p.Result != nil {
		for i := range p.Result.Parts {
			n += textOf(&p.Result.Parts[i])
		}
	}
	return n
}

// Exceeded reports whether the reply was cut at the limit.
func (s *Size) Exceeded() bool { return s.over }

// Shorten returns the part of a text that is kept when the model call has failed: the beginning, if
// the reply was cut.
func (s *Size) Shorten(p provider.Part) provider.Part {
	if s.over && len(p.Text) > keptOfReply {
		p.Text = strings.ToValidUTF8(p.Text[:keptOfReply], "") + " …"
	}
	return p
}
