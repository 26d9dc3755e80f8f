package standin

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

// offer says that something isn't known, and what is, some of it as choices.
func (t *turn) offer() providertest.Step {
	const text = "I don't know this request, so I changed nothing. " + help
	if t.last("ask") != nil {
		return providertest.Say("Then I do nothing.")
	}
	if !t.offered("ask", "") {
		return providertest.Say(text + list())
	}
	return call(text+list(), "ask", object{"question": "Which of them do you want?",
		"options": append(slices.Clone(Requests), "None of these")})
}

// help says what the stand-in is, before a list of what it knows.
const help = "This stand-in is a script, not a model. With ANTHROPIC_API_KEY and ANTHROPIC_MODEL, or the variables of " +
	"another provider (examples/coder/README.md has them), a model understands any sentence. These it knows, also in a " +
	"few other words and with other names, texts and files, some of them followed by “, but don't commit”, “, but don't " +
	"run the tests” or “, but keep the names”:\n"

// answer says something, and does nothing.
func (t *turn) answer() providertest.Step {
	switch t.wish.act {
	case doesUndo:
		return providertest.Say("To undo the last run with all its changes, type /undo.")
	case doesHelp:
		return providertest.Say(help + list())
	case doesGoOn, doesYes:
		return providertest.Say("Nothing is begun. Say what you want; “help” lists what I know.")
	}
	return providertest.Say("Good: I do nothing of that.")
}

// failed are the lines in which go says what is wrong.
var failed = regexp.MustCompile(`(?m)^(?:\s*--- FAIL: \S+|[ \t]+\S+\.go:\d+: .*|panic: .*|` +
	`(?:vet: )?\S+\.go:\d+:\d+: .*|FAIL\s\S+.*)`)

// failures returns what go says is wrong.
func failures(d *deed) string {
	lines := failed.FindAllString(d.body(), 20)
	if len(lines) == 0 {
		return clip(d.body(), 10)
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
	what, good := "test", "All tests pass."
	if t.wish.values["vet"] != "" {
		what, good = "vet", "go vet finds nothing."
	}
	switch d := t.ran("go", what); {
	case d == nil:
		return t.run("", "go", what, "./...")
	case !d.passed():
		return providertest.Say("This fails:\n\n" + failures(d) + "\n\nI changed nothing.")
	default:
		return providertest.Say(good + "\n\n" + clip(d.body(), 12))
	}
}

// review says what has changed, and commits it if that is asked for.
func (t *turn) review() providertest.Step {
	status, diff, done := t.ran("git", "status"), t.ran("git", "diff"), t.ran("git", "commit")
	switch {
	case done != nil:
		return providertest.Say("git says:\n\n```\n" + clip(done.body(), 10) + "\n```")
	case status == nil:
		return t.run("", "git", "status", "--short")
	case !status.passed():
		return providertest.Say("git says: " + clip(status.body(), 1))
	case status.body() == "":
		return providertest.Say("Nothing has changed since the last commit.")
	case diff == nil:
		return t.run("", "git", "diff")
	case t.wish.act == doesReview || t.wish.limits[noCommit]:
		return providertest.Say("Changed, and not committed:\n\n```diff\n" + status.body() + "\n" +
			clip(diff.body(), 60) + "\n```")
	case t.ran("git", "add") == nil:
		return t.run("", "git", "add", "-A")
	}
	return t.run("", "git", "commit", "-m", "Change "+strings.Fields(status.body())[1])
}

// find reads, lists, searches or explains.
func (t *turn) find() providertest.Step {
	found, read := t.last("file.search"), t.last("file.read")
	switch file := t.wish.values["file"]; {
	case file != "" && read == nil:
		return call("", "file.read", object{"path": file})
	case file != "":
		return providertest.Say("```\n" + clip(read.result, 60) + "\n```")
	case t.wish.values["list"] != "":
		if list := t.last("file.list"); list != nil {
			return providertest.Say("These files are here:\n\n```\n" + clip(list.result, 40) + "\n```")
		}
		return call("", "file.list", object{"depth": 3})
	}
	name := strings.TrimRight(t.wish.values["name"], ".")
	name = regexp.QuoteMeta(name[strings.LastIndex(name, ".")+1:]) // "wrap.Lines"
	if found == nil {
		return call("", "file.search", object{"pattern": name, "ignore_case": name == strings.ToLower(name)})
	}
	defined := regexp.MustCompile(`(?m)^(\S+?):(\d+): ` + defines + name + `\b`).FindStringSubmatch(found.result)
	switch {
	case defined == nil:
		return providertest.Say(fmt.Sprintf("I looked for %q.\n\n```\n%s\n```", name, clip(found.result, 20)))
	case read == nil:
		line, _ := strconv.Atoi(defined[2])
		return call("", "file.read", object{"path": defined[1], "offset": max(line-8, 1), "limit": 40})
	}
	return providertest.Say(fmt.Sprintf("%s is defined in %s, line %s, and %d lines have the word.\n\n```\n%s\n```",
		name, defined[1], defined[2], strings.Count(found.result, "\n"), read.body()))
}
