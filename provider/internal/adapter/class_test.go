package adapter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func TestErrorsHaveTheirClass(t *testing.T) {
	for body, want := range map[string]fault.Class{
		// inside an answer
		`{"error":{"message":"upstream lost"}}`:                                      fault.Degraded,
		`{"error":{"message":"unknown error"}}`:                                      fault.Degraded,
		`{"error":{"message":"connection reset by peer"}}`:                           fault.Degraded,
		`{"error":{"message":"Request timed out"}}`:                                  fault.Transient,
		`{"error":{"message":"Too many requests"}}`:                                  fault.RateLimited,
		`{"error":{"message":"x","code":"rate_limit_exceeded"}}`:                     fault.RateLimited,
		`{"error":{"message":"x","code":503,"type":"invalid_request_error"}}`:        fault.Permanent,
		`{"error":{"message":"x","code":503}}`:                                       fault.Degraded,
		`{"error":{"message":"Incorrect API key provided"}}`:                         fault.UserFixable,
		`{"error":{"message":"see /account/billing","code":"rate_limit_exceeded"}}`:  fault.RateLimited,
		`{"error":{"message":"Unknown model: foo"}}`:                                 fault.Permanent,
		`{"error":{"message":"x","code":"unknown_parameter"}}`:                       fault.Permanent,
		`{"error":{"message":"the tool internal_search isn't defined"}}`:             fault.Permanent,
		`{"error":{"message":"The database_connection tool has an invalid schema"}}`: fault.Permanent,
		`{"error":{"message":"tool call_1 was cancelled","code":"bad_request"}}`:     fault.Permanent,
		`{"base_resp":{"status_code":1002,"status_msg":"rate limit triggered"}}`:     fault.RateLimited,
		`{"error":{"message":"{\"error\":{\"code\":429,\"message\":\"slow\"}}"}}`:    fault.RateLimited,
	} {
		f := adapter.ParseFailure([]byte(body))
		require.Equal(t, want, adapter.ClassOf(&f, 200), body)
	}
	for body, want := range map[int]map[string]fault.Class{
		400: {`{"error":{"message":"tool get_billing_info: JSON schema is invalid"}}`: fault.Permanent,
			`{"error":{"message":"insufficient balance"}}`: fault.UserFixable},
		500: {`{"error":{"message":"calling tool billing_lookup"}}`: fault.Degraded},
		503: {`{"error":{"message":"Overloaded; invalid api key cache"}}`: fault.Degraded},
		429: {`{"error":{"message":"check your billing details"}}`: fault.RateLimited},
	} {
		for text, want := range want {
			f := adapter.ParseFailure([]byte(text))
			require.Equal(t, want, adapter.ClassOf(&f, body), text)
		}
	}
}

func TestWhatBesidesAnAnswerIsAnError(t *testing.T) {
	for body, want := range map[string][2]bool{ // certain, says
		`{"code":500,"message":"x"}`:                      {true, true},
		`{"type":"error","message":"x"}`:                  {false, true},
		`{"type":"server_error"}`:                         {true, true},
		`{"detail":"x"}`:                                  {false, true},
		`{"type":"ping","message":"queued"}`:              {false, true},
		`{"code":0,"message":"success"}`:                  {false, false},
		`{"code":"ok","message":"x"}`:                     {false, false},
		`{"base_resp":{"status_code":0,"status_msg":""}}`: {false, false},
		`{"id":"x","object":"chat.completion.chunk"}`:     {false, false},
	} {
		f := adapter.ParseFailure([]byte(body))
		require.Equal(t, want, [2]bool{f.Certain(), f.Says()}, body)
	}
}

func TestHowLongToWaitIsInTheText(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Please try again in 7.66s. Need more?":       7660 * time.Millisecond,
		"Please retry after 6 seconds.":               6 * time.Second,
		"Please retry in 1m30.5s":                     90*time.Second + 500*time.Millisecond,
		"try again in 250ms":                          250 * time.Millisecond,
		"You must wait 2 hours":                       2 * time.Hour,
		"try again in 20s to use 3 models":            20 * time.Second,
		"Request timed out after waiting 600 seconds": 0,
		"We waited 30s for an upstream":               0,
		"try again with 2 models":                     0,
		"try again later":                             0,
		"try again in 99999999999999999999s":          0,
	} {
		e := &provider.Error{Class: fault.RateLimited, Message: text}
		adapter.Judge(e, &adapter.Failure{})
		if want == 0 {
			require.Nil(t, e.Wait, text)
			continue
		}
		require.NotNil(t, e.Wait, text)
		require.Equal(t, want, *e.Wait, text)
	}
}
