package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/secret"
)

// mostAnswer is how many bytes of the answer of a search service are read.
const mostAnswer = 4 << 20

// A service is a search service that is asked over HTTP with JSON.
type service struct {
	address string // with the path, without a query
	client  *http.Client
	key     string
	secrets *secret.Values
	// problem finds the text of an error in an answer.
	problem func(body []byte) string
}

// newService checks the address of a service. Its path is added to that of base.
func newService(name, base, path, key string) (*service, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		// it may have a password
		return nil, fmt.Errorf("web: the address of %s isn't an address such as https://search.example.com", name)
	}
	own := *http.DefaultClient
	// a redirect would get the query, and perhaps the key
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	hidden := []string{key}
	if u.User != nil {
		password, _ := u.User.Password()
		hidden = append(hidden, password)
	}
	return &service{address: u.JoinPath(path).String(), client: &own, key: key, secrets: secret.NewValues(hidden...)},
		nil
}

// ask sends a request and decodes the answer into v. Without a body it is a GET.
func (s *service) ask(ctx context.Context, query url.Values, body, v any) error {
	method, address := http.MethodGet, s.address
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		method, payload = http.MethodPost, bytes.NewReader(text)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, payload)
	if err != nil {
		return errors.New("the address of the service is invalid")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pawl")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	res, err := s.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) { // without the URL, which has the query
			err = ue.Err
		}
		return s.clean(fmt.Errorf("no answer: %w", err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	if res.StatusCode != http.StatusOK {
		return s.refused(res, text)
	}
	switch {
	case err != nil:
		return s.clean(fmt.Errorf("the answer broke off: %w", err))
	case len(text) > mostAnswer:
		return fault.Errorf(fault.Permanent, "the answer is longer than %d bytes", mostAnswer)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fault.New(fault.Permanent, "the answer isn't the JSON that the service documents")
	}
	return nil
}

// refused is the error for an answer with another status than 200.
func (s *service) refused(res *http.Response, body []byte) error {
	err := fault.FromHTTP(res)
	if err == nil { // 1xx to 3xx
		return fault.Errorf(fault.Permanent, "the service answered with status %d; check its address", res.StatusCode)
	}
	if s.problem == nil {
		return s.clean(err)
	}
	said := s.secrets.Text(line(s.problem(body), longestShown))
	return &Error{Problem: err.Error(), Sent: said, class: fault.Of(err), err: err}
}

// clean removes the secrets of the service from an error, and keeps its class.
func (s *service) clean(err error) error {
	class := fault.Of(err)
	if out := s.secrets.Error(err); out != err {
		return fault.Wrap(class, out)
	}
	return err
}

// A found is how both services list what they found.
type found struct {
	Results []struct {
		Title   string  `json:"title"`
		URL     string  `json:"url"`
		Content string  `json:"content"`
		Score   float64 `json:"score"`
	} `json:"results"`
}

// results returns the results with their scores as parts of best.
func (f *found) results(best float64) []SearchResult {
	list := make([]SearchResult, 0, len(f.Results))
	for _, r := range f.Results {
		list = append(list, SearchResult{Title: r.Title, URL: r.URL, Text: r.Content, Score: r.Score / best})
	}
	return list
}
