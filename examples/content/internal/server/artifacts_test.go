package server_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/observe"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/server"
)

func TestLogin(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	require.Len(t, s.call("", "GET", "/api/users", nil).ok().at("users"), 3)
	in := s.call("", "POST", "/api/login", map[string]any{"user": "ann"}).ok()
	cookie := in.header.Get("Set-Cookie")
	require.Contains(t, cookie, "HttpOnly")
	require.Contains(t, cookie, "SameSite=Strict")
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/api/me", nil)
	require.NoError(t, err)
	req.Header.Set("Cookie", cookie)
	require.Equal(t, "ann", s.do(req).ok().str("user", "id"))

	s.call("", "POST", "/api/login", map[string]any{"user": "mallory"}).refuses(http.StatusUnauthorized,
		portfolio.Unauthorized)
	good := s.tokens["ann"]
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"none": "", "nonsense": "x.y.z", "no signature": parts[0] + "." + parts[1] + ".",
		"that of another user": parts[0] + "." + strings.Split(s.tokens["ben"], ".")[1] + "." + parts[2],
		"no algorithm":         "eyJhbGciOiJub25lIn0." + parts[1] + ".", "header alone": parts[0] + ".",
		"another signature": good[:len(good)-2] + "xx",
	} {
		s.tokens["mallory"] = token
		s.call("mallory", "GET", "/api/me", nil).refuses(http.StatusUnauthorized, portfolio.Unauthorized)
		require.Equal(t, http.StatusUnauthorized, s.call("mallory", "GET", "/agent/sessions", nil).status, name)
		require.Equal(t, http.StatusUnauthorized, s.call("mallory", "GET", "/images/x", nil).status, name)
	}
	require.Contains(t, s.call("ann", "POST", "/api/logout", nil).header.Get("Set-Cookie"), "Max-Age=0")
	s.call("ann", "GET", "/api/me", nil).refuses(http.StatusUnauthorized, portfolio.Unauthorized)
	s.call("ben", "GET", "/api/me", nil).ok()
	s.tokens["ann"] = s.call("", "POST", "/api/login", map[string]any{"user": "ann"}).ok().str("token")
	s.call("ann", "GET", "/api/me", nil).ok()
}

func TestATokenHoldsFromItsNotBefore(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{config: func(c *server.Config) { c.Secret = []byte("secret") }})
	for at, status := range map[time.Duration]int{time.Hour: http.StatusUnauthorized, -time.Hour: http.StatusOK} {
		s.tokens["other"] = signed(t, s.tokens["ann"], map[string]any{"sub": "ann",
			"exp": time.Now().Add(2 * time.Hour).Unix(), "nbf": time.Now().Add(at).Unix()})
		require.Equal(t, status, s.call("other", "GET", "/api/me", nil).status, at)
	}
}

// Another service may sign a token that lasts for longer than the logins of this one.
func TestALogoutLastsAsLongAsItsToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{config: func(c *server.Config) { c.Secret = []byte("secret") }})
	until := time.Now().Add(30 * 24 * time.Hour).Truncate(time.Second)
	s.tokens["ann"] = signed(t, s.tokens["ann"], map[string]any{"sub": "ann", "exp": until.Unix()})
	s.call("ann", "POST", "/api/logout", nil)
	db, err := sql.Open("sqlite", s.services.Store.Path())
	require.NoError(t, err)
	defer db.Close()
	var kept int64
	require.NoError(t, db.QueryRow("SELECT until FROM logouts").Scan(&kept))
	require.Equal(t, until.UnixMilli(), kept)
}

// signed returns a token like another one with other claims, signed with "secret".
func signed(t *testing.T, like string, claims map[string]any) string {
	t.Helper()
	body, err := json.Marshal(claims)
	require.NoError(t, err)
	text := strings.Split(like, ".")[0] + "." + base64.RawURLEncoding.EncodeToString(body)
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestWhatIsMissingAnswersAsWhatIsAnothers(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	foreign, missing := s.draft("ben", "Remote work"), "11111111-2222-4333-8444-555555555555"
	proposed, err := s.services.Store.Create(t.Context(), portfolio.Artifact{User: "ben", Type: portfolio.Blog,
		Title: "Small teams", Content: "One."})
	require.NoError(t, err)
	p, err := s.services.Store.Propose(t.Context(), "ben",
		portfolio.Proposal{Artifact: proposed.ID, Old: "One", New: "Two"})
	require.NoError(t, err)
	patch := map[string]any{"title": "x"}
	for _, c := range []struct {
		method, path string // with ID, or PROPOSAL
		body         any
	}{
		{"GET", "/api/artifacts/ID", nil}, {"PATCH", "/api/artifacts/ID", patch}, {"DELETE", "/api/artifacts/ID", nil},
		{"POST", "/api/artifacts/ID/publish", nil}, {"POST", "/api/artifacts/ID/archive", nil},
		{"POST", "/api/artifacts/ID/edit", nil}, {"GET", "/api/artifacts/ID/research", nil},
		{"GET", "/api/artifacts/ID/history", nil}, {"GET", "/api/artifacts/ID/versions", nil},
		{"GET", "/api/artifacts/ID/versions/1", nil}, {"POST", "/api/artifacts/ID/versions/1/restore", nil},
		{"GET", "/api/artifacts/ID/markdown", nil},
		{"POST", "/api/artifacts/ID/preview", map[string]any{"content": "x"}},
		{"POST", "/api/artifacts/ID/proposals", map[string]any{"instruction": "shorter"}},
		{"POST", "/api/content-agent/cancel", map[string]any{"artifactId": "ID"}},
		{"POST", "/api/content-agent/execute", map[string]any{"message": "Write it",
			"screenContext": map[string]any{"artifactId": "ID"}}},
		{"POST", "/api/proposals/PROPOSAL/accept", nil}, {"POST", "/api/proposals/PROPOSAL/reject", nil},
		{"GET", "/images/ID", nil},
	} {
		answer := func(id, proposal string) string {
			names := strings.NewReplacer("ID", id, "PROPOSAL", proposal)
			text, err := json.Marshal(c.body)
			require.NoError(t, err)
			a := s.call("ann", c.method, names.Replace(c.path), json.RawMessage(names.Replace(string(text))))
			return strings.ReplaceAll(a.refuses(http.StatusNotFound, portfolio.ArtifactNotFound).raw,
				a.str("error", "traceId"), "")
		}
		require.Equal(t, answer(foreign, p.ID), answer(missing, missing), c.path)
	}
}

func TestServerErrorsAreLoggedWithTheirCauseAndNoUser(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	s.hook = func(context.Context, string) error {
		return fault.New(fault.Permanent, "the disk of the model is full")
	}
	id := s.draft("ann", "Remote work")
	trace := s.button("ann", id).refuses(http.StatusInternalServerError, portfolio.ToolExecutionFailed).str("traceId")
	s.hook = nil
	s.say("ann", "", "Show my drafts").ok()
	require.Regexp(t, `"trace":"`+trace+`"[^\n]*the disk of the model is full`, s.log.String())
	require.NotRegexp(t, `\bann\b`, s.log.String())
	for head, err := range s.services.Journal.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		require.NotContains(t, head.Session, "ann")
	}
}

func TestTheLifeOfAnArtifact(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	a := s.call("ann", "POST", "/api/artifacts",
		map[string]any{"type": "blog", "title": "Remote work", "tags": []string{"work"}}).ok()
	id, path := a.str("id"), "/api/artifacts/"+a.str("id")
	require.Equal(t, "draft", a.str("status"))
	s.call("ann", "POST", path+"/publish", nil).refuses(http.StatusBadRequest, portfolio.InvalidStatus)
	s.button("ann", id).ok()
	a = s.call("ann", "PATCH", path, map[string]any{"title": "Remote work, again",
		"content": "# A\n\n**b** <script>alert(1)</script>", "tags": []string{"x", "y"}, "tone": "casual"}).ok()
	require.Equal(t, []any{"x", "y"}, a.at("tags"))
	require.Equal(t, "Remote work, again", a.str("title"))
	require.Contains(t, a.str("html"), "<strong>b</strong>")
	require.NotContains(t, a.str("html"), "script")
	require.Equal(t, "published", s.call("ann", "POST", path+"/publish", nil).ok().str("status"))
	require.Equal(t, "ready",
		s.call("ann", "PATCH", path,
			map[string]any{"tone": "formal", "updatedAt": s.call("ann", "GET", path, nil).ok().str("updatedAt")}).ok().
			str("status"), "a published artifact that is changed")
	require.Equal(t, "archived", s.call("ann", "POST", path+"/archive", nil).ok().str("status"))
	require.Equal(t, "ready", s.call("ann", "POST", path+"/edit", nil).ok().str("status"))
	require.NotEmpty(t, s.call("ann", "GET", path+"/research", nil).ok().at("research"))
	require.Len(t, s.call("ann", "GET", path+"/history", nil).ok().at("history"), 9)
	require.Len(t, s.call("ann", "GET", "/api/artifacts?status=ready", nil).ok().at("artifacts"), 1)
	require.Empty(t, s.call("ann", "GET", "/api/artifacts?status=draft", nil).ok().at("artifacts"))
	require.Equal(t, http.StatusNoContent, s.call("ann", "DELETE", path, nil).status)
	s.call("ann", "GET", path, nil).refuses(http.StatusNotFound, portfolio.ArtifactNotFound)

	me := s.call("ann", "PUT", "/api/user-context", map[string]any{"bio": "A baker"}).ok()
	require.Equal(t, "A baker", me.str("bio"))
	require.Equal(t, "A baker", s.call("ann", "GET", "/api/user-context", nil).ok().str("bio"))
}

// What is saved in an editor doesn't overwrite what was written after the editor was opened.
func TestTwoWhoEditAnArtifact(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	path := "/api/artifacts/" + s.draft("ann", "Remote work")
	seen := s.call("ann", "GET", path, nil).ok().str("updatedAt")
	first := s.call("ann", "PATCH", path, map[string]any{"content": "one", "updatedAt": seen}).ok()
	s.call("ann", "PATCH", path, map[string]any{"content": "two", "updatedAt": seen}).refuses(http.StatusConflict,
		portfolio.Conflict)
	require.Equal(t, "one", s.call("ann", "GET", path, nil).ok().str("content"))
	s.call("ann", "PATCH", path, map[string]any{"content": "one and two", "updatedAt": first.str("updatedAt")}).ok()
}

func TestInputThatIsWrong(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	long := strings.Repeat("ä", 100_001)
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		category     portfolio.Category
	}{
		{"POST", "/api/artifacts", map[string]any{"type": "poem", "title": "x"}, 400, portfolio.InvalidContentType},
		{"POST", "/api/artifacts", map[string]any{"type": "blog", "title": " "}, 400, portfolio.InvalidInput},
		{"POST", "/api/artifacts", map[string]any{"type": "blog", "title": strings.Repeat("x", 501)}, 400,
			portfolio.InvalidInput},
		{"POST", "/api/artifacts", map[string]any{"type": "blog", "title": "x", "tone": "shrill"}, 400,
			portfolio.InvalidTone},
		{"POST", "/api/artifacts", map[string]any{"type": "blog", "title": "x", "tags": make([]string, 21)}, 400,
			portfolio.InvalidInput},
		{"POST", "/api/artifacts", map[string]any{"type": "blog", "title": "x", "user": "ben"}, 400,
			portfolio.InvalidInput},
		{"POST", "/api/artifacts", `{"type"`, 400, portfolio.InvalidInput},
		{"POST", "/api/artifacts", `{} {}`, 400, portfolio.InvalidInput},
		{"POST", "/api/artifacts", `[]`, 400, portfolio.InvalidInput},
		{"POST", "/api/artifacts", `"` + strings.Repeat("x", 600<<10) + `"`, 413, portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, map[string]any{"content": long}, 400, portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, "", 400, portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, map[string]any{"title": ""}, 400, portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, map[string]any{"title": " "}, 400, portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, map[string]any{"tags": []string{""}}, 400, portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, map[string]any{"tags": []string{strings.Repeat("x", 51)}}, 400,
			portfolio.InvalidInput},
		{"PATCH", "/api/artifacts/" + id, map[string]any{"status": "published"}, 400, portfolio.InvalidInput},
		{"GET", "/api/artifacts?status=lost", nil, 400, portfolio.InvalidInput},
		{"GET", "/api/artifacts/a%2Fb", nil, 404, portfolio.ArtifactNotFound},
		{"GET", "/api/artifacts/" + strings.Repeat("x", 100), nil, 404, portfolio.ArtifactNotFound},
		{"GET", "/api/nothing", nil, 404, portfolio.InvalidInput},
		{"PUT", "/api/user-context", map[string]any{"bio": strings.Repeat("x", 2_001)}, 400, portfolio.InvalidInput},
		{"POST", "/api/content-agent/execute", map[string]any{"message": " "}, 400, portfolio.InvalidInput},
		{"POST", "/api/content-agent/execute", map[string]any{"message": strings.Repeat("ä", 10_001)}, 400,
			portfolio.InvalidInput},
		{"POST", "/api/content-agent/execute", map[string]any{"message": "x",
			"screenContext": map[string]any{"artifactId": "../x"}}, 404, portfolio.ArtifactNotFound},
		{"POST", "/api/content-agent/execute", map[string]any{"message": "x", "sessionId": "ben/1"}, 400,
			portfolio.InvalidInput},
	} {
		s.call("ann", c.method, c.path, c.body).refuses(c.status, c.category)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/artifacts", strings.NewReader("type=blog"))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.tokens["ann"])
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.do(req).refuses(http.StatusUnsupportedMediaType, portfolio.InvalidInput)
}

func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	for name, change := range map[string]func(*http.Request){
		"a foreign Origin":    func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a cross-site fetch":  func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a name of elsewhere": func(r *http.Request) { r.Host = "evil.example" },
	} {
		for _, path := range []string{"/api/login", "/api/artifacts", "/api/content-agent/execute",
			"/agent/sessions/send"} {
			req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+path, strings.NewReader("{}"))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+s.tokens["ann"])
			change(req)
			require.Equal(t, http.StatusForbidden, s.do(req).status, name)
		}
	}
}

// withObserver sets an observer.
func withObserver(t *testing.T, token string) options {
	o, err := observe.New(observe.Config{})
	require.NoError(t, err)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("page")) })
	return options{config: func(c *server.Config) { c.Observer, c.Pages, c.MetricsToken = o, page, token }}
}

func TestAdministratorsAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, withObserver(t, ""))
	for _, path := range []string{"/metrics", "/api/admin/alerts", "/api/admin/traces", "/api/admin/dashboard"} {
		require.Equal(t, http.StatusOK, s.call("eva", "GET", path, nil).status)
		s.call("ann", "GET", path, nil).refuses(http.StatusForbidden, portfolio.Unauthorized)
		s.call("", "GET", path, nil).refuses(http.StatusUnauthorized, portfolio.Unauthorized)
	}
	require.Equal(t, "page", s.call("", "GET", "/portfolio", nil).raw)
}

func TestPrometheusReadsMetricsWithItsToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, withObserver(t, "scrape"))
	s.tokens["prometheus"], s.tokens["stranger"] = "scrape", "scrap"
	require.Equal(t, http.StatusOK, s.call("prometheus", "GET", "/metrics", nil).status)
	require.Equal(t, http.StatusOK, s.call("eva", "GET", "/metrics", nil).status)
	s.call("stranger", "GET", "/metrics", nil).refuses(http.StatusUnauthorized, portfolio.Unauthorized)
	s.call("prometheus", "GET", "/api/admin/alerts", nil).refuses(http.StatusUnauthorized, portfolio.Unauthorized)

	s = newSite(t, withObserver(t, ""))
	s.tokens["nobody"] = ""
	s.call("nobody", "GET", "/metrics", nil).refuses(http.StatusUnauthorized, portfolio.Unauthorized)
}

func TestTheTextIsMeasuredAfterEachChange(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	path := "/api/artifacts/" + s.draft("ann", "Remote work")
	require.Equal(t, "Not measured: there is no text", s.call("ann", "GET", path, nil).str("humanity", "summary"))
	for text, summary := range map[string]string{
		"We moved the meeting.":                        "0 of 24 patterns found",
		"In order to win, leverage robust tools.":      "2 of 24 patterns found",
		"Wir haben das Formular gekürzt und sind froh": "Not measured: only English is, and this is German",
	} {
		s.call("ann", "PATCH", path, map[string]string{"content": text}).ok()
		require.Equal(t, summary, s.call("ann", "GET", path, nil).str("humanity", "summary"))
	}
}
