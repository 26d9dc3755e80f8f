package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// An explanation converts the leaves of the validator's error to problems. The validator's own
// messages print bounds as floats and contain addresses, so only the two locations of an error are
// used, one in the schema's document and one in the value.
type explanation struct {
	// of the schema's document; locations in another one, such as a draft's own schema, can't be
	// looked up
	address  string
	document any
	value    any // the validated value
}

// A finding is a part of a validation error with the values at its locations.
type finding struct {
	err       *validator.ValidationError
	keyword   string   // empty if the schema is false
	at        []string // its location in the schema's document
	elsewhere bool     // the location is in another document
	path      []byte   // its location in the value, for people
	value     any      // the value there
}

func (f finding) problem(message string) []Problem {
	return []Problem{{Path: string(f.path), Message: message}}
}

func (e *explanation) explain(err *validator.ValidationError) error {
	found := e.problems(err)
	slices.SortFunc(found, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	invalid := &InvalidError{}
	for _, p := range slices.Compact(found) {
		invalid.add([]byte(p.Path), p.Message)
	}
	return invalid
}

// problems returns the problems of the leaves. For a union, it explains the form that was probably
// meant.
func (e *explanation) problems(err *validator.ValidationError) []Problem {
	f := e.find(err)
	switch {
	case f.keyword == "contains" || f.keyword == "minContains" || len(err.Causes) == 0:
		if found := e.leaf(f); len(found) > 0 {
			return found
		}
		return f.problem(shorten(err.Message, 200))
	case f.keyword == "anyOf" || f.keyword == "oneOf":
		return e.union(f)
	}
	var found []Problem
	for _, cause := range err.Causes {
		found = append(found, e.problems(cause)...)
		if len(found) > 20*keptProblems {
			break
		}
	}
	return found
}

func (e *explanation) find(err *validator.ValidationError) finding {
	f := finding{err: err, value: e.value}
	base, fragment, _ := strings.Cut(err.AbsoluteKeywordLocation, "#")
	f.at, f.elsewhere = tokens(fragment), base != e.address
	if len(f.at) > 0 && err.Message != "not allowed" { // that is a schema of false, which has no keyword
		f.keyword = f.at[len(f.at)-1]
	}
	place := tokens(err.InstanceLocation)
	for _, token := range place {
		if _, isList := f.value.([]any); isList {
			f.path = fmt.Appendf(f.path, "[%s]", token)
		} else {
			f.path = appendKey(f.path, token)
		}
		f.value = child(f.value, token)
	}
	if len(place) > 0 && aboutKeys(f.at) {
		f.value = place[len(place)-1]
	}
	return f
}

// aboutKeys reports whether a location in the schema is below propertyNames, where keys are
// validated like values.
func aboutKeys(at []string) bool {
	i := slices.Index(at, "propertyNames")
	return i == 0 || i > 0 && at[i-1] != "properties"
}

// tokens splits a JSON pointer in the validator's spelling, which escapes what an address would.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
	}
	return parts
}

// child returns the value that a token of a JSON pointer refers to, or nil.
func child(holder any, token string) any {
	switch v := holder.(type) {
	case map[string]any:
		return v[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// lookup returns the value at a location in the schema's document, or nil.
func (e *explanation) lookup(at ...string) any {
	v := e.document
	for _, token := range at {
		v = child(v, token)
	}
	return v
}

// beside returns another keyword of the schema that the finding's keyword belongs to.
func (e *explanation) beside(f finding, keyword ...string) any {
	return e.lookup(slices.Concat(f.at[:max(len(f.at)-1, 0)], keyword)...)
}

// union explains a value that matches none of several forms, or more than one.
func (e *explanation) union(f finding) []Problem {
	var types []string // of the forms that are for another type
	var forms []*validator.ValidationError
	for _, form := range f.err.Causes {
		if name := e.otherType(form, f.err.InstanceLocation); name != "" {
			types = append(types, name)
		} else {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return f.problem("expected " + strings.Join(slices.Compact(types), " or ") + ", got " + show(f.value))
	}
	slices.SortStableFunc(forms, func(a, b *validator.ValidationError) int { return e.distance(a) - e.distance(b) })
	if len(forms) == 1 || e.distance(forms[0]) < otherForm && e.distance(forms[1]) >= otherForm {
		return e.problems(forms[0])
	}
	return f.problem(fmt.Sprintf("fits none of the %d allowed forms; the problem with the nearest one: %s",
		len(f.err.Causes), e.problems(forms[0])[0]))
}

// otherForm is the distance from which a value hardly was meant to have a form, because it has
// another fixed value, such as a type name.
const otherForm = 1000

// distance counts the leaves of an error; a fixed value that is wrong counts as otherForm.
func (e *explanation) distance(err *validator.ValidationError) int {
	if len(err.Causes) == 0 {
		if f := e.find(err); f.keyword == "const" || f.keyword == "enum" {
			return otherForm
		}
		return 1
	}
	sum := 0
	for _, cause := range err.Causes {
		sum = min(sum+e.distance(cause), 100*otherForm)
	}
	return sum
}

// otherType returns the types of a form if the form fails because the whole value has another type.
func (e *explanation) otherType(err *validator.ValidationError, place string) string {
	for len(err.Causes) == 1 {
		err = err.Causes[0]
	}
	if f := e.find(err); len(err.Causes) == 0 && f.keyword == "type" && err.InstanceLocation == place {
		return typeNames(e.lookup(f.at...))
	}
	return ""
}

// wording has the messages of keywords with a simple one. SAYS is the keyword's value, GOT the
// validated value, and COUNT its number of characters, items or keys.
var wording = map[string]string{
	"":                 "nothing is allowed here, got GOT",
	"additionalItems":  "has more items than are allowed",
	"const":            "expected SAYS, got GOT",
	"contains":         "has too many or too few items of the kind that the schema requires",
	"contentEncoding":  "must be encoded as SAYS, got GOT",
	"exclusiveMaximum": "must be less than SAYS, got GOT",
	"exclusiveMinimum": "must be greater than SAYS, got GOT",
	"format":           "must be in the format SAYS, got GOT",
	"maxContains":      "has too many or too few items of the kind that the schema requires",
	"maxItems":         "must have at most SAYS items, has COUNT",
	"maxLength":        "must have at most SAYS characters, has COUNT",
	"maxProperties":    "must have at most SAYS keys, has COUNT",
	"maximum":          "must be at most SAYS, got GOT",
	"minContains":      "has too many or too few items of the kind that the schema requires",
	"minItems":         "must have at least SAYS items, has COUNT",
	"minLength":        "must have at least SAYS characters, has COUNT",
	"minProperties":    "must have at least SAYS keys, has COUNT",
	"minimum":          "must be at least SAYS, got GOT",
	"multipleOf":       "must be a multiple of SAYS, got GOT",
	"not":              "is excluded by the schema, got GOT",
	"oneOf":            "must fit exactly one of the allowed forms, but fits several, got GOT",
	"pattern":          "must match the pattern SAYS, got GOT",
	"uniqueItems":      "must not contain an item twice",
}

// leaf returns the problem of one finding.
func (e *explanation) leaf(f finding) []Problem {
	if f.elsewhere {
		return f.problem(shorten(f.err.Message, 200))
	}
	says := e.lookup(f.at...)
	if _, draft4 := says.(bool); draft4 && strings.HasPrefix(f.keyword, "exclusive") {
		says = e.beside(f, strings.ToLower(strings.TrimPrefix(f.keyword, "exclusive")))
	}
	last := len(f.at) - 1
	switch {
	case f.keyword == "type":
		return f.problem("expected " + typeNames(says) + ", got " + show(f.value))
	case f.keyword == "enum":
		return f.problem(oneOf(says, f.value) + ", got " + show(f.value))
	case f.keyword == "required":
		return e.missing(f, says)
	case f.keyword == "additionalProperties":
		return e.unknown(f)
	case f.keyword == "" && last >= 0 && f.at[last] == "unevaluatedProperties":
		return e.unevaluated(f)
	case last >= 2 && (f.at[last-2] == "dependentRequired" || f.at[last-2] == "dependencies"):
		return f.problem(fmt.Sprintf("missing key %s, required together with %s", show(says), quoteShort(f.at[last-1])))
	}
	text, ok := wording[f.keyword]
	if !ok {
		return f.problem("doesn't fit the schema's " + quoteShort(f.keyword) + ", got " + show(f.value))
	}
	what := show(says)
	if number, ok := says.(json.Number); ok {
		what = plainNumber(number)
	} else if says == "date-time" {
		what += `, for example "2006-01-02T15:04:05Z"`
	}
	return f.problem(
		strings.NewReplacer("SAYS", what, "GOT", show(f.value), "COUNT", strconv.Itoa(count(f.value))).Replace(text))
}

func count(v any) int {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// unevaluated names a key that no part of the schema has. The validator's location is that of the
// key itself.
func (e *explanation) unevaluated(f finding) []Problem {
	holder, key := "", "" // the validator drops an empty key from its paths
	if i := strings.LastIndexByte(f.err.InstanceLocation, '/'); i >= 0 {
		holder = f.err.InstanceLocation[:i]
		key = tokens(f.err.InstanceLocation[i:])[0]
	}
	above := e.find(&validator.ValidationError{InstanceLocation: holder})
	return above.problem(unknownKey(key, e.keysOf(f)))
}

// missing names every missing required key, with its type.
func (e *explanation) missing(f finding, says any) []Problem {
	names, _ := says.([]any)
	object, _ := f.value.(map[string]any)
	var found []Problem
	for _, n := range names {
		name, _ := n.(string)
		if _, ok := object[name]; ok {
			continue
		}
		message := "missing key " + quoteShort(name)
		if types := typeNames(e.beside(f, "properties", name, "type")); types != "" {
			message += " (" + types + ")"
		}
		found = append(found, f.problem(message)...)
	}
	return found
}

// unknown names every key that a closed object doesn't have.
func (e *explanation) unknown(f finding) []Problem {
	object, _ := f.value.(map[string]any)
	known := e.keysOf(f)
	patterns, _ := e.beside(f, "patternProperties").(map[string]any)
	var found []Problem
	for key := range object {
		if !slices.Contains(known, key) && !matchesAny(key, patterns) {
			found = append(found, f.problem(unknownKey(key, known))...)
		}
		if len(found) > 2*keptProblems {
			break
		}
	}
	return found
}

// keysOf returns the declared keys in alphabetical order.
func (e *explanation) keysOf(f finding) []string {
	declared, _ := e.beside(f, "properties").(map[string]any)
	return slices.Sorted(maps.Keys(declared))
}

func matchesAny(key string, patterns map[string]any) bool {
	for pattern := range patterns {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(key) {
			return true
		}
	}
	return false
}

// oneOf lists the allowed values of an enum.
func oneOf(says, got any) string {
	values, _ := says.([]any)
	var words, names []string
	for _, v := range values {
		words = append(words, show(v))
		if s, ok := v.(string); ok {
			names = append(names, s)
		}
	}
	text := "expected one of " + list(words)
	if s, ok := got.(string); ok && len(values) > 1 {
		if near, ok := Nearest(s, names); ok {
			text += " (did you mean " + quoteShort(near) + "?)"
		}
	}
	return text
}

// typeNames describes the value of "type".
func typeNames(says any) string {
	names, ok := says.([]any)
	if !ok {
		names = []any{says}
	}
	var words []string
	for _, v := range names {
		if name, ok := v.(string); ok {
			words = append(words, name)
		}
	}
	return strings.Join(words, " or ")
}

// plainNumber formats a number of the schema, 1e6 as 1000000.
func plainNumber(number json.Number) string {
	if plain, ok := asInteger(number.String()); ok && len(plain) <= 25 {
		return plain
	}
	return number.String()
}

// show prints a value as JSON, shortened.
func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list of " + strconv.Itoa(len(v))
	case string:
		return quoteShort(v)
	case json.Number:
		return shorten(v.String(), shownBytes)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}
