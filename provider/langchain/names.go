package langchain

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// longestName is the shortest limit of the services that langchaingo supports.
const longestName = 64

// names are the tool names of a request: encoded, and the host's own.
type names struct {
	sent map[string]string // by the host's name
	own  map[string]string // by the sent name
}

// newNames encodes the name of every tool of a request and of its messages in ASCII letters, digits, _ and -. A valid name stays
// unchanged; another one gets a hash of the name at its end. Valid names come first, so
// that no encoded name takes theirs.
func newNames(req *provider.Request) names {
	n := names{sent: map[string]string{}, own: map[string]string{}}
	var all []string
	for i := range req.Tools {
		all = append(all, req.Tools[i].Name)
	}
	all = append(all, req.ToolChoice.Tool)
	for i := range req.Messages {
		for _, p := range req.Messages[i].Parts {
			if p.Call != nil {
				all = append(all, p.Call.Name)
			}
			if p.Result != nil {
				all = append(all, p.Result.Name)
			}
		}
	}
	for _, name := range all {
		if isPlain(name) {
			n.sent[name], n.own[name] = name, name
		}
	}
	for _, name := range all {
		if _, known := n.sent[name]; known || name == "" {
			continue
		}
		sum := sha256.Sum256([]byte(name))
		digits := hex.EncodeToString(sum[:])
		for length := 8; ; length += 8 { // a collision is practically impossible
			sent := strings.Map(plainRune, name)
			sent = sent[:min(len(sent), longestName-1-length)] + "_" + digits[:length]
			if _, taken := n.own[sent]; !taken || length == 56 {
				n.sent[name], n.own[sent] = sent, name
				break
			}
		}
	}
	return n
}

func (n names) encode(name string) string {
	if sent, ok := n.sent[name]; ok {
		return sent
	}
	return name
}

func (n names) decode(sent string) string {
	if own, ok := n.own[sent]; ok {
		return own
	}
	return sent
}

func isPlain(name string) bool {
	return name != "" && len(name) <= longestName && strings.Map(plainRune, name) == name
}

// plainRune returns r if it is allowed in a name, else an underscore.
func plainRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
		return r
	}
	return '_'
}
