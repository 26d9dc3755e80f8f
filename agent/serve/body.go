package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// maxDepth is how deep the JSON of a body may be nested: far deeper than the input of any tool.
const maxDepth = 128

// read reads the body of a request, which must be JSON.
func (s *server) read(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	if p := jsonOnly(r); p != nil {
		return nil, p
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, fail(http.StatusRequestEntityTooLarge, CodeTooLarge, fault.Invalid, "the body has more than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return nil, malformed("the body couldn't be read to its end")
	}
	return raw, nil
}

// decode reads the body of a request into v, which is a struct. Unknown and repeated keys are errors.
func (s *server) decode(w http.ResponseWriter, r *http.Request, v any) *problem {
	raw, p := s.read(w, r)
	if p != nil {
		return p
	}
	if err := strict(raw); err != nil {
		return malformed("the body: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return malformed("the body: %s", plainly(err))
	}
	return nil
}

// plainly describes what is wrong with a value, without names of Go types.
func plainly(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Sprintf("%q can't be a %s", wrong.Field, wrong.Value)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return "it has an unknown key: " + strings.TrimPrefix(err.Error(), "json: unknown field ")
	}
	return "it isn't an object of the expected form"
}

// jsonOnly rejects a request whose body isn't declared as JSON: a form on another site can't declare that.
func jsonOnly(r *http.Request) *problem {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, given := params["charset"]
	if err != nil || kind != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return fail(http.StatusUnsupportedMediaType, CodeMediaType, fault.Invalid, "the Content-Type has to be application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return fail(http.StatusUnsupportedMediaType, CodeMediaType, fault.Invalid, "the Content-Encoding isn't understood; send the body as it is")
	}
	return nil
}

// strict returns what is wrong with JSON that must be one object that all decoders understand in the same way: valid UTF-8, no duplicate keys at
// any depth, and nothing after the object.
func strict(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("it isn't valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return errors.New("it has to be a JSON object")
	}
	if err := object(d, 1); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// object reads the rest of an object.
func object(d *json.Decoder, depth int) error {
	seen := make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		switch {
		case err != nil || !ok:
			return errNoJSON
		case seen[key]:
			return fmt.Errorf("the key %.40q is there twice", key)
		}
		seen[key] = true
		if err := value(d, depth); err != nil {
			return err
		}
	}
	return end(d)
}

// value reads a value.
func value(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return errNoJSON
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	if depth++; depth > maxDepth {
		return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	if open == '{' {
		return object(d, depth)
	}
	for d.More() {
		if err := value(d, depth); err != nil {
			return err
		}
	}
	return end(d)
}

func end(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return errNoJSON
	}
	return nil
}

var errNoJSON = errors.New("it isn't complete, or no JSON")

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
