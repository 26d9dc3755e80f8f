package standin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

var (
	fileName = regexp.MustCompile(`[\w-]+(?:/[\w.-]+)+\.(?:go|csv|md)\b`)
	version  = regexp.MustCompile(`version ([0-9a-f]{16})`)
)

// files returns the files that a task is about: those that it names before its first colon.
func files(task string) []string {
	head, _, _ := strings.Cut(task, ":")
	return fileName.FindAllString(head, -1)
}

// testerReply writes tests.
func testerReply(t *turn) providertest.Step {
	names := files(t.prompt)
	tests := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasSuffix(n, "_test.go") })
	if len(tests) == 0 || len(tests) < len(names) {
		return unable(t, "I write tests, in files that end with _test.go")
	}
	return write(t, tests, "", fmt.Sprintf("The tests are written: %s. They fail as long as there is no code.",
		strings.Join(tests, " and ")))
}

// engineerReply writes programs, and repairs them.
func engineerReply(t *turn) providertest.Step {
	if strings.HasPrefix(t.prompt, "Your result was judged") {
		return repaired(t)
	}
	names := files(t.prompt)
	var finished string
	if p := projectBy(func(p *project) bool { return strings.HasPrefix(t.prompt, p.Command.Prompt) }); p != nil {
		if len(written(t)) == len(names) {
			if step, ok := tryOut(t, p); ok {
				return step
			}
		}
		ran, measured := t.did[max(0, len(t.did)-2):], ""
		for _, d := range ran {
			if d.name == "go" {
				measured += "\n\n```\n" + strings.TrimSpace(d.result) + "\n```"
			}
		}
		finished = "The command is put together, and this is what it prints:" + measured
	}
	if len(names) == 0 {
		return unable(t, "I write Go files whose names are in the task")
	}
	if finished == "" {
		finished = strings.Join(names, " and ") + " is written."
	}
	return write(t, names, "", finished)
}

// tryOut runs the command, and measures how much the tests cover.
func tryOut(t *turn, p *project) (step providertest.Step, ok bool) {
	runs := 0
	for i := range t.did {
		if t.did[i].name == "go" {
			runs++
		}
	}
	switch runs {
	case 0:
		return saying("It is written. I try it out.", providertest.CallSpec{Tool: "go",
			Input: object{"args": p.Run}}), true
	case 1:
		return saying("It works. I measure how much of the code the tests cover.", providertest.CallSpec{Tool: "go",
			Input: object{"args": []string{"test", "-count=1", "-cover", "./..."}}}), true
	}
	return step, false
}

// written returns the files that were written in this turn.
func written(t *turn) (names []string) {
	for i := range t.did {
		if d := &t.did[i]; d.name == "file.write" && !d.failed {
			names = append(names, d.value("path"))
		}
	}
	return names
}

// write reads and writes files one after the other, and says something at the end.
func write(t *turn, names []string, kind, finished string) providertest.Step {
	listed := t.last("file.list")
	if listed == nil {
		return saying("", providertest.CallSpec{Tool: "file.list", Input: object{"glob": "*"}})
	}
	if t.last("file.read") == nil {
		reads := []providertest.CallSpec{{Tool: "file.read", Input: object{"path": "go.mod"}}}
		seen := " "
		for _, name := range append(fileName.FindAllString(t.prompt, -1), names...) {
			if has(listed.result, name) && !strings.Contains(seen, " "+name+" ") {
				reads = append(reads, providertest.CallSpec{Tool: "file.read", Input: object{"path": name}})
			}
			seen += name + " "
		}
		return saying("", reads...)
	}
	module := "workshop"
	versions := make(map[string]string)
	for i := range t.did {
		d := &t.did[i]
		if m := moduleLine.FindStringSubmatch(d.result); d.name == "file.read" && m != nil &&
			d.value("path") == "go.mod" {
			module = m[1]
		}
		if m := version.FindStringSubmatch(d.result); d.name == "file.read" && m != nil && !d.failed {
			versions[d.value("path")] = m[1]
		}
		if d.name == "file.write" && d.failed {
			return providertest.Say("I couldn't write " + d.value("path") + ": " + firstLine(d.result))
		}
	}
	done := written(t)
	for _, name := range names {
		if slices.Contains(done, name) {
			continue
		}
		text, ok := content(name, kind, module, t.prompt)
		if !ok {
			return unable(t, "I don't know a file "+name)
		}
		in := object{"path": name, "content": text}
		if versions[name] != "" {
			in["version"] = versions[name]
		}
		return saying("I write "+name+".", providertest.CallSpec{Tool: "file.write", Input: in})
	}
	return providertest.Say(finished)
}

// has reports whether a listing has a file.
func has(listing, name string) bool {
	return regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `(?:\s|$)`).MatchString(listing)
}

// repaired reads what the inspector says, and repairs what it knows.
func repaired(t *turn) providertest.Step {
	if strings.Contains(t.prompt, "conflict in ") {
		return providertest.Say("Somebody has changed these files meanwhile. I keep that version, and leave mine out.")
	}
	r := repairFor(t.prompt)
	if r == nil {
		return unable(t,
			"I know "+fmt.Sprint(len(repairs))+" mistakes by what go test says about them, and this is none of them")
	}
	if t.last("file.list") == nil {
		return saying(r.Say, providertest.CallSpec{Tool: "file.list", Input: object{"glob": "*"}})
	}
	return write(t, []string{r.File}, ".repaired", r.File+" is repaired.")
}

// unable says loudly what a stand-in can't do. It changes nothing.
func unable(t *turn, why string) providertest.Step {
	return providertest.Say("I am a stand-in and can't do this: " + why + ". The task was: " + firstLine(t.prompt))
}

// librarianReply reads the directory and the skills, or looks something up.
func librarianReply(t *turn) providertest.Step {
	task := strings.ToLower(t.prompt)
	if strings.HasPrefix(task, "read the directory") {
		return survey(t)
	}
	p := projectBy(func(p *project) bool { return topics[p.Key].MatchString(task) })
	if p == nil || !t.offered("go.doc") {
		return providertest.Say("I have this directory and the documentation of Go, and found nothing about it there.")
	}
	if t.last("go.doc") == nil {
		var calls []providertest.CallSpec
		for _, symbol := range p.Look {
			calls = append(calls, providertest.CallSpec{Tool: "go.doc", Input: object{"args": []string{"doc", symbol}}})
		}
		return saying("I look into the documentation of Go.", calls...)
	}
	var b strings.Builder
	for i := range t.did {
		if d := &t.did[i]; d.name == "go.doc" && !d.failed && i < len(p.Look) {
			fmt.Fprintf(&b, "- `go doc %s`: %s\n", p.Look[i], summary(d.result))
		}
	}
	return providertest.Say("What the documentation of Go says:\n\n" + b.String() + "\n" + p.Lesson)
}

// topics are what the projects are about.
var topics = map[string]*regexp.Regexp{
	"count": regexp.MustCompile(`\bwords?\b|\bwc\b|wörter`),
	"slug":  regexp.MustCompile(`\bslugs?\b|\burls?\b|\btitles?\b`),
	"csv":   regexp.MustCompile(`\bcsv\b|\bjson\b|\btables?\b`),
}

// summary returns the first sentence of what go doc says about a symbol.
func summary(doc string) string {
	_, text, _ := strings.Cut(doc, "\n    ")
	text, _, _ = strings.Cut(text, "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i+1]
	}
	return strings.TrimSuffix(text, " It ended well.")
}

// survey says what the directory has.
func survey(t *turn) providertest.Step {
	if t.last("file.list") == nil {
		calls := []providertest.CallSpec{{Tool: "file.list", Input: object{"glob": "*.go"}}}
		if t.offered("skill") {
			calls = append(calls, providertest.CallSpec{Tool: "skill", Input: object{"name": "go-style"}},
				providertest.CallSpec{Tool: "skill", Input: object{"name": "cli-tools"}})
		}
		return saying("", calls...)
	}
	var found []string
	for line := range strings.Lines(t.last("file.list").result) {
		if f := strings.Fields(line); len(f) > 0 && strings.HasSuffix(f[0], ".go") {
			found = append(found, f[0])
		}
	}
	text := "The directory has no Go files yet."
	if len(found) > 0 {
		text = fmt.Sprintf("The directory has %d Go files, among them %s.", len(found), strings.Join(found[:min(3,
			len(found))], ", "))
	}
	if d := t.last("skill"); d != nil && !d.failed {
		text += " The skills go-style and cli-tools say: tests come first, a package for each idea, and a command in " +
			"cmd that only reads arguments and prints."
	}
	return providertest.Say(text)
}
