package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// shortest is the length in bytes from which [Values] removes a secret. A shorter text could be an
// ordinary word.
const shortest = 8

// Values removes known secrets from texts and errors. A nil *Values removes nothing. It can't be
// printed, and it is safe for concurrent use.
type Values struct {
	replace func(string) string // a function, because fmt prints only its address
}

// NewValues returns Values of these secrets. A secret is also removed where it is encoded: in a
// URL, in JSON (each several times, in any spelling) or in base64, alone or within a longer text.
// Of a value with a scheme, such as "Bearer …", the part after the
// scheme is a secret; of "Basic …", the password too. Secrets of less than shortest bytes are
// ignored.
func NewValues(secrets ...string) *Values {
	var list []string
	for _, s := range secrets {
		list = appendForms(list, s)
		scheme, after, ok := strings.Cut(s, " ")
		if !ok {
			continue
		}
		after = strings.TrimSpace(after)
		list = appendForms(list, after)
		if !strings.EqualFold(scheme, "basic") {
			continue
		}
		if pair, err := base64.StdEncoding.DecodeString(after); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			list = appendForms(appendForms(list, string(pair)), password)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b string) int { // the replacer takes the first that matches
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	list = slices.Compact(list)
	pairs := make([]string, 0, 2*len(list))
	for _, s := range list {
		pairs = append(pairs, s, Redacted)
	}
	exact := strings.NewReplacer(pairs...)
	return &Values{func(text string) string { return replaceSpelled(exact.Replace(text), list) }}
}

// appendForms appends a secret as it is and as it may be encoded.
func appendForms(list []string, secret string) []string {
	secret = strings.TrimSpace(secret)
	if len(secret) < shortest {
		return list
	}
	list = append(list, secret, url.QueryEscape(secret), url.PathEscape(secret))
	for _, escapeHTML := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(escapeHTML)
		if enc.Encode(secret) == nil {
			list = append(list, strings.TrimSuffix(b.String(), "\n")[1:b.Len()-2])
		}
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		list = append(list, e.EncodeToString([]byte(secret)))
		for before := range 3 { // within a longer text, without the characters that share bits with others
			text := e.EncodeToString([]byte("xx"[:min(before, 2)] + secret))
			first, bits := (before*8+5)/6, (before+len(secret))*8
			if list = append(list, text[first:bits/6]); bits%6 == 0 {
				list[len(list)-1] = text[first:]
			}
		}
	}
	return list
}

// Text returns text with [Redacted] in place of the secrets.
func (v *Values) Text(text string) string {
	if v == nil {
		return text
	}
	return v.replace(text)
}

// Error returns err if neither its text nor that of an error that it wraps contains a secret.
// Otherwise it returns an error with the redacted text, which matches with errors.Is what err
// matches, and from which err can't be obtained.
func (v *Values) Error(err error) error {
	if v == nil || !v.within(err) {
		return err
	}
	return &redactedError{v.Text(err.Error()), err}
}

// CleanError is [Values.Error] for what a function removes from texts, such as [Redact].
func CleanError(err error, clean func(text string) string) error {
	return (&Values{clean}).Error(err)
}

// within reports whether an error, or one that it wraps, contains a secret.
func (v *Values) within(err error) bool {
	if err == nil {
		return false
	}
	if text := err.Error(); v.Text(text) != text {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return v.within(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), v.within)
	}
	return false
}

// Format writes [Redacted] for every verb.
func (v *Values) Format(f fmt.State, _ rune) { fmt.Fprint(f, Redacted) }

// MarshalText returns [Redacted].
func (v *Values) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// A redactedError stands for an error with a secret.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Is reports whether the error that e stands for matches target.
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// Timeout reports whether the error that e stands for is a timeout.
func (e *redactedError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.err, &t) && t.Timeout()
}

// Format writes the text for every verb, because fmt would print the fields for some.
func (e *redactedError) Format(f fmt.State, _ rune) { fmt.Fprint(f, e.text) }
