package adapter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsAreFoundInAllTheirForms(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"error":`, n) + `{"message":"deep"}` + strings.Repeat("}", n)
	}
	for body, want := range map[string]Failure{
		`{"error":{"type":"busy","code":7,"message":"Wait."},"request_id":"r"}`: {Type: "busy", Code: "7",
			Message: "Wait.", RequestID: "r"},
		`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Wait."}}]`: {Code: "429", Status: 429,
			State: "RESOURCE_EXHAUSTED", Message: "Wait."},
		`{"status":500,"error":"Internal"}`:                      {Status: 500, Message: "Internal"},
		`{"type":"error","error":"no"}`:                          {Message: "no"},
		`{"detail":[{"msg":"field required","type":"missing"}]}`: {Type: "missing", Message: "field required"},
		`"no \"quotes\""`:                                        {Message: `no "quotes"`},
		`["first","second"]`:                                     {Message: "first"},
		`true`:                                                   {},
		`null`:                                                   {},
		`[]`:                                                     {},
		"Bad\ngateway":                                           {Message: "Bad gateway"},
		"<html><title>Bad gateway</title></html>":                   {Message: "Bad gateway"},
		`{"message":"m","metadata":{"raw":"upstream"}}`:             {Message: "m (upstream)"},
		`{"error":null,"message":"m","details":[{"reason":"Why"}]}`: {Message: "m", Details: []byte(`[{"reason":"Why"}]`)},
		deep(mostNested):     {Message: "deep"},
		deep(mostNested + 1): {}, // each level is parsed again
	} {
		require.Equal(t, want, ParseFailure([]byte(body)), body)
	}
}
