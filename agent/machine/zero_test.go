package machine_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/machine"
)

// A log that is imported may have facts without contents.
func TestFactsWithoutContentsPanicNowhere(t *testing.T) {
	for kind, typ := range machine.FactTypes {
		f := machine.Stamp(reflect.New(typ).Interface().(machine.Fact), machine.Meta{Seq: 1})
		for name, fn := range map[string]func(){
			"Copy":         func() { _, _ = history.Copy("a", "b", []machine.Fact{f}, 0) },
			"Conversation": func() { machine.Conversation([]machine.Fact{f}) },
			"Trace":        func() { _, _ = history.Trace("a", []machine.Fact{f}, false) },
			"EffectsOf":    func() { machine.EffectsOf([]machine.Fact{f}, "", 0) },
			"Fact":         func() { machine.Redactor(nil).Fact(f) },
			"Truncate":     func() { machine.Truncate(f) },
			"Encode":       func() { _, _ = machine.Encode(f) },
		} {
			require.NotPanics(t, fn, "%s of %s", name, kind)
		}
	}
	empty := &machine.Undone{Calls: []machine.UndoneCall{{}}}
	require.NotPanics(t, func() { machine.EffectsOf([]machine.Fact{empty}, "", 0) })
}
