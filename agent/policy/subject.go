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

	"github.com/pawlkit/pawl/internal/glob"
)

// A Subject is what a call is about, as rules see it. By default it is made of these members of the
// validated input, each a text or a list of texts:
//
//   - Args: argv, program or command, followed by args, of those that the tool's schema declares
//   - Paths: path, paths, file, files, dir, directory, cwd, from, to, source, destination, file_path
//   - Hosts: url, urls, host
//
// The command of a call is one text (Texts) if it is a text and there is no list of its words:
//
//   - argv, command and args, if none of argv and args is a list
//   - argv, program, command and args, if they aren't one plain word (see [Words]), and the first
//     word of a list, if it has white space
//   - argv, program and command, if more than one of them has a value
//   - any other member, at any depth, with command or cmd in its name, or with script, shell, bash,
//     sh or powershell as a word of it; in other members also argv, program and args
//
// A tool may permit members that its schema doesn't declare, and then it is the model that chooses
// their names. They can't make a call be allowed, nor hide what is in others: the texts in argv,
// program, command and args are more Texts, and with one of Paths or Hosts no rule with a condition
// allows the call. A schema without properties declares all.
//
// A rule that denies or asks and that names the tool, also by a pattern other than "*", looks at
// all other texts of a call without words, too, whatever their names are, because a tool that it is
// about takes commands. It leaves out texts for people (description, reason, title and such) and
// Paths and Hosts, unless there are no others.
//
// A call without a command has one word, which is what the tool names as the scope of the input
// ([tools.Definition.Scope]), if it names one. A member with lists in lists or with objects can't
// be read, so every rule that denies matches it. Config.Subjects says what calls of other tools
// are about.
type Subject struct {
	Args []string // the words of a command, the program first
	// Texts are commands that are one text each, for a shell or for a tool that splits it. Rules
	// that deny or ask compare the words of plain ones (see [Words]) and match all others. No rule
	// allows a call with one.
	Texts []string
	Paths []string // of files and directories, relative to the project's directory
	// Hosts are URLs, or names of hosts. No rule with a Host allows one with a port or a user.
	Hosts []string
	// More says that the input has more that the effect of Args depends on, such as standard input:
	// no rule with Args allows the call. By default it is set if there are words, and a member that
	// isn't one of these and not empty.
	More bool

	others []string // texts that may be commands
	// How many of Texts, and of Paths and Hosts, are of members that the tool doesn't declare.
	addedTexts, addedPlaces int
}

// unreadable is a word, a path and a host that can't be read.
const unreadable = "\x00"

// The members that say what a call is about.
var (
	wordMembers    = []string{"argv", "program", "command", "args"}
	programMembers = wordMembers[:3]
	pathMembers    = []string{"path", "paths", "file", "files", "dir", "directory", "cwd", "from", "to", "source",
		"destination", "file_path"}
	hostMembers = []string{"url", "urls", "host"}
)

// defaultSubject reads the well-known members. The members that the tool declares are the keys of
// declared; without any, all are taken for declared.
func defaultSubject(input json.RawMessage, declared map[string]any) (s Subject, err error) {
	var members map[string]json.RawMessage
	err = json.Unmarshal(input, &members)
	declares := func(name string) bool {
		_, ok := declared[name]
		return ok || len(declared) == 0
	}
	take := func(names ...string) (all []string) {
		for _, name := range names {
			raw, before := members[name], len(all)
			var text string
			var list []string
			switch {
			case !declares(name) && slices.Contains(wordMembers, name): // it may be a text, and no more
				continue
			case json.Unmarshal(raw, &list) == nil:
				all = append(all, list...)
			case json.Unmarshal(raw, &text) == nil:
				all = append(all, text)
			case len(raw) > 0 && strings.Contains("[{", string(raw[:1])):
				all = append(all, unreadable)
			default: // a number
				continue
			}
			if !declares(name) {
				s.addedPlaces += len(all) - before
			}
			delete(members, name)
		}
		return all
	}
	lists, several := declares("args") && isList(members["args"]), 0
	for _, name := range programMembers {
		if raw := members[name]; declares(name) && len(raw) > 0 && !isEmpty(raw) {
			several++
			lists = lists || name == "argv" && isList(raw)
		}
	}
	for _, name := range wordMembers {
		var text string
		if !declares(name) || json.Unmarshal(members[name], &text) != nil || text == "" {
			continue
		}
		words, _ := Words(text)
		switch {
		case !lists && name != "program":
			delete(members, name)
		case len(words) == 1 && (several < 2 || name == "args"):
			continue
		}
		s.Texts = append(s.Texts, text)
	}
	for _, name := range programMembers {
		isText := !isList(members[name])
		words := take(name)
		if len(words) > 0 && !isText && strings.ContainsFunc(words[0], unicode.IsSpace) {
			s.Texts = append(s.Texts, words[0]) // a tool may take all of it for the command
		}
		s.Args = append(s.Args, words...)
	}
	program := slices.ContainsFunc(s.Args, func(w string) bool { return w != "" })
	s.Args = append(s.Args, take("args")...)
	s.Paths = take(pathMembers...)
	s.Hosts = take(hostMembers...)
	s.More = several > 1
	for _, raw := range members {
		s.More = s.More || len(s.Args) > 0 && !isEmpty(raw)
	}
	s.readTexts(members, program, declares)
	return s, err
}

func isEmpty(raw json.RawMessage) bool {
	return slices.Contains([]string{`""`, "null", "false", "0", "[]", "{}"}, string(raw))
}

func isList(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

// A place is a path of a call.
type place struct {
	names  []string // as it is written, and where links lead; none if it can't be read
	folder bool     // it is known to be one
}

// placeOf returns the place of a path, and whether all its names are the same, below root. Without
// a root, links aren't followed. Systems follow links before "..", and many programs shorten "a/.."
// first, so both are looked at.
func placeOf(root, p string) (at place, sure bool) {
	if !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) {
		return place{}, false
	}
	plain := path.Clean(strings.ReplaceAll(p, `\`, "/"))
	at.names, sure = []string{plain}, filepath.IsLocal(p) && !strings.Contains(p, `\`)
	if root == "" {
		return at, sure
	}
	for _, full := range []string{p, plain} {
		if !filepath.IsAbs(full) {
			full = root + "/" + full
		}
		real := followed(full)
		name, err := filepath.Rel(followed(root), real)
		if err != nil {
			return place{}, false
		}
		name = filepath.ToSlash(name)
		info, err := os.Stat(real)
		at.names, at.folder = append(at.names, name), at.folder || err == nil && info.IsDir()
		sure = sure && name == plain
	}
	return at, sure
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

var (
	notName   = regexp.MustCompile(`^.*[/\\]|\.(exe|cmd|bat|com)$`)
	plainHost = regexp.MustCompile(`^([a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$`)
)

// foldWord returns a word as programs may see it that ignore case, invisible characters, white
// space around it and dots at its end, and a program's name without its path and an extension of
// Windows.
func foldWord(s string) string {
	s = glob.FoldWord(strings.TrimSpace(glob.FoldWord(s)))
	return cmp.Or(notName.ReplaceAllString(s, ""), s)
}

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
