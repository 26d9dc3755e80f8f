package request

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// bodyTime is how long a body may take to come.
const bodyTime = 30 * time.Second

// ErrSlow says that a body hasn't come to its end within 30 s.
var ErrSlow = errors.New("the body hasn't come to its end within 30 s")

// Limit gives the body of a request, if there is one, 30 s to come, however w is configured. It has
// no effect if w can't set a deadline. Call it before anything else, also for requests whose body
// isn't read: a server reads what is left of a body before it answers.
func Limit(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 && r.Body != nil && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
}

// ReadBody reads the body of a request after [Limit]. A body of more than most bytes is an
// *[http.MaxBytesError]. When the body has come, the deadline is removed: the end of the connection
// is noticed by reading it.
func ReadBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, ErrSlow
	case err != nil:
		return nil, err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return raw, nil
}
