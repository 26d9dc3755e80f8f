package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// merge returns the most best results, each page once. Results with the same score keep their
// order.
func merge(results []SearchResult, most int) []SearchResult {
	slices.SortStableFunc(results, func(a, b SearchResult) int { return cmp.Compare(b.Score, a.Score) })
	seen := make(map[string]bool)
	merged := []SearchResult{}
	for _, r := range results {
		if key := pageKey(r.URL); !seen[key] && len(merged) < most {
			seen[key] = true
			merged = append(merged, r)
		}
	}
	return merged
}

// pageURL returns the URL of a result if it is one of the web, and otherwise "".
func pageURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		len(raw) > longestURL {
		return ""
	}
	return u.String()
}

// pageKey is the same for URLs that very probably lead to the same page: it leaves out the scheme,
// "www.", default ports, a final slash, the fragment and what campaigns add to a query.
func pageKey(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	host = strings.TrimPrefix(host, "www.")
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	query := u.Query()
	for name := range query {
		if strings.HasPrefix(name, "utm_") || name == "gclid" || name == "fbclid" || name == "msclkid" {
			query.Del(name)
		}
	}
	return host + strings.TrimSuffix(u.EscapedPath(), "/") + "?" + query.Encode()
}
