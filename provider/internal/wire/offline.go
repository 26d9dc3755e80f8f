package wire

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// An Offline is the transport of a client without a network: Reply answers its requests, and it
// stores them. It is safe for concurrent use if Reply is. Read Asked and Bodies only while no
// request is open.
type Offline struct {
	Reply func(*http.Request) *http.Response

	mu     sync.Mutex      // guards what follows while requests are open
	Asked  []*http.Request // in the order of arrival; their bodies are closed
	Bodies [][]byte        // bodies of Asked
}

// RoundTrip reads a request's body and answers it.
func (o *Offline) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	o.mu.Lock()
	o.Bodies, o.Asked = append(o.Bodies, body), append(o.Asked, req)
	o.mu.Unlock()
	res := o.Reply(req)
	res.Request = req
	return res, nil
}

// Reply makes an answer; header has alternating names and values.
func Reply(status int, body io.Reader, header ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ProtoMajor: 1,
		ProtoMinor: 1}
	for i := 0; i < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

// Always returns a function for [Offline].Reply that gives this answer to every request.
func Always(status int, body string, header ...string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response { return Reply(status, strings.NewReader(body), header...) }
}
