package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostDeep is how deep the JSON of a body may be nested: far deeper than any tool's input.
const mostDeep = 128

// A proposal is the body of a request that decides.
type proposal struct {
	Session  string          `json:"session"`
	ID       string          `json:"id"`
	Decision string          `json:"decision"`
	Reason   string          `json:"reason"`
	Input    json.RawMessage `json:"input"`
	Value    json.RawMessage `json:"value"`
}

// fields are the keys of a proposal, to the letter.
var fields = []string{"session", "id", "decision", "reason", "input", "value"}

// readProposal reads the body of a request as strict JSON.
func readProposal(w http.ResponseWriter, r *http.Request, most int64) (*proposal, *problem) {
	if p := jsonOnly(r); p != nil {
		return nil, p
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, fail(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body has more than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, CodeMalformed, "the body couldn't be read to its end")
	}
	if err := strict(raw, fields); err != nil {
		return nil, fail(http.StatusBadRequest, CodeMalformed, "the body: %v", err)
	}
	var p proposal
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fail(http.StatusBadRequest, CodeMalformed, "the body: %s", plainly(err))
	}
	if p.Session == "" || p.ID == "" || p.Decision == "" {
		return nil, fail(http.StatusBadRequest, CodeMalformed, `the body needs "session", "id" and "decision"`)
	}
	return &p, nil
}

// plainly describes what is wrong with a value, without names of Go types.
func plainly(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%q can't be a %s", wrong.Field, wrong.Value)
	}
	return "it isn't an object of the expected form"
}

// jsonOnly rejects a request whose body isn't declared as JSON: a form on another site can't declare that.
func jsonOnly(r *http.Request) *problem {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, given := params["charset"]
	if err != nil || kind != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return fail(http.StatusUnsupportedMediaType, CodeMediaType, "the Content-Type has to be application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return fail(http.StatusUnsupportedMediaType, CodeMediaType, "the Content-Encoding %q isn't understood; send the body as it is", e)
	}
	return nil
}

// strict returns what is wrong with JSON that must be one object with only the given keys, and that all decoders
// understand in the same way: no duplicate keys at any depth, and nothing after the object.
func strict(raw []byte, keys []string) error {
	if !utf8.Valid(raw) {
		return errors.New("it isn't valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return errors.New("it has to be a JSON object")
	}
	if err := object(d, keys, 1); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// object reads the rest of an object, whose keys are among those, if there are any.
func object(d *json.Decoder, keys []string, depth int) error {
	seen := make(map[string]bool)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return errNoJSON
		}
		key, ok := t.(string)
		switch {
		case !ok:
			return errNoJSON
		case keys != nil && !slices.Contains(keys, key):
			return fmt.Errorf("%q is no key of it; those are %s", cut(key, 40), strings.Join(keys, ", "))
		case seen[key]:
			return fmt.Errorf("the key %q is there twice", cut(key, 40))
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
	if depth++; depth > mostDeep {
		return fmt.Errorf("it is nested deeper than %d levels", mostDeep)
	}
	if open == '{' {
		return object(d, nil, depth)
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
