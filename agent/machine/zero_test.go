package machine

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A log that is imported may have facts without contents.
func TestFactsWithoutContentsPanicNowhere(t *testing.T) {
	for kind, typ := range factTypes {
		f := Stamp(reflect.New(typ).Interface().(Fact), Meta{Seq: 1})
		for name, fn := range map[string]func(){
			"Copy":         func() { _, _ = Copy("a", "b", []Fact{f}, 0) },
			"Conversation": func() { Conversation([]Fact{f}) },
			"Trace":        func() { _, _ = Trace("a", []Fact{f}, false) },
			"EffectsOf":    func() { EffectsOf([]Fact{f}, "", 0) },
			"Fact":         func() { Redactor(nil).Fact(f) },
			"Truncate":     func() { Truncate(f) },
			"Encode":       func() { _, _ = Encode(f) },
		} {
			require.NotPanics(t, fn, "%s of %s", name, kind)
		}
	}
	require.NotPanics(t, func() { EffectsOf([]Fact{&Undone{Calls: []UndoneCall{{}}}}, "", 0) })
}
