package serve

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/circuit/fault"
)

// read reads the body of a request, which must be JSON.
func (s *server) read(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	if err := request.DeclaredJSON(r); err != nil {
		return nil, fail(http.StatusUnsupportedMediaType, CodeMediaType, fault.Invalid, "%v", err)
	}
	raw, p := s.body(w, r)
	if p == nil {
		r.Body = io.NopCloser(bytes.NewReader(raw)) // for [server.forward]
	}
	return raw, p
}

// body reads what is left of the body of a request, and removes its time limit.
func (s *server) body(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	raw, err := request.ReadBody(w, r, s.cfg.MaxBody)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, fail(http.StatusRequestEntityTooLarge, codeTooLarge, fault.Invalid,
			"the body has more than %d bytes", tooLarge.Limit)
	}
	if errors.Is(err, request.ErrSlow) {
		return nil, fail(http.StatusRequestTimeout, codeSlow, fault.Transient, "%v", err)
	}
	if err != nil {
		return nil, malformed("the body couldn't be read to its end")
	}
	return raw, nil
}

// decode reads the body of a request into v, which is a struct: see [request.Decode].
func (s *server) decode(w http.ResponseWriter, r *http.Request, v any) *problem {
	raw, p := s.read(w, r)
	if p != nil {
		return p
	}
	if err := request.Decode(raw, v); err != nil {
		return malformed("the body: %v", err)
	}
	return nil
}

// query returns the parameters of a request. Each may be there once.
func query(r *http.Request, known ...string) (map[string]string, *problem) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, malformed("the query can't be parsed")
	}
	out := make(map[string]string, len(values))
	for k, v := range values {
		if !slices.Contains(known, k) {
			return nil, malformed("the parameter %.40q is unknown; those here are %s", k, strings.Join(known, ", "))
		}
		if len(v) != 1 {
			return nil, malformed("the parameter %q is there %d times", k, len(v))
		}
		out[k] = v[0]
	}
	return out, nil
}
