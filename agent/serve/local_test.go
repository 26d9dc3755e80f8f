package serve_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/serve"
)

// fields are of a header.
type fields = map[string]string

// A localRequest differs in some respects from what the page of a program sends.
type localRequest struct {
	method, host string
	header       fields
	reached      net.Addr // nil: the loopback address
}

func TestOnlyThisComputerIsAdmittedWithoutALogin(t *testing.T) {
	const port = 8080
	own := fields{"Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"}
	for name, tc := range map[string]struct {
		r     localRequest
		admit bool
	}{
		"the page":                        {localRequest{header: own}, true},
		"without a browser":               {localRequest{}, true},
		"127.0.0.1":                       {localRequest{host: "127.0.0.1:8080"}, true},
		"127.1.2.3":                       {localRequest{host: "127.1.2.3:8080"}, true},
		"::1":                             {localRequest{host: "[::1]:8080"}, true},
		"LOCALHOST":                       {localRequest{host: "LocalHost:8080"}, true},
		"an IPv4 address written as IPv6": {localRequest{host: "[::ffff:127.0.0.1]:8080"}, true},
		"another name of this computer":   {localRequest{header: fields{"Origin": "http://127.0.0.1:8080"}}, true},
		"a link opens the page": {localRequest{method: "GET", header: fields{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, true},
		"typed in": {localRequest{header: fields{"Sec-Fetch-Site": "none"}}, true},
		"a page that is named": {localRequest{
			header: fields{"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}}, true},
		"a port that is forwarded": {localRequest{host: "localhost:3000"}, true},
		"a proxy of this computer": {localRequest{header: fields{"X-Forwarded-For": "127.0.0.1, ::1",
			"X-Forwarded-Host": "localhost:5173"}}, true},

		"a name that was rebound": {localRequest{host: "evil.example:8080",
			header: fields{"Origin": "http://evil.example:8080"}}, false},
		"a rebound name, no origin": {localRequest{host: "evil.example:8080"}, false},
		"a name that looks local":   {localRequest{host: "localhost.evil.example:8080"}, false},
		"a name that begins as one": {localRequest{host: "127.0.0.1.evil.example:8080"}, false},
		"a subdomain":               {localRequest{host: "evil.localhost:8080"}, false},
		"a name with a dot":         {localRequest{host: "localhost.:8080"}, false},
		"a user in the name":        {localRequest{host: "localhost:8080@evil.example"}, false},
		"an odd notation":           {localRequest{host: "127.1:8080"}, false},
		"a number":                  {localRequest{host: "2130706433:8080"}, false},
		"the unspecified address":   {localRequest{host: "0.0.0.0:8080"}, false},
		"a zone":                    {localRequest{host: "[::1%25lo]:8080"}, false},
		"another port":              {localRequest{host: "localhost:9999"}, false},
		"no port":                   {localRequest{host: "localhost"}, false},
		"no host":                   {localRequest{host: " "}, false},
		"a page of another program": {localRequest{
			header: fields{"Origin": "http://localhost:9999", "Sec-Fetch-Site": "same-site"}}, false},
		"its image": {localRequest{method: "GET",
			header: fields{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}}, false},
		"a foreign page": {localRequest{
			header: fields{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}}, false},
		"a foreign page in old words": {localRequest{header: fields{"Origin": "https://evil.example"}}, false},
		"a sandbox":                   {localRequest{header: fields{"Origin": "null"}}, false},
		"a frame of a page that has a server of its own": {localRequest{method: "GET", header: fields{
			"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}}, true},
		"a foreign frame": {localRequest{method: "GET", header: fields{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}}, false},
		"a form of a foreign page": {localRequest{method: "POST", header: fields{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, false},
		"an origin with a path": {localRequest{header: fields{"Origin": "http://localhost:8080/x"}}, false},
		"an origin with a user": {localRequest{
			header: fields{"Origin": "http://localhost:8080@evil.example"}}, false},
		"an origin of a file":    {localRequest{header: fields{"Origin": "file://localhost:8080"}}, false},
		"from the network":       {localRequest{reached: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: port}}, false},
		"from somewhere":         {localRequest{reached: &net.UnixAddr{Name: "x"}}, false},
		"through a proxy":        {localRequest{header: fields{"X-Forwarded-For": "203.0.113.7"}}, false},
		"through two proxies":    {localRequest{header: fields{"X-Forwarded-For": "203.0.113.7, 127.0.0.1"}}, false},
		"for another name":       {localRequest{header: fields{"X-Forwarded-Host": "shop.example"}}, false},
		"through a modern proxy": {localRequest{header: fields{"Forwarded": "for=203.0.113.7"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(orElse(tc.r.method, http.MethodPost), "/chat", nil)
			r.Host = strings.TrimSpace(orElse(tc.r.host, "localhost:8080"))
			for k, v := range tc.r.header {
				r.Header.Set(k, v)
			}
			reached := tc.r.reached
			if reached == nil {
				reached = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
			}
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, reached))
			local := serve.Local{Origins: []string{"http://localhost:3000"}}
			user, err := local.Authorize(r, "s-1", serve.ActionSend)
			rec := httptest.NewRecorder()
			local.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {})).ServeHTTP(rec, r)
			if tc.admit {
				require.NoError(t, err)
				require.Equal(t, "local", user)
				require.Equal(t, http.StatusOK, rec.Code)
				return
			}
			require.Error(t, err)
			require.Empty(t, user)
			require.Equal(t, http.StatusForbidden, rec.Code)
		})
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// A server of the standard library says which address a request has reached; a test's recorder
// doesn't, and is refused.
func TestLocalHandlersAnswerRealRequests(t *testing.T) {
	s := httptest.NewServer(serve.Local{}.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	})))
	defer s.Close()
	for host, want := range map[string]int{"": http.StatusOK, "evil.example": http.StatusForbidden} {
		r, err := http.NewRequest(http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		r.Host = host
		res, err := s.Client().Do(r)
		require.NoError(t, err)
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		require.Equal(t, want, res.StatusCode, "%s", text)
	}
	_, err := serve.Local{User: "ann"}.Authorize(httptest.NewRequest(http.MethodGet, "/", nil), "", serve.ActionList)
	require.ErrorContains(t, err, "loopback")
}
