package approvals

import (
	"errors"
	"net/http"

	"github.com/pawlkit/pawl/agent/internal/request"
)

// A proposal is the body of a request that decides.
type proposal struct {
	Session string `json:"session"`
	request.Decision
}

// readProposal reads the body of a request as strict JSON.
func readProposal(w http.ResponseWriter, r *http.Request, most int64) (*proposal, *problem) {
	if err := request.DeclaredJSON(r); err != nil {
		return nil, fail(http.StatusUnsupportedMediaType, CodeMediaType, "%v", err)
	}
	raw, err := request.ReadBody(w, r, most)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil,
			fail(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body has more than %d bytes", tooLarge.Limit)
	}
	if errors.Is(err, request.ErrSlow) {
		return nil, fail(http.StatusRequestTimeout, CodeSlow, "%v", err)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, CodeMalformed, "the body couldn't be read to its end")
	}
	var p proposal
	if err := request.Decode(raw, &p); err != nil {
		return nil, fail(http.StatusBadRequest, CodeMalformed, "the body: %v", err)
	}
	if p.Session == "" || p.ID == "" || p.Decision.Decision == "" {
		return nil, fail(http.StatusBadRequest, CodeMalformed, `the body needs "session", "id" and "decision"`)
	}
	return &p, nil
}
