package provider_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

var (
	someTexts = []string{"", "x", "It is 3 °C.", "<b>&amp;</b>", "\u2028\u2029", "\x00\t\"\\", "\U0001F9CA", "\uFFFD"}
	someJSON  = []string{`{}`, `[1,2.50,1e3]`, `"<&>"`, `{"a":{"b":null},"c":"\ud83d\ude00"}`, `12345678901234567890`}
)

// fill sets v to something random, deep below a value of the given depth to nothing.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(someJSON[r.IntN(len(someJSON))]))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e10), r.Int64N(1e9)).UTC()))
		return
	case reflect.TypeFor[provider.ChunkKind]():
		v.SetUint(r.Uint64N(uint64(provider.KindEnd) + 1))
		return
	case reflect.TypeFor[fault.Class]():
		v.SetUint(r.Uint64N(uint64(fault.Denied) + 1))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(someTexts[r.IntN(len(someTexts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(int32(r.Uint32())))
	case reflect.Uint8:
		v.SetUint(r.Uint64N(256))
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Pointer:
		if depth > 0 && r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if n := r.IntN(4); depth > 0 && n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i), depth-1)
			}
		}
	case reflect.Map:
		if n := r.IntN(3); depth > 0 && n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key, depth-1)
				fill(r, value, depth-1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth-1)
		}
	}
}

func TestEveryTypeComesBackFromJSONUnchanged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, typ := range []reflect.Type{
		reflect.TypeFor[provider.Request](), reflect.TypeFor[provider.Response](), reflect.TypeFor[provider.Message](),
		reflect.TypeFor[provider.Part](),
		reflect.TypeFor[provider.Chunk](), reflect.TypeFor[provider.Extra](), reflect.TypeFor[provider.Usage](),
		reflect.TypeFor[provider.ModelInfo](),
	} {
		t.Run(typ.Name(), func(t *testing.T) {
			for range 300 {
				v := reflect.New(typ)
				fill(r, v.Elem(), 8)
				text := plain(t, v.Interface(), "")
				back := reflect.New(typ)
				require.NoError(t, json.Unmarshal(text, back.Interface()))
				require.Equal(t, v.Interface(), back.Interface())
				require.Equal(t, string(text), string(plain(t, back.Interface(), "")))
			}
		})
	}
}

func TestAnErrorComesBackFromJSONWithoutItsCause(t *testing.T) {
	wait := time.Duration(0)
	e := provider.Error{Class: fault.RateLimited, Provider: "p", Status: 429, Wait: &wait,
		Err: fault.New(fault.Transient, "cause")}
	var back provider.Error
	require.NoError(t, json.Unmarshal(plain(t, &e, ""), &back))
	e.Err = nil
	require.Equal(t, e, back)
}

func TestKindsHaveNamesAndUnknownOnesAreErrors(t *testing.T) {
	names := map[string]bool{}
	for k := provider.KindNone; k <= provider.KindEnd; k++ {
		text, err := k.MarshalText()
		require.NoError(t, err)
		require.Equal(t, k.String(), string(text))
		names[string(text)] = true
		var back provider.ChunkKind
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, k, back)
	}
	require.Len(t, names, int(provider.KindEnd)+1)

	beyond := provider.KindEnd + 1
	require.Equal(t, "ChunkKind(16)", beyond.String())
	_, err := beyond.MarshalText()
	require.Error(t, err)
	k := provider.KindText
	require.Error(t, k.UnmarshalText([]byte("Text")))
	require.Equal(t, provider.KindText, k)
}

func TestStopReasonsAfterWhichCallsRun(t *testing.T) {
	for reason, runs := range map[provider.StopReason]bool{
		provider.StopDone: true, provider.StopToolCalls: true, provider.StopUnknown: true, provider.StopLength: false,
		provider.StopFiltered: false,
		provider.StopPaused:   false, provider.StopError: false, "": false, "other": false,
	} {
		require.Equal(t, runs, reason.RunsCalls(), reason)
	}
}
