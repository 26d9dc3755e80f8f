package schema

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// An explanation rebuilds the problems of a value from the leaves of the validator's error. The validator's own messages
// print bounds as floats and name addresses; of an error only its two locations are used, one in the schema's document
// and one in the value.
type explanation struct {
	address  string // of the schema's document; what was found elsewhere, in a draft's own schema, can't be looked up
	document any
	value    any // what was judged
}

// A finding is a leaf of a validation error with what its locations lead to.
type finding struct {
	leaf    *validator.ValidationError
	keyword string   // the last part of its place in the schema, unless that place is a whole schema
	at      []string // its place in the schema's document
	path    []byte   // its place in the value, for people
	value   any      // what stands there

	elsewhere bool
}

func (e *explanation) explain(err *validator.ValidationError) error {
	var found []Problem
	for _, p := range e.problems(err) {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
		if len(found) > 10*keptProblems {
			break
		}
	}
	slices.SortFunc(found, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	invalid := &InvalidError{Problems: found}
	if len(found) > keptProblems {
		invalid.Problems, invalid.more = found[:keptProblems], len(found)-keptProblems
	}
	return invalid
}

// problems walks down to the leaves. Of a union, the form that the value was probably meant to have speaks for all.
func (e *explanation) problems(err *validator.ValidationError) []Problem {
	f := e.find(err)
	switch {
	case len(err.Causes) == 0, f.keyword == "contains", f.keyword == "minContains":
		if !f.elsewhere {
			if found := e.leaf(f); len(found) > 0 {
				return found
			}
		}
		return problem(f, shorten(err.Message, 200))
	case f.keyword == "anyOf", f.keyword == "oneOf":
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
	f := finding{leaf: err, value: e.value}
	base, fragment, _ := strings.Cut(err.AbsoluteKeywordLocation, "#")
	f.at, f.elsewhere = tokens(fragment), base != e.address
	if len(f.at) > 0 && err.Message != "not allowed" { // that is a schema of false, which has no keyword
		f.keyword = f.at[len(f.at)-1]
	}
	place := tokens(err.InstanceLocation)
	for _, token := range place {
		switch v := f.value.(type) {
		case map[string]any:
			f.path = appendKey(f.path, token)
			f.value = v[token]
		case []any:
			f.path = append(append(append(f.path, '['), token...), ']')
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
				f.value = v[i]
			}
		}
	}
	if len(place) > 0 && aboutKeys(f.at) {
		f.value = place[len(place)-1]
	}
	return f
}

// aboutKeys says whether a place in the schema is below propertyNames, where keys are judged as if they were values.
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

// lookup returns what stands in the schema's document at a place, nil if nothing does.
func (e *explanation) lookup(at ...string) any {
	v := e.document
	for _, token := range at {
		switch holder := v.(type) {
		case map[string]any:
			v = holder[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(holder) {
				return nil
			}
			v = holder[i]
		default:
			return nil
		}
	}
	return v
}

// beside returns another keyword of the schema that the finding's keyword belongs to.
func (e *explanation) beside(f finding, keyword ...string) any {
	return e.lookup(slices.Concat(f.at[:max(len(f.at)-1, 0)], keyword)...)
}

// union explains a value that has none of several forms, or more than one.
func (e *explanation) union(f finding) []Problem {
	var wanted []string
	var meant []*validator.ValidationError
	for _, cause := range f.leaf.Causes {
		if other := e.otherType(cause, f.leaf.InstanceLocation); other != "" {
			wanted = append(wanted, other)
			continue
		}
		meant = append(meant, cause)
	}
	switch {
	case len(meant) == 0:
		return problem(f, "expected "+strings.Join(slices.Compact(wanted), " or ")+", got "+show(f.value))
	case len(meant) == 1:
		return e.problems(meant[0])
	}
	slices.SortStableFunc(meant, func(a, b *validator.ValidationError) int { return e.distance(a) - e.distance(b) })
	if e.distance(meant[0]) < otherForm && e.distance(meant[1]) >= otherForm {
		return e.problems(meant[0]) // the only one whose fixed values, such as a type name, are right
	}
	nearest := e.problems(meant[0])
	return problem(f, fmt.Sprintf("fits none of %d allowed forms; nearest to one where %s", len(f.leaf.Causes), nearest[0]))
}

// otherForm is the distance from which a value was hardly meant to have a form.
const otherForm = 1000

// distance counts the leaves of an error; a wrong fixed value weighs most.
func (e *explanation) distance(err *validator.ValidationError) int {
	if len(err.Causes) == 0 {
		switch e.find(err).keyword {
		case "const", "enum":
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

// otherType returns the types that a form wants if it fails because the whole value has another type.
func (e *explanation) otherType(err *validator.ValidationError, place string) string {
	for len(err.Causes) == 1 {
		err = err.Causes[0]
	}
	if f := e.find(err); len(err.Causes) == 0 && f.keyword == "type" && err.InstanceLocation == place {
		return typeNames(e.lookup(f.at...))
	}
	return ""
}

func problem(f finding, message string) []Problem {
	return []Problem{{Path: string(f.path), Message: message}}
}

// leaf words one finding.
func (e *explanation) leaf(f finding) []Problem {
	says := e.lookup(f.at...)
	got := ", got " + show(f.value)
	switch f.keyword {
	case "":
		return e.forbidden(f)
	case "type":
		return problem(f, "expected "+typeNames(says)+got)
	case "required":
		return e.missing(f, says)
	case "additionalProperties":
		return e.unknown(f)
	case "enum":
		return problem(f, oneOf(says, f.value)+got)
	case "const":
		return problem(f, "expected "+show(says)+got)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return problem(f, e.limit(f, says)+got)
	case "multipleOf":
		return problem(f, "must be a multiple of "+plainNumber(says)+got)
	case "minLength", "maxLength":
		length := 0
		if s, ok := f.value.(string); ok {
			length = utf8.RuneCountInString(s)
		}
		return problem(f, fmt.Sprintf("must have %s %s characters, has %d", atLeast(f.keyword), plainNumber(says), length))
	case "minItems", "maxItems":
		items, _ := f.value.([]any)
		return problem(f, fmt.Sprintf("must have %s %s items, has %d", atLeast(f.keyword), plainNumber(says), len(items)))
	case "minProperties", "maxProperties":
		keys, _ := f.value.(map[string]any)
		return problem(f, fmt.Sprintf("must have %s %s keys, has %d", atLeast(f.keyword), plainNumber(says), len(keys)))
	case "additionalItems":
		return problem(f, "has more items than are allowed")
	case "uniqueItems":
		return problem(f, "must not hold an item twice")
	case "contains", "minContains", "maxContains":
		return problem(f, "holds too many or too few of the items that the schema asks for")
	case "pattern":
		return problem(f, "must match the pattern "+show(says)+got)
	case "format":
		return problem(f, "must be in the format "+show(says)+example(says)+got)
	case "contentEncoding":
		return problem(f, "must be encoded as "+show(says)+got)
	case "oneOf":
		return problem(f, "fits more than one of the forms of which it must have exactly one"+got)
	case "not":
		return problem(f, "is what the schema rules out"+got)
	}
	if n := len(f.at); n >= 3 && (f.at[n-3] == "dependentRequired" || f.at[n-3] == "dependencies") {
		return problem(f, fmt.Sprintf("missing key %s, needed beside %s", show(says), quoteShort(f.at[n-2])))
	}
	return problem(f, "doesn't fit the schema's "+quoteShort(f.keyword)+got)
}

// forbidden words a value where the schema allows none.
func (e *explanation) forbidden(f finding) []Problem {
	if n := len(f.at); n > 0 && f.at[n-1] == "unevaluatedProperties" {
		key, holder := "", "" // the validator drops an empty key from its paths
		if i := strings.LastIndexByte(f.leaf.InstanceLocation, '/'); i >= 0 {
			holder = f.leaf.InstanceLocation[:i]
			key = tokens(f.leaf.InstanceLocation[i:])[0]
		}
		above := e.find(&validator.ValidationError{InstanceLocation: holder})
		return []Problem{{Path: string(above.path), Message: unknownKey(key, e.keysOf(f))}}
	}
	return problem(f, "nothing is allowed here, got "+show(f.value))
}

// missing names every required key that isn't there, with its type.
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
		found = append(found, problem(f, message)...)
	}
	return found
}

// unknown names every key that a closed object doesn't have.
func (e *explanation) unknown(f finding) []Problem {
	object, _ := f.value.(map[string]any)
	declared, _ := e.beside(f, "properties").(map[string]any)
	patterns, _ := e.beside(f, "patternProperties").(map[string]any)
	var found []Problem
	for key := range object {
		if _, ok := declared[key]; ok || matchesAny(key, patterns) {
			continue
		}
		found = append(found, problem(f, unknownKey(key, e.keysOf(f)))...)
		if len(found) > 2*keptProblems {
			break
		}
	}
	return found
}

// keysOf returns the declared keys in alphabetical order.
func (e *explanation) keysOf(f finding) []string {
	declared, _ := e.beside(f, "properties").(map[string]any)
	names := make([]string, 0, len(declared))
	for name := range declared {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func matchesAny(key string, patterns map[string]any) bool {
	for pattern := range patterns {
		if re, err := regexp.Compile(pattern); err == nil && re.MatchString(key) {
			return true
		}
	}
	return false
}

func (e *explanation) limit(f finding, says any) string {
	if _, draft4 := says.(bool); draft4 {
		says = e.beside(f, map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[f.keyword])
	}
	words := map[string]string{
		"minimum": "at least ", "maximum": "at most ", "exclusiveMinimum": "greater than ", "exclusiveMaximum": "less than ",
	}
	return "must be " + words[f.keyword] + plainNumber(says)
}

func atLeast(keyword string) string {
	if strings.HasPrefix(keyword, "min") {
		return "at least"
	}
	return "at most"
}

// oneOf words the allowed values of an enum.
func oneOf(says, got any) string {
	values, _ := says.([]any)
	var words, names []string
	for _, v := range values {
		words = append(words, show(v))
		if s, ok := v.(string); ok {
			names = append(names, s)
		}
	}
	rest := ""
	if len(words) > shownNames {
		rest = fmt.Sprintf(" and %d more", len(words)-shownNames)
		words = words[:shownNames]
	}
	text := "expected one of " + strings.Join(words, ", ") + rest
	if s, ok := got.(string); ok {
		if near, ok := Nearest(s, names); ok {
			text += " (did you mean " + quoteShort(near) + "?)"
		}
	}
	return text
}

// typeNames words the value of "type".
func typeNames(says any) string {
	switch t := says.(type) {
	case string:
		return t
	case []any:
		var names []string
		for _, v := range t {
			if s, ok := v.(string); ok {
				names = append(names, s)
			}
		}
		return strings.Join(names, " or ")
	}
	return ""
}

// plainNumber prints a number of the schema, 1e6 as 1000000.
func plainNumber(says any) string {
	text, _ := says.(json.Number)
	if num, ok := readNumber([]byte(text)); ok {
		if plain := num.appendInteger(nil, []byte(text)); len(plain) <= 25 {
			return string(plain)
		}
	}
	return string(text)
}

func example(format any) string {
	if format == "date-time" {
		return `, for example "2006-01-02T15:04:05Z"`
	}
	return ""
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
