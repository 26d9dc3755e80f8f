package standin

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

// A change is a simple edit that a person has named.
type change struct {
	file  string // empty: the Go files that have the name
	name  string // what is looked for in that case
	apply func(text string) (string, error)
}

const (
	word   = "(?:\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|'([^']+)'|(\\S+?))"
	inFile = `\s+(?:in|of)\s+(?:the\s+)?(?:file\s+)?(\S+?)[.,;!?]*`
	rest   = `\s*(?:[,;]|please|bitte|everywhere|überall|\s|$)`
)

var (
	replaces = regexp.MustCompile(`(?i)\b(?:replace|change|swap|turn|ersetze?|ändere?)\s+` + word +
		`\s+(?:by|with|to|into|for|durch|in|zu|mit)\s+` + word + inFile + rest)
	renames = regexp.MustCompile(`(?i)\b(?:rename|benenne?)\s+(\w+)\s+(?:to|into|as|in|zu)\s+(\w+)(?:\s+um)?(?:` +
		inFile + `)?` + rest)
	appends = regexp.MustCompile(`(?i)\b(?:append|add)\s+(?:the\s+)?(?:line\s+)?` + word + `\s+to\s+(?:the\s+end\s+of\s+)?` +
		`(?:the\s+)?(?:file\s+)?(\S+?)[.,;!?]*` + rest)
	comments = regexp.MustCompile(`(?i)\badd\s+(?:an?\s+|the\s+)?(?:doc\s+|documentation\s+|go\s+)?comments?\s+(?:to|for|above|on)\s+` +
		`(?:the\s+)?(?:func(?:tion)?\s+|type\s+)?(\w+)(?:` + inFile + `)?(?:\s*:\s*(.+)|` + rest + `)`)
)

// parseEdit returns the change that a text names; nil: none.
func parseEdit(text string) *change {
	pick := func(groups []string) string {
		return groups[slices.IndexFunc(groups, func(g string) bool { return g != "" })]
	}
	if m := comments.FindStringSubmatch(text); m != nil {
		return &change{file: m[2], name: m[1], apply: func(text string) (string, error) {
			return comment(text, m[1], m[3])
		}}
	}
	if m := renames.FindStringSubmatch(text); m != nil {
		whole := regexp.MustCompile(`\b` + m[1] + `\b`)
		return &change{file: m[3], name: m[1], apply: func(text string) (string, error) {
			if regexp.MustCompile(`\b` + m[2] + `\b`).MatchString(text) {
				return "", fmt.Errorf("it has the name %s already", m[2])
			}
			return whole.ReplaceAllLiteralString(text, m[2]), nil
		}}
	}
	if m := appends.FindStringSubmatch(text); m != nil && fileIn.MatchString(m[6]) {
		return &change{file: m[6], apply: func(text string) (string, error) {
			return strings.TrimSuffix(text, "\n") + "\n" + pick(m[1:6]) + "\n", nil
		}}
	}
	if m := replaces.FindStringSubmatch(text); m != nil {
		return &change{file: m[11], apply: func(text string) (string, error) {
			return strings.ReplaceAll(text, pick(m[1:6]), pick(m[6:11])), nil
		}}
	}
	return nil
}

// definition returns what matches the line that defines a name.
func definition(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )` + regexp.QuoteMeta(name) + `\b.*`)
}

// comment puts a comment before a definition.
func comment(text, name, say string) (string, error) {
	at := definition(name).FindStringIndex(text)
	if at == nil {
		return "", fmt.Errorf("it doesn't define %s", name)
	}
	before := strings.TrimSuffix(text[:at[0]], "\n")
	if strings.HasPrefix(before[strings.LastIndex(before, "\n")+1:], "//") {
		return "", fmt.Errorf("%s has a comment already", name)
	}
	if say == "" {
		say = "is " + strings.TrimSuffix(text[at[0]:at[1]], " {") + "."
	}
	return text[:at[0]] + "// " + name + " " + strings.TrimPrefix(say, name+" ") + "\n" + text[at[0]:], nil
}

// edit makes a simple edit: it reads the files, writes them, and runs the tests of Go packages.
func (t *turn) edit() providertest.Step {
	c := parseEdit(t.wish.rest)
	files := []string{c.file}
	if c.file == "" {
		found := t.last("file.search")
		if found == nil {
			return t.call("I look where it is.", "file.search", object{"pattern": `\b` + c.name + `\b`, "regexp": true,
				"glob": "*.go"})
		}
		files = nil
		for _, m := range regexp.MustCompile(`(?m)^(\S+?\.go):\d+: (.*)`).FindAllStringSubmatch(found.result, -1) {
			defines := definition(c.name).MatchString(m[2])
			if !slices.Contains(files, m[1]) && (defines || !comments.MatchString(t.wish.rest)) {
				files = append(files, m[1])
			}
		}
		if len(files) == 0 {
			return providertest.Say("I find no " + c.name + " in the Go files.")
		}
	}
	known := t.files()
	for _, file := range files {
		if t.wrote(file) {
			continue
		}
		source, read := known[file]
		if !read {
			return t.call("", "file.read", object{"path": file, "limit": 100000})
		}
		if source.version == "" {
			return providertest.Say("I can't read " + file + ": " + firstLine(t.last("file.read").result))
		}
		text, err := c.apply(source.text)
		switch {
		case err != nil:
			return providertest.Say(fmt.Sprintf("I change nothing in %s: %v.", file, err))
		case text == source.text:
			return providertest.Say("That isn't in " + file + ", so I change nothing.")
		}
		return t.call("I change "+file+".", "file.edit", region(file, source, text))
	}
	return t.verify("Changed: "+strings.Join(files, ", ")+".", files)
}

// region returns the edit that turns a file into a text: of the lines from the first to the last
// that differ, and of as many around them as it takes for the old ones to be in the file once.
func region(file string, from source, to string) object {
	a, b := strings.SplitAfter(from.text, "\n"), strings.SplitAfter(to, "\n")
	first, last := 0, 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	for {
		before := strings.Join(a[first:len(a)-last], "")
		switch {
		case before != "" && strings.Count(from.text, before) == 1, first+last == 0:
			return object{"path": file, "old": before, "new": strings.Join(b[first:len(b)-last], ""),
				"version": from.version}
		case first > 0:
			first--
		default:
			last--
		}
	}
}

// wrote reports whether a file was changed since the person's message.
func (t *turn) wrote(file string) bool {
	return slices.ContainsFunc(t.did, func(d deed) bool { return changes(&d) && !d.failed && d.value("path") == file })
}

// verify runs the tests of the packages of files, and says how it went.
func (t *turn) verify(done string, files []string) providertest.Step {
	args := []string{"test"}
	for _, file := range files {
		dir := "./" + strings.TrimPrefix(path.Dir(file), ".")
		if path.Ext(file) == ".go" && !slices.Contains(args, dir) {
			args = append(args, dir)
		}
	}
	if len(args) == 1 || t.wish.limits[noRun] {
		return providertest.Say(done + " I ran no tests, and committed nothing.")
	}
	switch d := t.ran("go", "test"); {
	case d == nil:
		return t.run("", "go", args...)
	case d.passed():
		return providertest.Say(done + " The tests of the package pass. Nothing is committed.")
	default:
		return providertest.Say(done + " But tests fail:\n\n" + failures(d.output()) + "\n\nIf that comes from the " +
			"change, type /undo.")
	}
}

// addition returns the function that a text asks for; empty if the stand-in doesn't know it.
func addition(text string) string {
	switch text = strings.ToLower(text); {
	case strings.Contains(text, "indent"):
		return "indent"
	case regexp.MustCompile(`shorten|kürz`).MatchString(text):
		return "shorten"
	case regexp.MustCompile(`(?:function|func|helper|method|funktion)s?,? (?:that|which|to|for|called|named|die|zum|namens)\b`).
		MatchString(text):
		return ""
	}
	return "any"
}

// add writes a function and its test.
func (t *turn) add() providertest.Step {
	list, module := t.last("file.list"), t.files()["go.mod"]
	switch {
	case list == nil:
		return t.call("I look at what is there.", "file.list", object{"glob": "*.go"})
	case t.last("file.read") == nil:
		return t.call("", "file.read", object{"path": "go.mod"})
	case !strings.HasPrefix(module.text, "module example.com/wrap\n"):
		return providertest.Say("I am a stand-in, and know functions only for the little repository that I come with.")
	}
	name := addition(t.wish.text)
	if name == "any" {
		if name = "indent"; strings.Contains(list.result, "indent.go") {
			name = "shorten"
		}
	}
	files := []string{name + "_test.go", name + ".go"}
	if strings.Contains(list.result, name+".go") {
		return providertest.Say(files[1] + " is there already.")
	}
	for i, file := range files {
		text, _ := data.ReadFile("data/add/" + file + ".txt")
		if t.wrote(file) {
			continue
		}
		say := []string{"The test comes first.", "Now the function."}[i]
		return t.call(say, "file.write", object{"path": file, "content": string(text)})
	}
	return t.verify("Written: "+strings.Join(files, " and ")+".", files)
}

func raw(input object) json.RawMessage {
	text, _ := json.Marshal(input)
	return text
}
