package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures a [Server]. Name, and one of Command, URL and Transport, are required.
type Config struct {
	// Name is the name of the server: its tools are called Name.tool. It has 1 to 40 letters,
	// digits, '-' and '_'.
	Name string

	// Command starts a server as a child process that speaks over its standard input and output.
	// Its environment has PATH, HOME and a few others of this process, and Env, in the form
	// KEY=value: the rest, which may be secrets, isn't passed on. Dir is its directory. The whole
	// process group ends with the connection.
	Command []string
	Env     []string
	Dir     string

	// URL is the address of a server that speaks over HTTP. Its query, which may have a key, is in
	// no error. Header returns headers for each request with a credential, an API key for example;
	// nil: none. Client is the HTTP client; nil: one that follows no redirect to another host.
	URL    string
	Header func(ctx context.Context, credential string) (http.Header, error)
	Client *http.Client

	// Transport makes the transport of a connection with a credential, instead of Command and URL.
	// A transport is used for one connection. With a transport that isn't of the types
	// InMemoryTransport, IOTransport and CommandTransport of the SDK, a report of progress that
	// arrives just before the result may be lost, tools that can only be called as tasks aren't
	// left out, and a call that can't be repeated is in doubt if the server has forgotten the
	// session, because it isn't known whose reply said so.
	Transport func(ctx context.Context, credential string) (mcp.Transport, error)

	// SignIn, for a server at URL, has people sign in: see [SignIn]. nil: none.
	SignIn *SignIn

	// Credential says with which credential a run uses the server: each has a connection of its
	// own, and may see other tools. nil: all runs share one connection, with the credential "".
	Credential func(tools.Listing) string

	// Trusted says that the annotations of the server's tools are true: they then set ReadOnly,
	// Idempotent and Risk. Otherwise all its tools are of medium risk, change something, and may
	// not be repeated.
	Trusted bool
	// Only are the tools that are offered, by the server's own names; empty: all. Those that the
	// server doesn't have are reported to OnChange.
	Only []string
	// Adjust, if it isn't nil, changes the specification of a tool, for example its risk. The name
	// and the schema can't be changed. It is called when a tool is new or another one, not for each
	// list.
	Adjust func(t *mcp.Tool, spec *tools.Spec)
	// Resources adds two read-only tools, Name.list_resources and Name.read_resource.
	Resources bool

	// Connect is how long making a connection and listing the tools may take; 0: 15 s.
	Connect time.Duration
	// Call is how long a call may take; 0: 60 s. Each report of progress moves that to 30 s from
	// then, up to 30 min in all, or what Adjust sets with Spec.ProgressLimit.
	Call time.Duration
	// Refresh is how long a list of tools is used before a run asks for it again: the server says
	// when it changes, but the stream on which it does so may be cut without notice. 0: 5 min.
	Refresh time.Duration
	// Idle is how long a connection without calls stays open; 0: 5 min.
	Idle time.Duration

	// OnChange, if it isn't nil, is called after the tools were listed, if they have changed,
	// some can't be used, or something was wrong. It should return at once.
	OnChange func(Change)
	Logger   *slog.Logger // nil: nothing is logged
}

// A Change says how the tools of a server have changed.
type Change struct {
	Server     string
	Credential string
	Added      []string // names of tools, with that of the server
	Removed    []string
	Changed    []string       // their schema or description
	Refused    []*SchemaError // that can't be used
	Notes      []string       // what was wrong with the list, and with schemas of tools that are used all the same
}

// The defaults and limits of a Config.
const (
	defaultConnect = 15 * time.Second
	defaultCall    = 60 * time.Second
	defaultIdle    = 5 * time.Minute
	defaultRefresh = 5 * time.Minute

	maxName        = 40
	maxTools       = 10_000    // that are offered
	maxListed      = 100_000   // tools, with those that Config.Only leaves out
	maxPages       = 1000      // of a list of tools
	maxCursor      = 4 << 10   // bytes
	maxDescription = 8 << 10   // bytes
	maxMessage     = 8 << 10   // bytes of an error, or of what a person is asked
	maxSchema      = 256 << 10 // bytes
	maxTexts       = 4 << 20   // bytes of the descriptions and schemas of a server's tools
	maxMedia       = 8 << 20   // bytes of the media of a result
)

// A ConfigError says what is wrong with a [Config]. Its class is permanent, because only a change
// of the program helps.
type ConfigError struct {
	Field   string // which field of the Config
	Problem string // what is wrong, and what would be right
	Err     error  // the cause, if there is one
}

// Error names the field and says what would be right.
func (e *ConfigError) Error() string { return "mcp: Config." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Fault returns permanent.
func (e *ConfigError) Fault() fault.Class { return fault.Permanent }

// A SchemaError says why a tool of a server can't be used. Its class is invalid.
type SchemaError struct {
	Tool string // with the name of the server
	Err  error
}

// Error names the tool.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("mcp: the tool %s is left out: %v", e.Tool, e.Err)
}

// Unwrap returns the cause.
func (e *SchemaError) Unwrap() error { return e.Err }

// Fault returns invalid.
func (e *SchemaError) Fault() fault.Class { return fault.Invalid }

// check returns what is wrong with a Config, and fills in the defaults.
func (c *Config) check() error {
	bad := func(field, format string, args ...any) error {
		return &ConfigError{Field: field, Problem: fmt.Sprintf(format, args...)}
	}
	ways := 0
	for _, set := range []bool{len(c.Command) > 0, c.URL != "", c.Transport != nil} {
		if set {
			ways++
		}
	}
	switch {
	case c.Name == "" || len(c.Name) > maxName ||
		strings.ContainsFunc(c.Name, func(r rune) bool { return !isLetter(r) && r != '-' && r != '_' }):
		return bad("Name", "it is %q; it should be 1 to %d letters, digits, '-' and '_'", c.Name, maxName)
	case ways != 1:
		return bad("Command", "%d of Command, URL and Transport are set; set one of them", ways)
	case len(c.Command) > 0 && c.Command[0] == "":
		return bad("Command", "its first element, the program, is empty")
	case c.Connect < 0 || c.Call < 0 || c.Idle < 0 || c.Refresh < 0:
		return bad("Connect, Call, Refresh or Idle", "it is negative; 0 is the default")
	case c.SignIn != nil && (c.URL == "" || c.SignIn.Handler == nil):
		return bad("SignIn", "it needs a URL and a Handler")
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return bad("URL", "%q isn't the address of a server; it should be like https://example.org/mcp", c.URL)
		}
		if u.User != nil {
			return bad("URL", "it contains a password; give secrets with Header")
		}
	}
	c.Connect, c.Call, c.Idle = cmp.Or(c.Connect, defaultConnect), cmp.Or(c.Call, defaultCall),
		cmp.Or(c.Idle, defaultIdle)
	c.Refresh = cmp.Or(c.Refresh, defaultRefresh)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Client == nil {
		c.Client = &http.Client{CheckRedirect: sameHost}
	}
	return nil
}

// sameHost refuses redirects to other hosts: the request has the credential of this one.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		return fault.Errorf(fault.Permanent, "mcp: the server redirects to %s", req.URL.Host)
	}
	return nil
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
