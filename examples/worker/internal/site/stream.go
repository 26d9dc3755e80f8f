package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/agent/serve"
)

// pace is how often a view is read anew.
const pace = 500 * time.Millisecond

// events sends a view, and again when it changes: the operations, dead letters (?view=dead), or a
// run (?run=id). A stream that falls behind loses nothing, because each event is the whole view.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	view, id := r.FormValue("view"), r.FormValue("run")
	read := s.operations
	switch {
	case id != "":
		read = func(ctx context.Context) (any, error) { return s.run(ctx, id) }
	case view == "dead":
		read = s.dead
	}
	first, err := read(r.Context())
	if err != nil {
		serve.Problem(err).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	ctl := http.NewResponseController(w)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	var last []byte
	for quiet := 0; ; quiet++ {
		data, _ := json.Marshal(first) // these types encode
		text := fmt.Appendf(nil, "data: %s\n\n", data)
		switch {
		case !bytes.Equal(data, last):
			last, quiet = data, 0
		case quiet%20 == 19:
			text = []byte(": still here\n\n")
		default:
			text = nil
		}
		if text != nil {
			_ = ctl.SetWriteDeadline(time.Now().Add(10 * time.Second)) // a test's writer has none
			if _, err := w.Write(text); err != nil || ctl.Flush() != nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
		if first, err = read(r.Context()); err != nil { // the page connects again, and is told
			return
		}
	}
}
