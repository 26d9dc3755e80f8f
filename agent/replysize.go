package agent

import (
	"context"
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A replySize counts a reply for Limits.ReplyBytes.
type replySize struct {
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

// replyLimit returns how many bytes the reply to a request may have; 0: no limit.
func replyLimit(l *Limits, req *provider.Request) int {
	limit := max(l.ReplyBytes, 0)
	if limit > 0 && req.MaxOutput > 0 && req.MaxOutput < limit/bytesPerToken {
		limit = min(limit, max(bytesPerToken*int(req.MaxOutput), leastReply))
	}
	return limit
}

// add counts a chunk. Each counts at least a byte, so that a stream of empty chunks ends, too. At
// the limit it returns a *[LimitError].
func (s *replySize) add(c *provider.Chunk) error {
	if c.Kind == provider.KindReset {
		s.bytes = 0
	}
	s.bytes += len(c.Text) + 1
	if c.Extra != nil && c.Extra.Part != nil {
		s.bytes += len(c.Extra.Part.Text)
	}
	if s.limit == 0 || s.bytes <= s.limit {
		return nil
	}
	s.over = true
	return &LimitError{Limit: machine.LimitReplyBytes, Max: int64(s.limit), Have: int64(s.bytes),
		Note: "the model went on writing, so its reply was cut"}
}

// shorten returns the part of a text that is kept when the model call has failed: the beginning, if
// the reply was cut.
func (s *replySize) shorten(p provider.Part) provider.Part {
	if s.over && len(p.Text) > keptOfReply {
		p.Text = strings.ToValidUTF8(p.Text[:keptOfReply], "") + " …"
	}
	return p
}

// generate makes a model call that isn't a step of a run, and ends it with a *[LimitError] like the
// reply of a step.
func generate(ctx context.Context, p provider.Provider, req *provider.Request, l *Limits) (*provider.Response, error) {
	size := replySize{limit: replyLimit(l, req)}
	return provider.CollectSeq(func(yield func(provider.Chunk, error) bool) {
		seq := p.Stream(ctx, req)
		if seq == nil {
			return
		}
		for c, err := range seq {
			if err == nil && ctx.Err() != nil { // the provider ignores it
				err = context.Cause(ctx)
			}
			if err == nil {
				err = size.add(&c)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	})
}
