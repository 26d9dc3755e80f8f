package policy

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Subject is what a call is about, as rules see it. By default it is made of these members of the
// validated input, each a text or a list of texts:
//
//   - Args: argv, program or command, followed by args
//   - Paths: path, paths, file, files, dir, directory, cwd, from, to
//   - Hosts: url, urls, host
//
// Config.Subjects says it for tools with other members.
type Subject struct {
	Args  []string // the words of a command, the program first
	Paths []string // of files and directories, relative to the project's directory
	Hosts []string // URLs, or names of hosts
	// More says that the input has more that the effect of Args depends on, such as standard input:
	// no rule with Args allows the call. By default it is set if there are words, and a member that
	// isn't one of these and not empty.
	More bool
}

// defaultSubject reads the well-known members.
func defaultSubject(input json.RawMessage) (s Subject, err error) {
	var members map[string]json.RawMessage
	err = json.Unmarshal(input, &members)
	take := func(to *[]string, names ...string) {
		for _, name := range names {
			var list []string
			err := json.Unmarshal(members[name], &list)
			if err != nil {
				list = make([]string, 1)
				err = json.Unmarshal(members[name], &list[0])
			}
			if err == nil {
				*to = append(*to, list...)
				delete(members, name)
			}
		}
	}
	take(&s.Args, "argv", "program", "command", "args")
	take(&s.Paths, "path", "paths", "file", "files", "dir", "directory", "cwd", "from", "to")
	take(&s.Hosts, "url", "urls", "host")
	for _, raw := range members {
		empty := slices.Contains([]string{`""`, "null", "false", "0", "[]", "{}"}, string(raw))
		s.More = s.More || len(s.Args) > 0 && !empty
	}
	return s, err
}

// A place is a path of a call: as it is written, and where links lead. It has no names if it can't
// be read, and it is sure if both are the same, below the project's directory.
type place struct {
	names []string
	sure  bool
}

// placeOf returns the place of a path. Without a root, links aren't followed.
func placeOf(root, p string) place {
	if !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) {
		return place{}
	}
	plain := path.Clean(strings.ReplaceAll(p, `\`, "/"))
	at := place{names: []string{plain}, sure: filepath.IsLocal(p) && !strings.Contains(p, `\`)}
	if root == "" {
		return at
	}
	full := p
	if !filepath.IsAbs(p) {
		full = root + "/" + p
	}
	rel, err := filepath.Rel(followed(root), followed(full))
	rel = filepath.ToSlash(rel)
	return place{names: append(at.names, rel), sure: at.sure && err == nil && rel == plain}
}

// followed returns a path without symbolic links, also if its last names don't exist.
func followed(p string) string {
	rest := ""
	for range 255 {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		i := strings.LastIndexAny(p, "/"+string(filepath.Separator))
		to, err := os.Readlink(p)
		switch { // of a link to what doesn't exist
		case i <= 0:
			return filepath.Join(p, rest)
		case err != nil:
			p, rest = p[:i], p[i+1:]+"/"+rest
		case filepath.IsAbs(to):
			p = to
		default:
			p = p[:i+1] + to
		}
	}
	return filepath.Join(p, rest)
}

// fold returns a word, or a part of a path, as systems see it that ignore case, invisible
// characters, white space around it, and dots at its end.
func fold(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, s))
	if short := strings.TrimRight(s, ". "); short != "" {
		return short
	}
	return s
}

// base returns the name of a program in a folded word: without a path and an extension of Windows.
func base(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	if ext := path.Ext(word); slices.Contains([]string{".exe", ".cmd", ".bat", ".com"}, ext) {
		return strings.TrimSuffix(word, ext)
	}
	return word
}

// hostOf returns the host of a URL, or a host, in canonical form; "" if it isn't plain.
func hostOf(s string) string {
	host := s
	if strings.ContainsAny(s, "/?#@") || !strings.Contains(s, "::") && strings.Contains(s, ":") {
		u, err := url.Parse(s)
		if err != nil {
			return ""
		}
		host = u.Hostname()
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || last[0] < 'a' || last[0] > 'z' || strings.ContainsFunc(host, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}) {
		return ""
	}
	return host
}
