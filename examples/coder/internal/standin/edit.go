package standin

import (
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
	apply func(text string) string
}

// change returns the change that a person has named.
func (w *wish) change() *change {
	name, to := w.values["old"], w.values["new"]
	c := &change{file: w.values["file"], name: name}
	switch w.act {
	case doesComment:
		c.apply = func(s string) string { return comment(s, name, to) }
	case doesRename:
		whole := regexp.MustCompile(`\b` + name + `\b`)
		c.apply = func(s string) string { return whole.ReplaceAllLiteralString(s, to) }
	case doesAppend:
		c.apply = func(s string) string { return strings.TrimRight(s, "\n") + "\n" + to + "\n" }
	default:
		c.apply = func(s string) string { return strings.ReplaceAll(s, name, to) }
	}
	return c
}

// goFile is the file of a line of what file.search says.
var goFile = regexp.MustCompile(`(?m)^(\S+?\.go):\d+: `)

// defines begins the line that defines what follows.
const defines = `(?:func (?:\([^)]*\) )?|type |var |const )`

// comment puts a comment before a definition that has none.
func comment(text, name, say string) string {
	at := regexp.MustCompile(`(?m)^` + defines + name + `\b.*`).FindStringIndex(text)
	if at == nil || regexp.MustCompile(`//.*\n$`).MatchString(text[:at[0]]) {
		return text
	}
	if say == "" {
		say = "is " + strings.TrimSuffix(text[at[0]:at[1]], " {") + "."
	}
	return text[:at[0]] + "// " + name + " " + strings.TrimPrefix(say, name+" ") + "\n" + text[at[0]:]
}

// edit makes a simple edit: it reads the files, changes them, and runs the tests of Go packages.
func (t *turn) edit() providertest.Step {
	c := t.wish.change()
	files := []string{c.file}
	if c.file == "" {
		found := t.last("file.search")
		if found == nil {
			return call("", "file.search", object{"pattern": `\b` + c.name + `\b`, "regexp": true, "glob": "*.go"})
		}
		files = nil
		for _, m := range goFile.FindAllStringSubmatch(found.result, -1) {
			files = append(files, m[1])
		}
		files = slices.Compact(files)
	}
	for _, file := range files {
		if t.wrote(file) {
			continue
		}
		from, version, read := t.read(file)
		if !read {
			return call("", "file.read", object{"path": file, "limit": 100000})
		}
		if to := c.apply(from); to != from && version != "" {
			return call("I change "+file+".", "file.edit", region(file, from, to, version))
		}
	}
	if !slices.ContainsFunc(files, t.wrote) {
		return providertest.Say("I change nothing: it isn't in " + strings.Join(files, ", ") + ", or done already.")
	}
	return t.verify("Changed: "+strings.Join(files, ", ")+".", files)
}

// region returns the edit that turns a file into a text: of the lines from the first to the last
// that differ, and of as many around them as it takes for the old ones to be in the file once.
func region(file, from, to, version string) object {
	a, b := strings.SplitAfter(from, "\n"), strings.SplitAfter(to, "\n")
	first, last := 0, 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	for {
		old := strings.Join(a[first:len(a)-last], "")
		if old != "" && strings.Count(from, old) == 1 || first+last == 0 {
			return object{"path": file, "old": old, "new": strings.Join(b[first:len(b)-last], ""), "version": version}
		}
		if first > 0 {
			first--
		} else {
			last--
		}
	}
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
		return providertest.Say(done + " Tests fail:\n\n" + failures(d) + "\n\nIf the change is why, type /undo.")
	}
}

// add writes a function and its test.
func (t *turn) add() providertest.Step {
	module, _, read := t.read("go.mod")
	switch {
	case !read:
		return call("I look where I am.", "file.read", object{"path": "go.mod"})
	case !strings.HasPrefix(module, "module example.com/wrap\n"):
		return providertest.Say("I know functions only for the little repository that I come with.")
	}
	name := "indent"
	if strings.HasPrefix(strings.ToLower(t.wish.values["name"]), "shorten") {
		name = "shorten"
	}
	files := []string{name + "_test.go", name + ".go"}
	for _, file := range files {
		if !t.wrote(file) {
			return call("I write "+file+".", "file.write", object{"path": file, "content": archive("add")[file]})
		}
	}
	return t.verify("Written: "+strings.Join(files, " and ")+".", files)
}

func (t *turn) wrote(file string) bool {
	return slices.ContainsFunc(t.did, func(d deed) bool { return d.changed(file) })
}
