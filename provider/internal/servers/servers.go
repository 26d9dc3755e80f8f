package servers

import (
	"net/url"
	"strings"
)

// A Server is what is known of one server.
type Server struct {
	Name  string   // in openai.Config.Server and PAWL_MODEL
	Title string   // as people write it
	Hosts []string // names of its hosts; one that begins with a dot is the end of names
	URL   string   // its address
	// URL is only an example, because each user has an address of their own.
	URLIsExample bool
	// Path is added to an address without a path, because people leave it out.
	Path string
	// AnyPath says that Path is added to every address that doesn't end in it.
	AnyPath bool
	// Port is that of an address without a scheme, which is http; empty: there has to be a scheme.
	Port string

	Key       string // the variable of its key
	Model     string // the variable of its model
	Address   string // the variable of another address
	Keyless   bool   // it needs no key
	KeyHeader string // a header with the key, in addition to Authorization
	KeyPage   string // where a person gets a key
	Billing   string // the page where a person pays

	Chat Chat
}

// Chat is how a server's Chat Completions differ from the most common form, which the zero value
// describes.
type Chat struct {
	CompletionTokens bool   // accepts max_completion_tokens, and rejects max_tokens for some models
	NoStreamOptions  bool   // rejects stream_options; always sends usage
	TopK             bool   // accepts top_k
	Seed             string // the field of the seed; empty: seed
	EffortObject     bool   // takes reasoning: {effort, max_tokens, exclude} instead of reasoning_effort
	CacheMarks       bool   // accepts cache_control on parts
	NineCharIDs      bool   // accepts only ids of calls of 9 letters and digits
	ShortIDs         bool   // accepts only ids of calls of at most 40 characters
	NoUserAfterTool  bool   // rejects a user message right after results
	Refusals         bool   // accepts refusal in assistant messages
	JSONObject       bool   // has no json_schema in response_format: only json_object, without a schema
	OnlyAuto         bool   // takes no tool_choice but auto
	NoNamedChoice    bool   // rejects a tool_choice that names a tool
	NoParallelField  bool   // rejects parallel_tool_calls, for some models
}

// Named returns the server of a name, nil if there is none.
func Named(name string) *Server {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// At returns the server at a host, nil if none is known.
func At(host string) *Server {
	host = strings.ToLower(host)
	for i := range All {
		for _, known := range All[i].Hosts {
			if host == known || known[0] == '.' && strings.HasSuffix(host, known) {
				return &All[i]
			}
		}
	}
	return nil
}

// Completed returns an address of the server with what people may leave out.
func (s *Server) Completed(address string) string {
	host, rest := cut(address)
	if scheme := strings.HasSuffix(host, ":") && strings.HasPrefix(rest, "//"); s.Port != "" && !scheme {
		if u, err := url.Parse("http://" + host); err == nil && u.Port() == "" {
			host = strings.TrimSuffix(host, ":") + ":" + s.Port
		}
		address = "http://" + host + rest
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || s.Path == "" {
		return address
	}
	path := strings.TrimRight(u.Path, "/")
	if path == "" || s.AnyPath && !strings.HasSuffix(path, s.Path) {
		return u.JoinPath(s.Path).String()
	}
	return address
}

// HostOf returns the host of an address, which may be a host alone, for people: without the path
// and the query, which may have a key.
func HostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	host, _ := cut(address)
	return host
}

// cut cuts an address before its path, its query and its fragment.
func cut(address string) (host, rest string) {
	if i := strings.IndexAny(address, "/?#"); i >= 0 {
		return address[:i], address[i:]
	}
	return address, ""
}

// Names returns the names of all servers, in order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}
