package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// The limits of a fetch.
const (
	fetchTime     = 10 * time.Second // with all redirects
	mostBytes     = 1 << 20          // of a page, after decompression
	mostRedirects = 3
	mostHeader    = 64 << 10
)

// fetchToolName is the name of the tool that [Fetch] returns.
const fetchToolName = "web.fetch"

// A FetchConfig says what may be fetched.
type FetchConfig struct {
	// Hosts are the hosts that may be read, at least one: "example.com" for that host,
	// "*.example.com" for its subdomains, "*" for all. An entry is for the ports 80 and 443, or for
	// the one that it names: "example.com:8080". The host of each redirect must be allowed, too.
	//
	// A URL can carry text away. If the model also reads what nobody else may see, list only hosts
	// that may have it.
	Hosts []string
	// Private are addresses that may be connected to although they aren't public. Networks can't be
	// listed.
	Private []netip.Addr
	// Resolver resolves the names of hosts; nil: net.DefaultResolver.
	Resolver *net.Resolver
}

// A Page is a fetched text.
type Page struct {
	URL   string `json:"url"`             // after redirects
	Title string `json:"title,omitempty"` // of HTML
	// Type is the media type, such as text/html.
	Type string `json:"type"`
	// Text is Markdown for HTML and otherwise the text itself, in UTF-8. It contains no control
	// characters except line feeds and tabs.
	Text string `json:"text"`
	// Cut says that the page is longer than 1 MiB, and only the first part was read.
	Cut bool `json:"cut,omitempty"`
}

// A Fetcher fetches pages for hosts; [Fetch] is the tool for models. It is safe for concurrent use.
// Make it with [NewFetcher].
type Fetcher struct {
	hosts   []hostRule
	allowed string // the hosts, for errors
	private []netip.Addr
	client  *http.Client
}

// NewFetcher returns a Fetcher, or an error that names what is wrong in the configuration.
func NewFetcher(cfg FetchConfig) (*Fetcher, error) {
	if len(cfg.Hosts) == 0 {
		return nil, errors.New(`web: Hosts is empty; list the hosts that may be fetched, or "*" for all`)
	}
	f := &Fetcher{allowed: clip(strings.Join(cfg.Hosts, ", "), 1<<10)}
	for _, entry := range cfg.Hosts {
		r, err := parseRule(entry)
		if err != nil {
			return nil, err
		}
		f.hosts = append(f.hosts, r)
	}
	for _, a := range cfg.Private {
		if !a.IsValid() || a.Zone() != "" {
			return nil,
				fmt.Errorf(
					"web: Private has %v; give addresses without a zone, such as netip.MustParseAddr(\"10.0.0.7\")", a)
		}
		f.private = append(f.private, a.Unmap())
	}
	dialer := &net.Dialer{ControlContext: f.checkAddress, Resolver: cfg.Resolver}
	f.client = &http.Client{
		// Without a proxy, because it would be the proxy that resolves names, and without kept
		// connections, so that each request is checked.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: mostHeader,
			TLSHandshakeTimeout: fetchTime,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return f, nil
}

// errSlow is the cause of the end of a fetch at its time limit.
var errSlow = errors.New("web: too slow")

// Get fetches a page by GET, without cookies and credentials. An error is an [*Error], or that of
// the context if it has ended.
func (f *Fetcher) Get(ctx context.Context, rawURL string) (*Page, error) {
	if f == nil || f.client == nil {
		return nil, errors.New("web: the Fetcher is empty; make it with NewFetcher")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, errSlow)
	defer cancel()
	base, next := &url.URL{}, rawURL
	for n := range mostRedirects + 1 {
		u, err := f.check(base, next)
		if err != nil {
			return nil, redirected(err, rawURL, n)
		}
		page, location, err := f.request(ctx, u)
		if err != nil || page != nil {
			return page, redirected(err, rawURL, n)
		}
		base, next = u, location
	}
	return nil, newError(rawURL, fault.Permanent, nil, "it redirects more than %d times", mostRedirects)
}

// redirected returns the error of a URL after n redirects. The servers have chosen it, so its text
// has the URL that the caller gave.
func redirected(err error, rawURL string, n int) error {
	var own *Error
	if n == 0 || !errors.As(err, &own) {
		return err
	}
	e := *own
	if e.Sent == "" {
		e.Sent = e.URL
	}
	e.URL, e.Problem = rawURL, "it redirects to another address, and of that: "+e.Problem
	return &e
}

// request makes one request. It returns a page, or where the server redirects to.
func (f *Fetcher) request(ctx context.Context, u *url.URL) (page *Page, location string, err error) {
	shown := u.String()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, shown, nil)
	if err != nil {
		return nil, "", newError(shown, fault.Invalid, nil, "it is no URL that can be requested")
	}
	req.Header.Set("Accept",
		"text/html, text/markdown, text/plain, application/json, application/xml;q=0.9, text/*;q=0.8")
	req.Header.Set("User-Agent", "pawl")
	res, err := f.client.Do(req)
	if err != nil {
		return nil, "", unreached(ctx, shown, err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		if location = res.Header.Get("Location"); location == "" {
			return nil, "", newError(shown, fault.Permanent, nil,
				"it redirects to nowhere (status %d without a Location)", res.StatusCode)
		}
		return nil, location, nil
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, "", newError(shown, fault.NotFound, nil, "there is no such page (status %d)", res.StatusCode)
	default:
		cause := fault.FromHTTP(res)
		class := fault.Of(cause)
		if class == fault.None || class == fault.UserFixable { // there are no credentials that a person could correct
			class = fault.Permanent
		}
		return nil, "", newError(shown, class, cause, "the server answered with status %d", res.StatusCode)
	}
	if coding := res.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		// gzip is gone by now
		return nil, "", newError(shown, fault.Permanent, nil, "it is compressed in a way that wasn't asked for")
	}
	mediaType, declared, problem := textType(res.Header.Get("Content-Type"))
	if problem != "" {
		e := newError(shown, fault.Permanent, nil, "%s", problem)
		e.Sent = clip(res.Header.Get("Content-Type"), longestShown)
		return nil, "", e
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostBytes+1))
	if err != nil {
		return nil, "", unreached(ctx, shown, err)
	}
	page, err = read(u, mediaType, declared, body)
	return page, "", err
}

// A FetchInput is the input of the tool of [Fetch].
type FetchInput struct {
	URL string `json:"url" description:"an http or https URL"`
}

// Fetch returns the tool web.fetch, which reads a page of an allowed host. The model gets the text
// marked by [tools.Untrusted]; the Data of the result is the [*Page]. A standing rule is for one
// host. The tool has no breaker, because one page says little about others.
func Fetch(cfg FetchConfig) tools.Tool {
	cfg.Hosts, cfg.Private = slices.Clone(cfg.Hosts), slices.Clone(cfg.Private)
	return fetchTool{cfg}
}

type fetchTool struct{ cfg FetchConfig }

// Define checks the configuration and compiles the tool.
func (t fetchTool) Define() (*tools.Definition, error) {
	f, err := NewFetcher(t.cfg)
	if err != nil {
		return nil, fmt.Errorf("tools: %s: %w", fetchToolName, err)
	}
	return tools.Func[FetchInput, tools.Result]{
		Spec: tools.Spec{
			Name: fetchToolName,
			Description: "Reads a web page or another text by its URL. HTML is returned as Markdown. Hosts: " +
				f.allowed + ".",
			ReadOnly: true, Outside: true, NoBreaker: true, NoRetries: true,
		},
		Run: func(ctx context.Context, in FetchInput) (tools.Result, error) {
			page, err := f.Get(ctx, in.URL)
			if err != nil {
				return tools.Result{}, err
			}
			res := tools.Text(tools.Untrusted(page.URL, page.text()))
			res.Data = page
			return res, nil
		},
		Scope: func(in FetchInput) string {
			if u, err := f.check(&url.URL{}, in.URL); err == nil {
				return u.Host
			}
			return in.URL
		},
	}.Define()
}

// text is the page as a model reads it.
func (p *Page) text() string {
	text := p.Text
	if text == "" {
		text = "(The page has no text.)"
	}
	if p.Title != "" {
		text = "Title: " + p.Title + "\n\n" + text
	}
	if p.Cut {
		text += "\n\n(The page is longer than 1 MiB. This is its beginning.)"
	}
	return text
}
