package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A field is a struct field as encoding/json sees it, fields of embedded structs included.
type field struct {
	name        string // the JSON key
	goName      string
	typ         reflect.Type
	index       []int // path through embedded structs; its order is the order of the declarations
	tagged      bool  // the name comes from the json tag
	optional    bool
	description string
}

// fieldsOf lists the fields that encoding/json reads and writes for a struct, in the order of their declaration. The
// rules for embedded structs are its rules: the shallowest field of a name wins, then the tagged one, and if that leaves
// several, none counts.
func fieldsOf(t reflect.Type, path string) ([]field, error) {
	type embedded struct {
		typ      reflect.Type
		index    []int
		path     string
		optional bool // reached through a pointer, which may be nil
	}
	var found []field
	seen := map[reflect.Type]bool{}
	for level := []embedded{{typ: t, path: path}}; len(level) > 0; {
		var next []embedded
		for _, e := range level {
			if seen[e.typ] {
				continue
			}
			for i := range e.typ.NumField() {
				sf := e.typ.Field(i)
				at := e.path + "." + sf.Name
				inner := sf.Type
				if inner.Kind() == reflect.Pointer {
					inner = inner.Elem()
				}
				promotes := sf.Anonymous && inner.Kind() == reflect.Struct
				if !sf.IsExported() && !promotes {
					continue
				}
				tag := sf.Tag.Get("json")
				if tag == "-" {
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				if !validName(name) {
					name = ""
				}
				index := append(slices.Clone(e.index), i)
				optional := e.optional || sf.Type.Kind() == reflect.Pointer
				if promotes && name == "" {
					if !sf.IsExported() && sf.Type.Kind() == reflect.Pointer {
						return nil, fmt.Errorf("%s: encoding/json can't set an embedded pointer to the unexported type %s; embed the struct itself", at, inner)
					}
					if hasOwnForm(inner) {
						return nil, fmt.Errorf("%s: the embedded type %s has a JSON form of its own; give the field a name in its json tag", at, inner)
					}
					next = append(next, embedded{inner, index, at, optional})
					continue
				}
				if !sf.IsExported() {
					continue
				}
				f := field{name: name, goName: sf.Name, typ: sf.Type, index: index, tagged: name != "", optional: optional}
				if !f.tagged {
					f.name = sf.Name
				}
				for option := range strings.SplitSeq(options, ",") {
					switch option {
					case "omitempty", "omitzero":
						f.optional = true
					case "string":
						if quotable(inner.Kind()) {
							return nil, fmt.Errorf("%s: the json option \",string\" isn't supported; drop it, or give the field a type with JSONSchema() and its own marshaler", at)
						}
					}
				}
				var err error
				if f.description, err = descriptionOf(sf, at); err != nil {
					return nil, err
				}
				found = append(found, f)
			}
		}
		for _, e := range level {
			seen[e.typ] = true
		}
		level = next
	}
	return dominant(found), nil
}

// dominant drops the fields that encoding/json doesn't see and sorts the rest by declaration.
func dominant(found []field) []field {
	byName := map[string][]field{}
	for _, f := range found {
		byName[f.name] = append(byName[f.name], f)
	}
	var kept []field
	for _, fs := range byName {
		slices.SortStableFunc(fs, func(a, b field) int {
			if d := len(a.index) - len(b.index); d != 0 {
				return d
			}
			if a.tagged != b.tagged {
				if a.tagged {
					return -1
				}
				return 1
			}
			return 0
		})
		if len(fs) > 1 && len(fs[0].index) == len(fs[1].index) && fs[0].tagged == fs[1].tagged {
			continue
		}
		kept = append(kept, fs[0])
	}
	slices.SortFunc(kept, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return kept
}

// descriptionOf reads the jsonschema tag. Descriptions that begin with "WORD=" look like keywords, which the tag doesn't
// have, so that they are taken for a mistake.
func descriptionOf(sf reflect.StructField, at string) (string, error) {
	tag, ok := sf.Tag.Lookup("jsonschema")
	if !ok {
		return "", nil
	}
	if tag == "" {
		return "", fmt.Errorf("%s: its jsonschema tag is empty; write a description into it or drop it", at)
	}
	if word, _, ok := strings.Cut(tag, "="); ok && !strings.ContainsAny(word, " \t\n") {
		return "", fmt.Errorf("%s: its jsonschema tag begins with %q, but the tag is a description only; put keywords into an overlay or into JSONSchema()", at, word+"=")
	}
	return tag, nil
}

// validName says whether encoding/json takes a tag's name for the key; other names are ignored.
func validName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return name != ""
}

// quotable lists the kinds on which ",string" has an effect.
func quotable(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Float64
}
