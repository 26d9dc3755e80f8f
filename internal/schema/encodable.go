package schema

import (
	"fmt"
	"reflect"
	"strings"
)

// Encodable returns an error with the type and its path if encoding/json can't encode a value of t:
// if it contains a channel, a function, a complex number, or a map with unsupported keys. The
// values of interfaces aren't known in advance.
func Encodable(t reflect.Type) error {
	if err := encodable(t, t.String(), map[reflect.Type]bool{}); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

func encodable(t reflect.Type, path string, seen map[reflect.Type]bool) error {
	if seen[t] || hasOwnForm(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer:
		return encodable(t.Elem(), path, seen)
	case reflect.Slice, reflect.Array:
		return encodable(t.Elem(), path+"[]", seen)
	case reflect.Map:
		if key := t.Key(); key.Kind() != reflect.String &&
			!(key.Kind() >= reflect.Int && key.Kind() <= reflect.Uintptr) && !key.Implements(textMarshaler) {
			return fmt.Errorf(
				"%s: the keys of %s are neither strings nor integers; use a map with string keys or a list", path, t)
		}
		return encodable(t.Elem(), path+"{}", seen)
	case reflect.Struct:
		for i := range t.NumField() {
			sf := t.Field(i)
			tag := sf.Tag.Get("json")
			if !sf.IsExported() && !sf.Anonymous || tag == "-" || strings.Contains(tag, ",omitzero") {
				continue
			}
			if err := encodable(sf.Type, path+"."+sf.Name, seen); err != nil {
				return err
			}
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return noForm(t, path)
	}
	return nil
}
