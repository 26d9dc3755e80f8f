package assistant

import (
	"context"
	"regexp"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
)

var (
	// declines finds a message that begins with a no: "no", "hm, rather not", "nein danke".
	declines = regexp.MustCompile(`(?i)^\W*(?:(?:hm+|oh|ok|okay|well|sorry)\W+)*` +
		`(?:no|nope|nah|nein|never ?mind|rather not|leave it|lieber nicht|lass es)\b`)
	// bareNo finds a message that says nothing but no.
	bareNo = regexp.MustCompile(declines.String() + `(?:\W+(?:thanks|thank you|please|danke|bitte))*\W*$`)
	// decides finds a message that says itself what becomes of a proposal.
	decides = regexp.MustCompile(`(?i)\b(?:accept|reject|keep|take|annehmen|ablehnen|behalten)`)
	// offersReject finds the artifact of the option that rejects a proposal.
	offersReject = regexp.MustCompile(`^Reject the proposal \(artifact ([0-9a-f-]{36})\)$`)
)

// declined returns the call that rejects a proposal: the answer before the message has offered it,
// and the message is a no. nil: it isn't. A real model reads what is more than that.
func (r *router) declined(ctx context.Context, t turn) (*reply, error) {
	if !declines.MatchString(t.message) || decides.MatchString(t.message) ||
		r.cfg.Real && !bareNo.MatchString(t.message) {
		return nil, nil
	}
	for _, o := range t.offered {
		m := offersReject.FindStringSubmatch(o.Message)
		if m == nil {
			continue
		}
		p, err := r.Store.Proposal(ctx, t.user, m[1])
		if p == nil || err != nil {
			return nil, err
		}
		in := map[string]any{"artifactId": m[1], "accept": false}
		return &reply{name: contenttools.DecideProposal, input: in}, nil
	}
	return nil, nil
}
