package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

type order struct {
	ID       string   `json:"id"`
	Customer customer `json:"customer"`
	Items    []item   `json:"items"`
	Paid     bool     `json:"paid"`
	Note     string   `json:"note,omitempty"`
	Total    float64  `json:"total"`
}

type customer struct {
	Name    string  `json:"name"`
	Mail    string  `json:"mail"`
	Address *street `json:"address"`
}

type street struct {
	Street string `json:"street"`
	City   string `json:"city"`
}

type item struct {
	SKU   string `json:"sku"`
	Count uint8  `json:"count"`
}

const (
	smallText  = `{"a":1,"b":2}`
	mediumText = `{"id":"o-17","customer":{"name":"Ann","mail":"ann@example.com","address":{"street":"Main Street 1","city":"Oslo"}},` +
		`"items":[{"sku":"a-1","count":2},{"sku":"b-2","count":1}],"paid":true,"total":17.5}`
)

// Run with: go test -run '^$' -bench . -benchmem ./internal/schema
func BenchmarkAccept(b *testing.B) {
	small, medium := of[sum](b, ""), of[order](b, "")
	pattern := parse(b,
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer","multipleOf":1}},"required":["a","b"]}`)
	for _, bc := range []struct {
		name string
		s    *Schema
		text string
	}{
		{"small", small, smallText},
		{"medium", medium, mediumText},
		{"small with blanks", small, `{"a": 1, "b": 2}`},
		{"small by the full validator", pattern, smallText},
		{"small wrong", small, `{"a":1,"c":2}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			text := json.RawMessage(bc.text)
			for b.Loop() {
				bc.s.Accept(text)
			}
		})
	}
}

// BenchmarkFullValidator is what every call would cost without the reader: decoding and
// jsonschema/v5.
func BenchmarkFullValidator(b *testing.B) {
	for _, bc := range []struct {
		name string
		s    *Schema
		text string
	}{
		{"small", of[sum](b, ""), smallText},
		{"medium", of[order](b, ""), mediumText},
	} {
		v, err := decode([]byte(bc.text))
		require.NoError(b, err)
		b.Run(bc.name+" decoded", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bc.s.full.Validate(v) != nil {
					b.Fatal("refused")
				}
			}
		})
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bc.s.judge(bc.s.full, []byte(bc.text)) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
