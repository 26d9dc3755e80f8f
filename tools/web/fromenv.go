package web

import (
	"fmt"
	"net/url"
	"os"
	"strings"
)

// FromEnv returns the sources of searches that the environment names, and one line that says which
// ones, such as "tavily, searxng at search.example.com":
//
//	TAVILY_API_KEY  Tavily, with this key; TAVILY_BASE_URL is for proxies
//	SEARXNG_URL     the instance of SearXNG at this address
//
// Both are asked by [Search] and [Find]. Without a variable there is no source and no error. An
// error says which variable to change; it contains neither key nor address.
func FromEnv() ([]Searcher, string, error) { return From(os.Getenv) }

// From is [FromEnv] with another environment: getenv returns the value of a variable, "" if it
// isn't set.
func From(getenv func(name string) string) ([]Searcher, string, error) {
	get := func(name string) string {
		if getenv == nil {
			return ""
		}
		return strings.TrimSpace(getenv(name))
	}
	var found []Searcher
	var about []string
	add := func(variable, address string, s Searcher, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		line := s.Name()
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			line += " at " + u.Host
		}
		found, about = append(found, s), append(about, line)
		return nil
	}
	if key := get("TAVILY_API_KEY"); key != "" {
		base := get("TAVILY_BASE_URL")
		s, err := NewTavily(TavilyConfig{Key: key, BaseURL: base})
		if err := add("TAVILY_API_KEY", base, s, err); err != nil {
			return nil, "", err
		}
	}
	if base := get("SEARXNG_URL"); base != "" {
		s, err := NewSearXNG(base)
		if err := add("SEARXNG_URL", base, s, err); err != nil {
			return nil, "", err
		}
	}
	return found, strings.Join(about, ", "), nil
}
