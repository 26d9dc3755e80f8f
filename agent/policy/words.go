package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Words splits the text of a command into its words, as a [Set] does to compare it with rules. It
// returns false if the text isn't plain: a shell may then run something else than these words.
// Plain are ASCII letters, digits, blanks and _ - . / : @ % + , = but no "=" in the first word,
// which would set a variable.
//
// A host whose tool runs plain texts as argument vectors, without a shell, says so with
// Config.Subjects: it returns the words as Subject.Args, and an error for a text that isn't plain.
func Words(text string) (words []string, plain bool) {
	words = strings.FieldsFunc(text, isBlank)
	if strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) ||
		len(words) > 0 && strings.Contains(words[0], "=") {
		return nil, false
	}
	return words, true
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' }

func isPlain(r rune) bool {
	return isBlank(r) || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) ||
		strings.ContainsRune("_-./:@%+,=", r))
}

// forPeople are names of members that say something to people.
var forPeople = strings.Fields("comment comments description explanation justification label message note notes " +
	"purpose reason reasoning summary thought thoughts title")

// forCommands are words of names of members that are commands.
var forCommands = strings.Fields("script scripts shell bash sh powershell")

var nameWords = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// namesCommand reports whether the name of a member says that it is a command.
func namesCommand(name string) bool {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "command") || strings.Contains(lower, "cmd") || slices.Contains(wordMembers, lower) {
		return true
	}
	return slices.ContainsFunc(nameWords.FindAllString(name, -1), func(word string) bool {
		return slices.Contains(forCommands, strings.ToLower(word))
	})
}

// readTexts looks for commands that are one text among the members that are left, and in what
// these contain. If the words of the call have a program, other texts aren't looked at, unless
// their names say that they are commands. What the tool doesn't declare only adds to this.
func (s *Subject) readTexts(members map[string]json.RawMessage, program bool, declares func(name string) bool) {
	var weak []string // no commands if there are other texts
	found := len(s.Args) + len(s.Texts)
	var read func(name string, value any)
	read = func(name string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, inner := range slices.Sorted(maps.Keys(value)) {
				read(inner, value[inner])
			}
		case []any:
			for _, e := range value {
				read(name, e)
			}
		case string:
			lower := strings.ToLower(name)
			switch {
			case value == "":
			case namesCommand(name):
				s.Texts = append(s.Texts, value)
			case slices.Contains(forPeople, lower) || slices.Contains(pathMembers, lower) ||
				slices.Contains(hostMembers, lower):
				weak = append(weak, value)
			default:
				s.others = append(s.others, value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var value any
		if json.Unmarshal(members[name], &value) != nil {
			continue // reading the input has failed
		}
		texts, others := len(s.Texts), len(s.others)
		read(name, value)
		if declares(name) {
			found += len(s.Texts) - texts + len(s.others) - others
		} else {
			s.addedTexts += len(s.Texts) - texts
		}
	}
	switch {
	case program:
		s.others = nil
	case found == 0:
		s.others = slices.Concat(s.others, weak, s.Paths, s.Hosts)
	}
}

// A text is one that is, or may be, a command.
type text struct {
	words []string
	plain bool
	known bool // it is a command; otherwise, it may be one if a rule says that the tool takes some
}

// readWords splits the texts of a call.
func (m *matter) readWords() {
	for _, t := range m.Texts {
		words, plain := Words(t)
		m.texts = append(m.texts, text{words, plain, true})
	}
	for _, t := range m.others {
		words, plain := Words(t)
		m.texts = append(m.texts, text{words, plain, false})
	}
}

// namesTools reports whether a rule is about certain tools, and not about all.
func (r *Rule) namesTools() bool { return r.Tool != "*" }

// inTexts reports whether the words of a rule that denies or asks are among those of the texts of a
// call, and whether a text can't be compared. Words may be in any order if the command may be in
// several members.
func (r *Rule) inTexts(m *matter) (among, unsure bool) {
	all, n := slices.Clone(m.Args), 0
	for _, t := range m.texts {
		if t.known || r.namesTools() {
			n, all, unsure = n+1, append(all, t.words...), unsure || !t.plain
		}
	}
	switch {
	case n == 0:
		return false, false
	case n == 1 && len(m.Args) == 0:
		return within(r.Args, all), unsure
	}
	return !slices.ContainsFunc(r.Args, func(w string) bool { return !within([]string{w}, all) }), unsure
}

// oneText reports whether the command of a call is one text, by its name or because a rule says
// that the tool takes words.
func (m *matter) oneText() bool {
	return slices.ContainsFunc(m.texts, func(t text) bool { return t.known || m.words })
}

// takesWords reports whether a rule about words names a tool.
func takesWords(tool string, rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		return len(r.Args) > 0 && r.namesTools() && r.about(tool)
	})
}

// reason says why some rules deny or ask: what the first says that matches by its words, if there
// is one.
func (m *matter) reason(rules []*Rule, otherwise string) string {
	for _, r := range rules {
		among, _ := r.inTexts(m)
		if len(r.Args) == 0 || m.odd || among || within(r.Args, m.Args) {
			return cmp.Or(r.Why, otherwise)
		}
	}
	return fmt.Sprintf("the command isn't plain text, so it can't be compared with the rule about %q, and counts as if "+
		"it had these words; a plain command has ASCII letters, digits, blanks and _ - . / : @ %% + , = only",
		strings.Join(rules[0].Args, " "))
}
