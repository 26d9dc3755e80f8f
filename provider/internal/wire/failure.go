package wire

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// classes are the classes of a provider's words, whatever the status; the first match counts.
var classes = []struct {
	words *regexp.Regexp // in type, code or message
	class fault.Class
}{
	{regexp.MustCompile(`(?i)insufficient_quota|billing`), fault.UserFixable},
	{regexp.MustCompile(`(?i)context_length_exceeded|prompt is too long|maximum context length|input token count.*exceeds`), fault.UserFixable},
	{regexp.MustCompile(`(?i)invalid_api_key|incorrect api key|invalid api key`), fault.UserFixable},
	{regexp.MustCompile(`(?i)authentication_error|permission_error|unauthenticated`), fault.UserFixable},
}

// inside are the classes of the words of an error inside an answer, which has no status.
var inside = []struct {
	words *regexp.Regexp // type or code
	class fault.Class
}{
	{regexp.MustCompile(`^(rate_limit_error|rate_limit_exceeded|RESOURCE_EXHAUSTED)$`), fault.RateLimited},
	{regexp.MustCompile(`^(overloaded_error|api_error|server_error|UNAVAILABLE|INTERNAL)$`), fault.Degraded},
	{regexp.MustCompile(`^(timeout_error|DEADLINE_EXCEEDED)$`), fault.Transient},
	{regexp.MustCompile(`^(invalid_request_error|content_filter|INVALID_ARGUMENT)$`), fault.Permanent},
}

// Class returns the class of an error of a provider: first by words that mean that a person is needed, then by its status; inside an
// answer by its words, then by a code that is a status; else [fault.Permanent].
func Class(e *ExpectError) fault.Class {
	kind, code, message := deref(e.Type), codeText(e.Code), deref(e.Message)
	for _, c := range classes {
		if c.words.MatchString(kind) || c.words.MatchString(code) || c.words.MatchString(message) && e.Status != http.StatusTooManyRequests {
			return c.class
		}
	}
	if e.Status >= 400 {
		return fault.FromStatus(e.Status)
	}
	for _, c := range inside {
		if c.words.MatchString(kind) || c.words.MatchString(code) {
			return c.class
		}
	}
	if n, err := strconv.Atoi(code); err == nil && n >= 400 {
		return fault.FromStatus(n)
	}
	return fault.Permanent
}

// failure compares an error with the one expected.
func (d *differences) failure(want *ExpectError, r *http.Header, body []byte, err error) {
	if err == nil {
		d.add("error", "none", *want)
		return
	}
	if class := Class(want); fault.Of(err) != class {
		d.add("class of the error", fault.Of(err), class)
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		d.add("error", fmt.Sprintf("%T: %v", err, err), "a *provider.Error")
		return
	}
	if want.Status != http.StatusOK && e.Status != want.Status {
		d.add("status of the error", e.Status, want.Status)
	}
	told := []string{e.Type, e.Code}
	if word := deref(want.Type); word != "" && told[0] != word && told[1] != word {
		d.add("type of the error", told, word)
	}
	word, numeric := codeText(want.Code), false
	if _, isText := want.Code.(string); !isText {
		numeric = true // the HTTP status again
	}
	if word != "" && told[0] != word && told[1] != word && !(numeric && (e.Code == "" || strconv.Itoa(e.Status) == word)) {
		d.add("code of the error", told, word)
	}
	if message := strings.TrimSpace(deref(want.Message)); !strings.Contains(e.Message, message) {
		d.add("message of the error", e.Message, message)
	}
	if want.Status != http.StatusOK {
		d.advice(e, *r, body)
	}
}

var retryDelay = regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]+s)"`)

// advice compares the request id and the time to wait with what the answer says.
func (d *differences) advice(e *provider.Error, h http.Header, body []byte) {
	for _, name := range []string{"Request-Id", "X-Request-Id", "Apim-Request-Id"} {
		if id := h.Get(name); id != "" {
			if e.RequestID != id {
				d.add("request id of the error", e.RequestID, id)
			}
			break
		}
	}
	want, told := fault.ParseRetryAfter(h, time.Now())
	if m := retryDelay.FindSubmatch(body); !told && m != nil {
		want, _ = time.ParseDuration(string(m[1]))
		told = want > 0
	}
	got, has := e.RetryAfter()
	if told != has || (got-want).Abs() > 2*time.Second {
		d.add("time to wait of the error", fmt.Sprint(got, has), fmt.Sprint(want, told))
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func codeText(code any) string {
	switch c := code.(type) {
	case string:
		return c
	case float64:
		return strconv.FormatFloat(c, 'f', -1, 64)
	}
	return ""
}
