package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// tagKeywords are the struct tags that add a keyword of the same name, in their order in the
// schema.
var tagKeywords = []string{"enum", "minimum", "maximum", "pattern", "format", "default"}

// applyTags adds the keywords of a field's tags to the schema of its type. A field with a default
// is optional.
func applyTags(doc json.RawMessage, f *field, at string) (json.RawMessage, error) {
	for _, keyword := range tagKeywords {
		text, ok := f.tag.Lookup(keyword)
		if !ok {
			continue
		}
		var err error
		if doc, err = addKeyword(doc, pointedTo(f.typ), keyword, text); err != nil {
			return nil, fmt.Errorf("%s: the tag %s:%q doesn't fit the type %s: %w", at, keyword, text, f.typ, err)
		}
		f.optional = f.optional || keyword == "default"
	}
	description, err := descriptionOf(f.tag, at)
	if err != nil || description == "" {
		return doc, err
	}
	ms, ok := members(doc)
	if !ok {
		return nil, fmt.Errorf("%s: its type's schema is %s, which can't have a description", at, doc)
	}
	return join(set(ms, "description", appendQuoted(nil, description))), nil
}

// addKeyword adds a tag's keyword to the schema of a type. For a list it adds it to the items,
// unless it is the default.
func addKeyword(doc json.RawMessage, t reflect.Type, keyword, text string) (json.RawMessage, error) {
	ms, ok := members(doc)
	if !ok {
		return nil, fmt.Errorf("its schema is %s, which can't have keywords", doc)
	}
	isList := (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && textOf(get(ms, "type")) == "array"
	if keyword != "default" && isList {
		items, err := addKeyword(get(ms, "items"), pointedTo(t.Elem()), keyword, text)
		return join(set(ms, "items", items)), err
	}
	value, err := keywordOf(keyword, text, t, ms)
	return join(set(ms, keyword, value)), err
}

// keywordOf returns the value of a tag's keyword, for a type with a schema.
func keywordOf(keyword, text string, t reflect.Type, schema []member) (json.RawMessage, error) {
	typeName := textOf(get(schema, "type"))
	isNumber := typeName == "integer" || typeName == "number"
	switch keyword {
	case "default":
		return parseTagValue(text, t, typeName)
	case "enum":
		if !isNumber && typeName != "string" && typeName != "boolean" {
			return nil, errors.New("enum is for strings, numbers and booleans, and lists of them")
		}
		var values []string
		for part := range strings.SplitSeq(text, ",") {
			value, err := parseTagValue(strings.TrimSpace(part), t, typeName)
			if err != nil {
				return nil, err
			}
			if string(value) == `""` || slices.Contains(values, string(value)) {
				return nil,
					fmt.Errorf("the value %s is empty or repeated; write different values with commas between them",
						value)
			}
			values = append(values, string(value))
		}
		return json.RawMessage("[" + strings.Join(values, ",") + "]"), nil
	case "minimum", "maximum":
		if !isNumber {
			return nil, fmt.Errorf("%s is for numbers, and lists of them", keyword)
		}
		value, err := parseTagValue(text, t, typeName)
		if least, _ := strconv.ParseFloat(string(get(schema, "minimum")), 64); err == nil && keyword == "maximum" &&
			get(schema, "minimum") != nil {
			if most, _ := strconv.ParseFloat(text, 64); most < least {
				return nil,
					fmt.Errorf("the minimum is %s; write a maximum that is not below it", get(schema, "minimum"))
			}
		}
		return value, err
	}
	if typeName != "string" {
		return nil, fmt.Errorf("%s is for strings, and lists of them", keyword)
	}
	if keyword == "pattern" {
		if _, err := regexp.Compile(text); err != nil {
			return nil, fmt.Errorf("%w; write a regular expression such as ^[a-z]+$", err)
		}
	} else if validator.Formats[text] == nil {
		return nil, fmt.Errorf("the format isn't known; write one of %s",
			strings.Join(slices.Sorted(maps.Keys(validator.Formats)), ", "))
	}
	return appendQuoted(nil, text), nil
}

// parseTagValue converts the text of a tag to JSON that encoding/json decodes into the type: the
// text itself for strings, JSON for everything else.
func parseTagValue(text string, t reflect.Type, typeName string) (json.RawMessage, error) {
	value := json.RawMessage(text)
	if typeName == "string" {
		value = appendQuoted(nil, text)
	}
	r := reader{in: value, keep: true, keysAreData: true}
	err := r.run(nil)
	if err == nil {
		value = bytes.Clone(r.output())
		err = json.Unmarshal(value, reflect.New(t).Interface())
	}
	if err == nil && (string(value) != "null" || t.Kind() == reflect.Interface) {
		return value, nil
	}
	right := map[string]string{"string": "a text that decodes into the type",
		"integer": "a whole number in the type's range", "number": "a number in the type's range",
		"boolean": "true or false"}[typeName]
	if right == "" {
		right = "JSON that decodes into the type"
	}
	return nil, fmt.Errorf("%s isn't %s", strconv.Quote(text), right)
}

// descriptionOf returns the description in the tags jsonschema and description, of which a field
// may have one. A jsonschema tag that begins with "WORD=" looks like a keyword and is an error.
func descriptionOf(tag reflect.StructTag, at string) (string, error) {
	old, isOld := tag.Lookup("jsonschema")
	text, isNew := tag.Lookup("description")
	word, _, isKeyword := strings.Cut(old, "=")
	switch {
	case isOld && isNew:
		return "", fmt.Errorf("%s: it has the tags jsonschema and description, which mean the same; keep one", at)
	case isOld && old == "" || isNew && text == "":
		return "", fmt.Errorf("%s: the description in its tag is empty; write one or drop the tag", at)
	case isKeyword && !strings.ContainsAny(word, " \t\n"):
		return "",
			fmt.Errorf(
				"%s: its jsonschema tag begins with %q, but the tag is a description only; write keywords as tags of "+
					"their own, such as `minimum:\"1\"`", at, word+"=")
	}
	return old + text, nil
}
