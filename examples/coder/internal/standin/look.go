package standin

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

// offer says that something isn't known, and offers what is as choices.
func (t *turn) offer() providertest.Step {
	const text = "I am a stand-in, and don't know that as you say it. I know these five, and edits such as " +
		"“replace OLD by NEW in FILE”, “rename A to B”, “append LINE to FILE” and “add a doc comment to NAME”."
	if d := t.last("ask"); d != nil {
		return providertest.Say("Then I do nothing.")
	}
	if !t.offered("ask", "") {
		return providertest.Say(text + "\n\n- " + strings.Join(Requests, "\n- "))
	}
	return t.call(text, "ask", object{"question": "Which of them do you want?",
		"options": append(Requests[:len(Requests):len(Requests)], NoneOfThese)})
}

// answer says something, and does nothing.
func (t *turn) answer() string {
	w := &t.wish
	text := strings.ToLower(w.text)
	switch {
	case w.act == doesRefuse && undoes.MatchString(text):
		return "I can't undo anything myself: type /undo, and the last run is undone, files and all."
	case w.act == doesRefuse:
		return "I don't push, publish or delete anything. Nothing was done."
	case understand(w.text).act == doesGoOn:
		return "There is nothing to go on with. " + knows
	case len(w.limits) > 0, strings.HasPrefix(text, "don't"), strings.Contains(text, "nicht"), strings.Contains(text,
		"n't"), stops.MatchString(text):
		return "Good: I do nothing of that."
	}
	return "I am a stand-in for a language model: rules, not a mind. I did nothing. " + knows
}

var (
	undoes = regexp.MustCompile(`undo|revert|rückgängig|zurück|back`)
	stops  = regexp.MustCompile(`\b(?:stop|wait|no|nein|never|forget|nothing|nichts|halt|leave)\b`)
)

const knows = "I mend the failing test, add a function with a test, find and explain things, run the tests, and review " +
	"and commit what changed."

var (
	// failed are the lines of go's output that say what is wrong.
	failed = regexp.MustCompile(`^(?:\s*--- FAIL: \S+|\s+\S+\.go:\d+: .*|panic: .*|(?:vet: )?\S+\.go:\d+:\d+: .*|FAIL\s\S+.*|.*build failed.*)`)
	fileIn = regexp.MustCompile(`(?:[\w.-]+/)*[\w-]*\.?\w+\.(?:go|md|mod|sum|txt|json|ya?ml|toml|html|css|js|ts|py|sh)\b`)
)

// failures returns what go's output says is wrong.
func failures(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		if failed.MatchString(line) && len(lines) < 20 {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	if len(lines) == 0 {
		lines = []string{clip(output, 10)}
	}
	return "```\n" + strings.Join(lines, "\n") + "\n```"
}

// clip returns the first lines of a text.
func clip(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimSpace(text), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "")
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("… (%d more lines)", len(lines)-n)
}

// check runs the tests, or go vet, and says what fails.
func (t *turn) check() providertest.Step {
	what, good := "test", "All tests pass.\n\n"
	if strings.Contains(strings.ToLower(t.wish.text), "vet") {
		what, good = "vet", "go vet finds nothing."
	}
	d := t.ran("go", what)
	switch {
	case d == nil && t.planning():
		return providertest.Say("The mode is plan, in which I run nothing. Switch it, and say “go on”.")
	case d == nil:
		return t.run("", "go", what, "./...")
	case !d.passed():
		return providertest.Say("This fails:\n\n" + failures(d.output()) + "\n\nI changed nothing.")
	case what == "test":
		good += "```\n" + clip(d.output(), 12) + "\n```"
	}
	return providertest.Say(good)
}

// review says what has changed.
func (t *turn) review() providertest.Step {
	status, diff := t.ran("git", "status"), t.ran("git", "diff")
	switch {
	case status == nil:
		return t.run("", "git", "status", "--short")
	case !status.passed():
		return providertest.Say("git says: " + firstLine(status.output()))
	case status.output() == "":
		return providertest.Say("Nothing has changed since the last commit.")
	case diff == nil:
		return t.run("", "git", "diff")
	}
	return providertest.Say("Changed, and not committed:\n\n```\n" + status.output() + "\n```\n\n```diff\n" +
		clip(diff.output(), 60) + "\n```\n\nSay “commit it”, and I ask git to.")
}

var (
	subjectOf = regexp.MustCompile(`(?i)(?:where(?: is| are| does)?|search for|grep for|look for|find|explain|describe|uses of|calls of|what does|` +
		`what is|how does|how do|grep|about|wo ist|wo wird|was macht|was ist|erkläre?|suche?(?: nach)?|finde?)\s+` +
		`(?:(?:me|all|the|a|an|every|uses|usages|calls|of|to|function|func|type|method|package|mir|uns|die|der|das|alle|definition)\s+)*` +
		`["'“` + "`" + `]?([\p{L}_][\p{L}\d_.]*)`)
	inQuotes = regexp.MustCompile("[\"“`]([^\"”`]+)[\"”`]")
	lists    = regexp.MustCompile(`(?i)\bfiles\b|\bdateien\b|\brepo(?:sitory)?\b|look around|\bfolder\b|\bdirectory\b|\bproject\b|^\W*ls\b`)
	lastWord = regexp.MustCompile(`([\p{L}_][\p{L}\d_.]*)\W*$`)
	nameOnly = regexp.MustCompile(`^[\p{L}_]\w*$`)
)

// find reads, lists, searches or explains.
func (t *turn) find() providertest.Step {
	text := t.wish.rest
	switch file := fileIn.FindString(text); {
	case file != "":
		return t.show(file)
	case lists.MatchString(text):
		return t.list()
	}
	subject := group(inQuotes, text)
	for _, pattern := range []*regexp.Regexp{subjectOf, lastWord} {
		if subject == "" {
			subject = strings.Trim(group(pattern, text), ".")
		}
	}
	if i := strings.LastIndex(subject, "."); i >= 0 { // "wrap.Lines"
		subject = subject[i+1:]
	}
	found := t.last("file.search")
	if found == nil {
		return t.call("", "file.search", object{"pattern": subject, "limit": 60})
	}
	if found.failed || strings.HasPrefix(found.result, "no matches") {
		if found.value("path") == "" && !strings.Contains(string(found.input), "ignore_case") {
			return t.call("", "file.search", object{"pattern": subject, "ignore_case": true, "limit": 60})
		}
		return providertest.Say(fmt.Sprintf("I find no %q in the files.", subject))
	}
	defined := regexp.MustCompile(`(?m)^(\S+?):(\d+): (?:func (?:\([^)]*\) )?|type |var |const )` + regexp.QuoteMeta(subject) +
		`\b`).FindStringSubmatch(found.result)
	if defined == nil || !nameOnly.MatchString(subject) {
		return providertest.Say(fmt.Sprintf("%q is here:\n\n```\n%s\n```", subject, clip(found.result, 20)))
	}
	read := t.last("file.read")
	if read == nil {
		return t.call("", "file.read", object{"path": defined[1]})
	}
	uses := strings.Count(found.result, "\n") - 1
	return providertest.Say(fmt.Sprintf("%s is defined in %s, line %s, and %d lines in all have the word:\n\n```go\n%s\n```",
		subject, defined[1], defined[2], uses+1, excerpt(read.result, subject)))
}

// excerpt returns a definition with its comment.
func excerpt(text, name string) string {
	lines := strings.Split(text, "\n")
	at := definition(name)
	for i, line := range lines {
		if !at.MatchString(line) {
			continue
		}
		from, to := i, i+1
		for from > 0 && strings.HasPrefix(lines[from-1], "//") {
			from--
		}
		for to < len(lines) && to < i+40 && strings.HasSuffix(line, "{") && !strings.HasPrefix(lines[to-1], "}") {
			to++
		}
		return strings.Join(lines[from:to], "\n")
	}
	return clip(text, 20)
}

// show shows a file.
func (t *turn) show(file string) providertest.Step {
	switch d := t.last("file.read"); {
	case d == nil:
		return t.call("", "file.read", object{"path": file})
	case d.failed:
		return providertest.Say("I can't read that: " + firstLine(d.result))
	default:
		head, text, _ := strings.Cut(d.result, "\n")
		return providertest.Say(head + "\n\n```\n" + clip(text, 60) + "\n```")
	}
}

// list says what the repository has.
func (t *turn) list() providertest.Step {
	list, readme := t.last("file.list"), t.last("file.read")
	switch {
	case list == nil:
		return t.call("", "file.list", object{"depth": 3})
	case readme == nil && strings.Contains(list.result, "README.md"):
		return t.call("", "file.read", object{"path": "README.md"})
	}
	said := "These files are here:\n\n```\n" + clip(list.result, 40) + "\n```"
	if readme != nil && !readme.failed {
		_, text, _ := strings.Cut(readme.result, "\n")
		said += "\n\nIts README begins:\n\n" + clip(text, 8)
	}
	return providertest.Say(said)
}
