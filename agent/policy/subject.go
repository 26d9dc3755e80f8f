package policy

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
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
	// Hosts are URLs, or names of hosts. No rule with a Host allows one with a port or a user.
	Hosts []string
	// More says that the input has more that the effect of Args depends on, such as standard input:
	// no rule with Args allows the call. By default it is set if there are words, and a member that
	// isn't one of these and not empty.
	More bool
}

// defaultSubject reads the well-known members.
func defaultSubject(input json.RawMessage) (s Subject, err error) {
	var members map[string]json.RawMessage
	err = json.Unmarshal(input, &members)
	take := func(names ...string) (all []string) {
		for _, name := range names {
			var list []string
			err := json.Unmarshal(members[name], &list)
			if err != nil {
				list = make([]string, 1)
				err = json.Unmarshal(members[name], &list[0])
			}
			if err == nil {
				all = append(all, list...)
				delete(members, name)
			}
		}
		return all
	}
	s.Args = take("argv", "program", "command", "args")
	s.Paths = take("path", "paths", "file", "files", "dir", "directory", "cwd", "from", "to")
	s.Hosts = take("url", "urls", "host")
	for _, raw := range members {
		empty := slices.Contains([]string{`""`, "null", "false", "0", "[]", "{}"}, string(raw))
		s.More = s.More || len(s.Args) > 0 && !empty
	}
	return s, err
}

// A place is a path of a call: as it is written, and where links lead. It has no names if it can't
// be read, and it is sure if all are the same, below the project's directory.
type place struct {
	names []string
	sure  bool
}

// placeOf returns the place of a path. Without a root, links aren't followed. Systems follow links
// before "..", and many programs shorten "a/.." first, so both are looked at.
func placeOf(root, p string) place {
	if !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) {
		return place{}
	}
	plain := path.Clean(strings.ReplaceAll(p, `\`, "/"))
	at := place{[]string{plain}, filepath.IsLocal(p) && !strings.Contains(p, `\`)}
	if root == "" {
		return at
	}
	for _, full := range []string{p, plain} {
		if !filepath.IsAbs(full) {
			full = root + "/" + full
		}
		name, err := filepath.Rel(followed(root), followed(full))
		if err != nil {
			return place{}
		}
		at.names = append(at.names, filepath.ToSlash(name))
		at.sure = at.sure && filepath.ToSlash(name) == plain
	}
	return at
}

// followed returns an absolute path without symbolic links, also if its last names don't exist. It
// returns "" for a path with a link that leads nowhere.
func followed(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	i := strings.LastIndexAny(p, "/"+string(filepath.Separator))
	if _, err := os.Readlink(p); err == nil || i < 0 {
		return ""
	}
	if parent := followed(p[:max(i, 1)]); parent != "" && len(p) > 1 {
		return filepath.Join(parent, p[i+1:])
	}
	return ""
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
	return cmp.Or(strings.TrimRight(s, ". "), s)
}

var (
	notBase   = regexp.MustCompile(`^.*[/\\]|\.(exe|cmd|bat|com)$`)
	plainHost = regexp.MustCompile(`^([a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$`)
)

// base returns the name of a program in a folded word: without a path and an extension of Windows.
func base(word string) string { return notBase.ReplaceAllString(word, "") }

// hostOf returns the host of a URL, or a host, in canonical form; "" if it can't be compared. It is
// plain if the URL has the scheme http or https, and neither a port nor a user.
func hostOf(s string) (host string, plain bool) {
	plain = true
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		s, plain = u.Hostname(), (u.Scheme == "http" || u.Scheme == "https") && u.Port() == "" && u.User == nil
	}
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Unmap().WithZone("").String(), plain
	}
	if !plainHost.MatchString(s) {
		return "", false
	}
	return s, plain
}
