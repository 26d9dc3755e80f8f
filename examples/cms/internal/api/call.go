package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

const (
	maxBody   = 2 << 20                 // bytes
	maxUpload = site.MaxUpload + 64<<10 // bytes of a form with a file
)

// A call is a request that is being served.
type call struct {
	*http.Request
	w http.ResponseWriter
}

// locale returns the locale of the query.
func (c *call) locale() string { return c.URL.Query().Get("locale") }

// query returns the part of a list that the request asks for.
func (c *call) query() (q site.Query, err error) {
	values := c.URL.Query()
	q.Text = values.Get("q")
	for name, into := range map[string]*int{"limit": &q.Limit, "offset": &q.Offset} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		if *into, err = strconv.Atoi(text); err != nil || *into < 0 {
			return q, refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the parameter %s is %q; use a number from 0",
				name, text)
		}
	}
	return q, nil
}

// decode reads the body, JSON or a form, into a pointer.
func (c *call) decode(into any) error {
	kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil && c.Header.Get("Content-Type") != "" {
		return refuse(http.StatusUnsupportedMediaType, "VALIDATION_ERROR",
			"the Content-Type isn't valid; use application/json")
	}
	var body []byte
	switch kind {
	case "application/json", "":
		if body, err = io.ReadAll(http.MaxBytesReader(c.w, c.Body, maxBody)); err != nil {
			return err
		}
	case "application/x-www-form-urlencoded":
		c.Body = http.MaxBytesReader(c.w, c.Body, maxBody)
		if err := c.ParseForm(); err != nil {
			return refuseForm(err)
		}
		if body, err = formJSON(c.PostForm, reflect.TypeOf(into).Elem()); err != nil {
			return err
		}
	default:
		return refuse(http.StatusUnsupportedMediaType, "VALIDATION_ERROR",
			"a body of the type %s isn't accepted; use application/json or a form", kind)
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	err = dec.Decode(into)
	if err == nil {
		if _, end := dec.Token(); end != io.EOF {
			err = errors.New("more than one value")
		}
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field == "" {
		should := "an object"
		if reflect.TypeOf(into).Elem().Kind() == reflect.Slice {
			should = "a list of objects"
		}
		return refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the body has the JSON type %s; it should be %s",
			wrong.Value, should)
	}
	if wrong != nil {
		r := refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the field %q takes a %s, got a %s", wrong.Field,
			wrong.Type, wrong.Value)
		r.details = map[string]string{wrong.Field: "takes a " + wrong.Type.String()}
		return r
	}
	if err == nil {
		return nil
	}
	r := refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the body can't be used: %s",
		strings.TrimPrefix(err.Error(), "json: "))
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		r.details = map[string]string{strings.Trim(field, `"`): "is unknown here"}
	}
	return r
}

func refuseForm(err error) error {
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return err
	}
	return refuse(http.StatusBadRequest, "VALIDATION_ERROR", "the form can't be read: %v", err)
}

// formJSON returns a form as the JSON of a struct: the values of fields that aren't text are JSON
// themselves, and checkboxes are on.
func formJSON(form url.Values, of reflect.Type) ([]byte, error) {
	object := map[string]json.RawMessage{}
	for name, values := range form {
		if name == methodField {
			continue
		}
		value := values[0]
		switch kind := fieldKind(of, name); {
		case kind == reflect.String || kind == reflect.Invalid:
			text, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			object[name] = text
		case kind == reflect.Bool && (value == "on" || value == ""):
			object[name] = json.RawMessage(strconv.FormatBool(value == "on"))
		case json.Valid([]byte(value)):
			object[name] = json.RawMessage(value)
		default:
			return nil, refuse(http.StatusBadRequest, "VALIDATION_ERROR",
				"the field %q of the form takes JSON, such as 1, true or {\"a\": \"b\"}", name)
		}
	}
	return json.Marshal(object)
}

// fieldKind returns the kind of the field with a JSON name, also in embedded structs; Invalid if
// there is none.
func fieldKind(of reflect.Type, name string) reflect.Kind {
	if of.Kind() != reflect.Struct {
		return reflect.Invalid
	}
	for _, f := range reflect.VisibleFields(of) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			if f.Type.Kind() == reflect.Pointer {
				return f.Type.Elem().Kind()
			}
			return f.Type.Kind()
		}
	}
	return reflect.Invalid
}

// methodField is the field of a form that names another method.
const methodField = "_method"

// overrideMethod lets a form name the methods that forms can't have.
func overrideMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if r.Method == http.MethodPost && kind == "application/x-www-form-urlencoded" {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			if r.ParseForm() == nil { // the route reports an error
				switch m := strings.ToUpper(r.PostForm.Get(methodField)); m {
				case "":
				case http.MethodPut, http.MethodDelete, http.MethodPatch:
					r.Method = m
				default:
					fail(w, http.StatusBadRequest, "VALIDATION_ERROR",
						fmt.Sprintf("%s is %q; use PUT, PATCH or DELETE", methodField, m), nil)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
