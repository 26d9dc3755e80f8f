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
func defaultSubject(input json.RawMessage) (Subject, error) {
	var (
		s       Subject
		members map[string]json.RawMessage
	)
	if err := json.Unmarshal(input, &members); err != nil {
		return s, err
	}
	take := func(to *[]string, names ...string) {
		for _, name := range names {
			raw, ok := members[name]
			var one string
			var list []string
			switch {
			case !ok:
			case json.Unmarshal(raw, &one) == nil:
				list = []string{one}
				if one == "" && name != "program" && name != "command" {
					list = nil
				}
				fallthrough
			case json.Unmarshal(raw, &list) == nil:
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
	return s, nil
}

// A target is a Subject that is ready to be compared.
type target struct {
	Subject
	folded []string // Args
	odd    bool     // Args can't be compared: they match whatever denies or asks
	places []place  // Paths
	hosts  []string // Hosts; "" for one that isn't known
}

// A place is a path of a call.
type place struct {
	names []string // below the project's directory: as it is written, and where links lead; none: it can't be read
	sure  bool     // there is one name
}

func newTarget(s Subject, root string) *target {
	t := &target{Subject: s}
	for _, w := range s.Args {
		t.odd = t.odd || !utf8.ValidString(w) || strings.IndexByte(w, 0) >= 0
		t.folded = append(t.folded, fold(w))
	}
	for _, p := range s.Paths {
		t.places = append(t.places, placeOf(root, p))
	}
	for _, h := range s.Hosts {
		t.hosts = append(t.hosts, hostOf(h))
	}
	return t
}

// sure reports whether it is known what the call is about, as far as it says.
func (t *target) sure() bool {
	return !t.odd && !slices.Contains(t.hosts, "") &&
		!slices.ContainsFunc(t.places, func(p place) bool { return !p.sure })
}

// placeOf returns the place of a path. Without a root, links aren't followed.
func placeOf(root, p string) (at place) {
	if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool {
		return unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r)
	}) {
		return place{}
	}
	written := p
	if root != "" {
		at.sure = true
		realRoot := followed(root)
		full := root + "/" + p
		if filepath.IsAbs(p) {
			full, at.sure = p, false
			if rel, err := filepath.Rel(root, p); err == nil {
				written = filepath.ToSlash(rel)
			}
		}
		rel, err := filepath.Rel(realRoot, followed(full))
		if err != nil {
			return place{}
		}
		at.names = append(at.names, filepath.ToSlash(rel))
	}
	plain := path.Clean(strings.ReplaceAll(written, `\`, "/"))
	if at.names == nil {
		at.sure = !path.IsAbs(plain)
	}
	at.sure = at.sure && !strings.Contains(p, `\`) && plain != ".." && !strings.HasPrefix(plain, "../") &&
		(at.names == nil || at.names[0] == plain)
	at.names = append(at.names, plain)
	return at
}

// followed returns a path without symbolic links, also if its last names don't exist.
func followed(p string) string {
	rest := ""
	for range 255 {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		i := strings.LastIndexAny(p, `/`+string(filepath.Separator))
		if i <= 0 {
			break
		}
		if to, err := os.Readlink(p); err == nil { // it leads to what doesn't exist
			if !filepath.IsAbs(to) {
				to = p[:i+1] + to
			}
			p = to
			continue
		}
		p, rest = p[:i], p[i+1:]+"/"+rest
	}
	return filepath.Join(p, rest)
}

// fold returns a word, or a part of a path, as systems see it that ignore case, invisible
// characters, white space around it, and dots at its end or what follows a colon.
func fold(s string) string {
	out := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, s))
	if short := strings.TrimRight(out, ". "); short != "" {
		return short
	}
	return out
}

// base returns the name of a program in a folded word: without a path and an extension of Windows.
func base(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	for _, ext := range []string{".exe", ".cmd", ".bat", ".com"} {
		word = strings.TrimSuffix(word, ext)
	}
	return word
}

// hostOf returns the host of a URL, or a host, in canonical form; "" if it isn't plain.
func hostOf(s string) string {
	if !strings.Contains(s, ":") && !strings.Contains(s, "/") {
		s = "//" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
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

// bracketed returns a host as URLs have it.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
