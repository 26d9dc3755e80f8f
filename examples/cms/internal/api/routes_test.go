package api

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each route answers, if only that what it is about doesn't exist.
func TestEachRouteIsServedOnce(t *testing.T) {
	b := newBench(t)
	s := &server{Site: b.Site}
	routes, seen := append(s.contentRoutes(), s.sessionRoutes()...), map[string]bool{}
	for _, rt := range routes {
		require.False(t, seen[rt.method+rt.path], "%s %s", rt.method, rt.path)
		seen[rt.method+rt.path] = true
		at := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(rt.path, "unknown")
		status, envelope := b.request(rt.method, at, "", nil)
		require.NotEqual(t, http.StatusMethodNotAllowed, status, "%s %s", rt.method, at)
		require.NotContains(t, envelope["raw"], "there is no route", "%s %s", rt.method, at)
	}
	require.Len(t, routes, 56)
}
