package adapter

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Words of an error, where its status doesn't say enough: a person has to do something, the rate is
// limited, the server is in trouble, or the problem passes.
var (
	person = regexp.MustCompile(`(?i)insufficient[_ ](quota|balance|credits?)|billing|authentication_error|` +
		`permission_error|permission_denied|(incorrect|invalid)[_ ]api[_ ]key|unauthenticated|account_deactivated`)
	personSays = regexp.MustCompile(`(?i)insufficient[_ ](quota|balance|credits?)|billing (details|issue|hard limit)|` +
		`(incorrect|invalid) api key|authentication_error|account_deactivated`)
	limited = regexp.MustCompile(`(?i)rate[_ -]?limit|too[_ ]many[_ ]requests|resource_exhausted`)
	trouble = regexp.MustCompile(`(?i)overloaded|unavailable|upstream|\binternal(_server)?(_error)?\b|internalserver|` +
		`server[_ ](error|is)|api_error|slow_down|bad_gateway|\bunknown\b( error)?$|connection (error|reset|refused|closed)`)
	passing     = regexp.MustCompile(`(?i)time(d[_ ])?out|deadline_exceeded|aborted|cancelled`)
	passingSays = regexp.MustCompile(`(?i)time(d )?out|try again`)
)

// refused are the codes and types of errors inside an answer that the same request gets again.
var refused = map[string]bool{"invalid_request_error": true, "invalid_prompt": true, "content_filter": true,
	"context_length_exceeded": true, "not_found_error": true, "request_too_large": true, "invalid_argument": true,
	"not_found": true, "failed_precondition": true}

// ClassOf returns the class of an error of a server: by words that mean that a person is needed,
// then by the status of the answer. Inside an answer, which has status 200, it is by words in the
// code and the type, by a status in the text, and by words of the message. What says nothing is
// permanent.
func ClassOf(f *Failure, status int) fault.Class {
	words := strings.TrimSpace(f.Type + " " + f.Code + " " + f.State)
	if person.MatchString(words) {
		return fault.UserFixable
	}
	inAnswer := status < 400
	if inAnswer {
		status = f.Status
	}
	if status != http.StatusTooManyRequests && status < 500 && !limited.MatchString(words) &&
		personSays.MatchString(f.Message) {
		return fault.UserFixable
	}
	if inAnswer {
		for _, w := range []string{f.Code, f.Type, f.State} {
			if refused[strings.ToLower(w)] {
				return fault.Permanent
			}
		}
		class := wordClass(words, passing)
		if class == fault.None && status == 0 {
			class = wordClass(f.Message, passingSays)
		}
		if class != fault.None {
			return class
		}
	}
	if class := fault.FromStatus(status); status != 0 && class != fault.None {
		return class
	}
	return fault.Permanent
}

// wordClass returns the class that a text names, or None.
func wordClass(text string, passing *regexp.Regexp) fault.Class {
	switch {
	case limited.MatchString(text):
		return fault.RateLimited
	case passing.MatchString(text):
		return fault.Transient
	case trouble.MatchString(text):
		return fault.Degraded
	}
	return fault.None
}
