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
	name     string // the JSON key
	goName   string
	typ      reflect.Type
	tag      reflect.StructTag
	depth    int  // the number of structs it is embedded in
	tagged   bool // the name comes from the json tag
	optional bool
}

// fieldsOf lists the fields that encoding/json reads and writes for a struct, in the order of their
// declaration. The rules for embedded structs are its rules: the shallowest field of a name wins,
// then the tagged one; if that leaves several, none counts.
func fieldsOf(t reflect.Type, path string) ([]field, error) {
	found, err := collect(nil, []reflect.Type{t}, path, false)
	if err != nil {
		return nil, err
	}
	var kept []field
	for i, f := range found {
		if !slices.ContainsFunc(found[:i], f.isHiddenBy) && !slices.ContainsFunc(found[i+1:], f.isHiddenBy) {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// isHiddenBy reports whether f is hidden by another field.
func (f field) isHiddenBy(other field) bool {
	return f.name == other.name && (other.depth < f.depth || other.depth == f.depth && (other.tagged || !f.tagged))
}

// collect appends the fields of the last struct in nested, each of which embeds the next. They are
// all optional if a pointer, which may be nil, leads to the struct.
func collect(found []field, nested []reflect.Type, path string, optional bool) ([]field, error) {
	t := nested[len(nested)-1]
	for i := range t.NumField() {
		sf := t.Field(i)
		at := path + "." + sf.Name
		inner := pointedTo(sf.Type)
		isPointer := inner != sf.Type
		embedded := sf.Anonymous && inner.Kind() == reflect.Struct
		tag := sf.Tag.Get("json")
		if !sf.IsExported() && !embedded || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		if embedded && name == "" {
			switch {
			case !sf.IsExported() && isPointer:
				return nil,
					fmt.Errorf(
						"%s: encoding/json can't set an embedded pointer to the unexported type %s; embed the "+
							"struct itself", at, inner)
			case hasOwnForm(inner):
				return nil,
					fmt.Errorf(
						"%s: the embedded type %s has a JSON form of its own; give the field a name in its json tag",
						at, inner)
			case slices.Contains(nested, inner):
				continue
			}
			var err error
			if found, err = collect(found, append(slices.Clone(nested), inner), at, optional || isPointer); err != nil {
				return nil, err
			}
			continue
		}
		if !sf.IsExported() {
			continue
		}
		f := field{name: name, goName: sf.Name, typ: sf.Type, tag: sf.Tag, depth: len(nested), tagged: name != "",
			optional: optional || isPointer}
		if !f.tagged {
			f.name = sf.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty", "omitzero":
				f.optional = true
			case "string":
				if quotable(inner.Kind()) {
					return nil,
						fmt.Errorf(
							"%s: the json option \",string\" isn't supported; drop it, or give the field a type with "+
								"JSONSchema() and its own marshaler", at)
				}
			}
		}
		found = append(found, f)
	}
	return found, nil
}

// hasOwnForm reports whether a type's JSON form isn't that of its fields.
func hasOwnForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return slices.ContainsFunc([]reflect.Type{describer, marshaler, unmarshaler, textMarshaler, textUnmarshaler},
		p.Implements)
}

// validName reports whether encoding/json accepts a tag's name as the key; it ignores other names.
func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

// quotable reports whether ",string" has an effect on a kind.
func quotable(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Float64
}
