package fault_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestEveryStatusHasAClass(t *testing.T) {
	special := map[int]fault.Class{
		401: fault.UserFixable, 402: fault.UserFixable, 403: fault.UserFixable,
		408: fault.Transient, 425: fault.Transient, 429: fault.RateLimited,
		501: fault.Permanent, 505: fault.Permanent,
	}
	for code := -1; code <= 1000; code++ {
		want, ok := special[code]
		switch {
		case ok:
		case code >= 100 && code < 400:
			want = fault.None
		case code >= 500 && code < 600:
			want = fault.Degraded
		default:
			want = fault.Permanent
		}
		require.Equal(t, want, fault.FromStatus(code), code)

		err := fault.FromHTTP(&http.Response{StatusCode: code})
		require.Equal(t, want, fault.Of(err), code)
		require.Equal(t, want == fault.None, err == nil, code)
	}
}

func TestANilResponseIsAnError(t *testing.T) {
	require.Equal(t, fault.Permanent, fault.Of(fault.FromHTTP(nil)))
}

// untouchable fails the test when it is used.
type untouchable struct{ t *testing.T }

func (u untouchable) Read([]byte) (int, error) { u.t.Error("read"); return 0, io.EOF }
func (u untouchable) Close() error             { u.t.Error("closed"); return nil }

func response(t *testing.T, status int, address string, h http.Header) *http.Response {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return &http.Response{StatusCode: status, Header: h, Body: untouchable{t},
		Request: &http.Request{Method: "POST", URL: u}}
}

func TestAnHTTPErrorHoldsWhatHelpsAndNoSecret(t *testing.T) {
	h := http.Header{}
	h.Set("Request-Id", "req_1")
	h.Set("Retry-After", "2")
	res := response(t, 503, "https://ann:s3cret@api.test:8443/v1/a%2Fb?key=s3cret#s3cret", h)

	err := fault.FromHTTP(res)

	var e *fault.HTTPError
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.HTTPError{
		Status: 503, Class: fault.Degraded, Method: "POST", URL: "https://api.test:8443/v1/a%2Fb", RequestID: "req_1",
		Wait: 2 * time.Second,
	}, *e)
	require.EqualError(t, err,
		`fault: POST https://api.test:8443/v1/a%2Fb: status 503 Service Unavailable, request "req_1", retry after 2s`)
	wait, ok := fault.RetryAfter(err)
	require.True(t, ok)
	require.Equal(t, 2*time.Second, wait)
}

func TestAnOpaqueURLIsNotShown(t *testing.T) {
	err := fault.FromHTTP(response(t, 500, "http:ann:s3cret@api.test", nil))
	require.NotContains(t, err.Error(), "s3cret")
}

func TestAnHTTPErrorSaysOnlyWhatIsKnown(t *testing.T) {
	require.EqualError(t, fault.FromHTTP(&http.Response{StatusCode: 799}), "fault: status 799")
	require.EqualError(t, fault.FromHTTP(&http.Response{StatusCode: 404, Request: &http.Request{}}),
		"fault: GET: status 404 Not Found")
	_, ok := fault.RetryAfter(&fault.HTTPError{Status: 503, Wait: -1})
	require.False(t, ok)
}

func TestAnHTTPErrorMadeByHandHasTheClassOfItsStatus(t *testing.T) {
	require.Equal(t, fault.RateLimited, fault.Of(&fault.HTTPError{Status: 429}))
	require.Equal(t, fault.UserFixable, fault.Of(&fault.HTTPError{Status: 429, Class: fault.UserFixable}))
}

func TestARequestIDIsFoundUnderEachOfItsNamesAndBounded(t *testing.T) {
	for _, name := range []string{"request-id", "x-request-id", "x-amzn-requestid", "apim-request-id",
		"x-ms-request-id"} {
		h := http.Header{}
		h.Set(name, strings.Repeat("r", 1000))
		var e *fault.HTTPError
		require.True(t, errors.As(fault.FromHTTP(response(t, 500, "http://api.test/", h)), &e))
		require.Equal(t, strings.Repeat("r", 128), e.RequestID, name)
	}
}

func TestADateInAResponseCountsFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := http.Header{}
		h.Set("Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
		wait, ok := fault.RetryAfter(fault.FromHTTP(response(t, 429, "http://api.test/", h)))
		require.True(t, ok)
		require.Equal(t, 90*time.Second, wait)
	})
}
