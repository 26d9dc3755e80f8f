package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep the JSON of a body may be nested: far deeper than the input of any tool.
const maxDepth = 128

// DeclaredJSON returns what is wrong with a request whose body isn't declared as JSON in UTF-8, as
// it is: a form on another site can't declare that.
func DeclaredJSON(r *http.Request) error {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, given := params["charset"]
	if err != nil || kind != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return errors.New("the Content-Type has to be application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return fmt.Errorf("the Content-Encoding %.40q isn't understood; send the body as it is", e)
	}
	return nil
}

// Decode reads JSON into a struct, and returns what is wrong with it in words for a client. It must
// be one object that all decoders understand in the same way: valid UTF-8, no key twice at any
// depth, and nothing after the object. Its keys must be those of the struct, to the letter; they
// must be of lower-case letters and underscores. Values of the keys "input" and "value" may have
// any keys.
func Decode(raw []byte, v any) error {
	if err := strict(raw); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	err := d.Decode(v)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%q can't be a %s", wrong.Field, wrong.Value)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return fmt.Errorf("%.60s is no key of it", strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return errors.New("it isn't an object of the expected form")
}

// strict returns what is wrong with JSON that [Decode] doesn't accept whatever the struct is.
func strict(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("it isn't valid UTF-8")
	}
	c := checker{json.NewDecoder(bytes.NewReader(raw))}
	c.UseNumber()
	t, err := c.Token()
	if err != nil || t != json.Delim('{') {
		return errors.New("it has to be a JSON object")
	}
	if err := c.object(1, false); err != nil {
		return err
	}
	if _, err := c.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// A checker reads JSON token by token.
type checker struct{ *json.Decoder }

const keyLetters = "abcdefghijklmnopqrstuvwxyz_"

// object reads the rest of an object. anyKeys says that its keys aren't those of a struct: Go would
// ignore their case.
func (c checker) object(depth int, anyKeys bool) error {
	seen := make(map[string]bool)
	for c.More() {
		t, err := c.Token()
		key, ok := t.(string)
		switch {
		case err != nil || !ok:
			return errNoJSON
		case seen[key]:
			return fmt.Errorf("the key %.40q is there twice", key)
		case !anyKeys && strings.Trim(key, keyLetters) != "":
			return fmt.Errorf("%.40q is no key of it", key)
		}
		seen[key] = true
		if err := c.value(depth, anyKeys || key == "input" || key == "value"); err != nil {
			return err
		}
	}
	return c.end()
}

// value reads a value.
func (c checker) value(depth int, anyKeys bool) error {
	t, err := c.Token()
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
		return c.object(depth, anyKeys)
	}
	for c.More() {
		if err := c.value(depth, anyKeys); err != nil {
			return err
		}
	}
	return c.end()
}

func (c checker) end() error {
	if _, err := c.Token(); err != nil {
		return errNoJSON
	}
	return nil
}

var errNoJSON = errors.New("it isn't complete, or no JSON")
