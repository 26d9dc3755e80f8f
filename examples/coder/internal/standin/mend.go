package standin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider/providertest"
)

// A repair is a mistake that the stand-in knows, by what go test says about it.
type repair struct {
	Sign string `json:"sign"` // a regular expression
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
	Kept string `json:"kept"` // instead of New, if names are to be kept; empty: New keeps them
	Why  string `json:"why"`
	Done string `json:"done"` // for the commit
}

var repairs = load[[]repair]("repairs.json")

// input returns the edit that repairs.
func (r *repair) input(w *wish) object {
	text := r.New
	if r.Kept != "" && w.limits[keepName] {
		text = r.Kept
	}
	return object{"path": r.File, "old": r.Old, "new": text}
}

var rejection = regexp.MustCompile(`A person rejected this call(?: and suggests instead:|\.)`)

// rejected returns why a person has rejected a call.
func (d *deed) rejected() (reason string, ok bool) {
	at := rejection.FindStringIndex(d.result)
	if at == nil || !d.failed {
		return "", false
	}
	return strings.TrimSpace(d.result[at[1]:]), true
}

// trouble returns why the stand-in can't go on; empty: it can. What a person forbids in the reason
// of a rejection ("keep the name", "don't commit") holds from then on.
func (t *turn) trouble() string {
	for i := range t.did {
		d := &t.did[i]
		reason, ok := d.rejected()
		if !ok {
			continue
		}
		if said := understand(reason); len(said.limits) > 0 {
			for l := range said.limits {
				t.wish.limits[l] = true
			}
			if i < len(t.did)-1 || !t.wish.without(noWrite) || !changes(d) {
				continue
			}
		}
		if i == len(t.did)-1 && d.name != "ask" && d.name != "plan.submit" {
			return "Then I leave it as it is." + quote(reason)
		}
	}
	return ""
}

func quote(reason string) string {
	if reason == "" {
		return " Say what to do instead, or “go on”."
	}
	return fmt.Sprintf(" You said: %q. I am a stand-in: of reasons I know “keep the name”, “don't commit” and “don't "+
		"run the tests”.", reason)
}

// planning reports whether the mode is plan, in which nothing may be changed.
func (t *turn) planning() bool {
	last := len(t.did) - 1
	return strings.Contains(t.req.System, "The mode is plan:") ||
		last >= 0 && t.did[last].failed && strings.Contains(t.did[last].result, "mode is plan")
}

// plan looks at the files, and submits a plan.
func (t *turn) plan() providertest.Step {
	if d := t.last("plan.submit"); d != nil {
		if reason, ok := d.rejected(); ok {
			return providertest.Say("The plan is dropped. Nothing was changed." + quote(reason))
		}
		return providertest.Say("The plan is carried out.\n\n" + clip(d.result, 40))
	}
	if t.last("file.list") == nil {
		return t.call("I look first. In this mode I change nothing.", "file.list", object{"glob": "*.go"})
	}
	if t.wish.act == "mend" {
		if step, ok := t.readKnown(); ok {
			return step
		}
	}
	if !t.offered("plan.submit", "") {
		return providertest.Say(t.proposal() + "\n\nThe mode is plan, so I change nothing. Switch it, and say “go on”.")
	}
	nodes := []object{{"id": "change", "worker": "coder", "prompt": strings.TrimRight(t.wish.text, ".! ") +
		". Don't commit."}}
	if !t.wish.without(noRun) {
		nodes = append(nodes, object{"id": "test", "after": []string{"change"}, "tool": "run",
			"input": `{"program":"go","args":["test","./..."]}`})
	}
	return t.call(t.proposal()+"\n\nThis is the plan:", "plan.submit",
		object{"title": title(t.wish.text), "why": "Tests judge it.", "nodes": nodes})
}

// title returns the first words of a text.
func title(text string) string {
	f := strings.Fields(text)
	return strings.Join(f[:min(len(f), 8)], " ")
}

// files returns what is known of files: the whole texts of those that were read and not changed
// since, with their versions.
func (t *turn) files() map[string]source {
	known := make(map[string]source)
	for i := range t.did {
		d := &t.did[i]
		switch head, text, _ := strings.Cut(d.result, "\n"); {
		case d.name == "file.read" && !d.failed && !strings.Contains(head, "; continue"):
			known[d.value("path")] = source{text, group(version, head)}
		case d.name == "file.read":
			known[d.value("path")] = source{} // it can't be read
		case changes(d):
			delete(known, d.value("path"))
		}
	}
	return known
}

type source struct{ text, version string }

var version = regexp.MustCompile(`version ([0-9a-f]{16})`)

// group returns the first group of a pattern in a text; empty if it doesn't match.
func group(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// readKnown reads the files that the stand-in may know mistakes of. ok is false if they were read.
func (t *turn) readKnown() (step providertest.Step, ok bool) {
	list, known := t.last("file.list"), t.files()
	if list == nil {
		return t.call("I look at the files.", "file.list", object{"glob": "*.go"}), true
	}
	for _, r := range repairs {
		if _, read := known[r.File]; !read && regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(r.File)+` `).
			MatchString(list.result) {
			return t.call("", "file.read", object{"path": r.File}), true
		}
	}
	return step, false
}

// open returns the repairs that the files need, as far as they were read.
func (t *turn) open() (list []*repair) {
	known := t.files()
	for i := range repairs {
		if r := &repairs[i]; strings.Contains(known[r.File].text, r.Old) {
			list = append(list, r)
		}
	}
	return list
}

// proposal says what would be changed.
func (t *turn) proposal() string {
	if t.wish.act == "edit" || t.wish.act == "add" {
		return "I would do what you say, and run the tests."
	}
	var b strings.Builder
	for i, r := range t.open() {
		fmt.Fprintf(&b, "\n\n%d. In %s: %s\n\n```diff\n%s\n```", i+1, r.File, r.Why,
			strings.TrimRight(prefixed("-", r.Old)+prefixed("+", r.input(&t.wish)["new"].(string)), "\n"))
	}
	if b.Len() == 0 {
		return "I have read the files, and see nothing that I know how to mend: a stand-in knows two mistakes."
	}
	return "I would change this:" + b.String()
}

func prefixed(sign, text string) (out string) {
	for line := range strings.Lines(text) {
		out += sign + line
	}
	return out
}

// mend runs the tests, mends what they find, and commits; or says what it would mend.
func (t *turn) mend() providertest.Step {
	w := &t.wish
	if w.act == "propose" || w.limits[noRun] {
		if step, ok := t.readKnown(); ok {
			return step
		}
		switch open := t.open(); {
		case w.act == "propose":
			said := t.proposal()
			if len(open) > 0 {
				said += "\n\nNothing is changed. Say “do it”, and I do it and run the tests."
			}
			return providertest.Say(said)
		case len(open) > 0:
			return t.repair(open[0])
		case len(t.mended(t.did)) == 0:
			return providertest.Say(t.proposal() + " I ran nothing.")
		case w.limits[noCommit]:
			return providertest.Say("It is mended. I ran no tests and committed nothing, as you said.")
		}
		return t.commit(t.mended(t.did))
	}
	tested := t.ran("go", "test")
	switch {
	case tested == nil:
		text := "I run the tests again."
		if len(t.mended(t.did)) == 0 {
			text = "My plan: run the tests, read what fails, mend it, and run them again until they pass."
		}
		return t.run(text, "go", "test", "./...")
	case !tested.passed():
		return t.failing(tested)
	case w.limits[noCommit]:
		return providertest.Say("All tests pass." + t.summary(t.did) + " I committed nothing, as you said.")
	}
	if all := append(slices.Clone(t.before), t.did...); len(t.mended(all)) > 0 {
		return t.commit(t.mended(all))
	}
	return providertest.Say("All tests pass, so there is nothing to mend.")
}

// failing mends what a run of the tests says.
func (t *turn) failing(tested *deed) providertest.Step {
	known := t.files()
	for i := range repairs {
		r := &repairs[i]
		if !regexp.MustCompile(r.Sign).MatchString(tested.result) {
			continue
		}
		file, read := known[r.File]
		switch {
		case !read:
			return t.call("The tests say:\n\n"+failures(tested.output())+"\n\nI read "+r.File+".", "file.read",
				object{"path": r.File})
		case strings.Contains(file.text, r.Old):
			return t.repair(r)
		}
	}
	return providertest.Say("This still fails:\n\n" + failures(tested.output()) +
		"\n\nI am a stand-in, and don't know how to mend that." + t.summary(t.did))
}

// repair makes an edit. A person may have changed an earlier one, so that it isn't made again.
func (t *turn) repair(r *repair) providertest.Step {
	for i := range t.did {
		if d := &t.did[i]; d.name == "file.edit" && !d.failed && same(d.input, raw(r.input(&t.wish))) {
			return providertest.Say("I have made this change, and it isn't in " + r.File +
				" any more. I leave it to you: the tests still fail.")
		}
	}
	return t.call(r.Why, "file.edit", r.input(&t.wish))
}

// mended returns the repairs that were made in a part of the conversation.
func (t *turn) mended(part []deed) (list []*repair) {
	for i := range repairs {
		if slices.ContainsFunc(part, func(d deed) bool {
			return d.name == "file.edit" && !d.failed && d.value("old") == repairs[i].Old
		}) {
			list = append(list, &repairs[i])
		}
	}
	return list
}

func (t *turn) summary(part []deed) (text string) {
	for _, r := range t.mended(part) {
		text += " " + r.Done + "."
	}
	return text
}

// commit shows what has changed, and commits it: what was mended, or, for none, everything.
func (t *turn) commit(mended []*repair) providertest.Step {
	if !t.offered("run", `"git"`) {
		return providertest.Say("Done." + t.summary(t.did) + " There is no git here, so nothing is committed.")
	}
	status := t.ran("git", "status")
	switch {
	case status == nil:
		return t.run("", "git", "status", "--short")
	case !status.passed():
		return providertest.Say("Nothing is committed: " + firstLine(status.output()))
	}
	if done := t.ran("git", "commit"); done != nil {
		if !done.passed() {
			return providertest.Say("git didn't commit:\n\n" + clip(done.output(), 10))
		}
		return providertest.Say("It is committed:\n\n```\n" + clip(done.output(), 10) + "\n```")
	}
	if t.wish.limits[noCommit] {
		return providertest.Say("It is done, and not committed, as you said." + t.summary(t.did))
	}
	var changed, fresh []string
	for line := range strings.Lines(status.output()) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "??" {
			fresh = append(fresh, "./"+f[1])
		} else if len(f) > 1 {
			changed = append(changed, f[len(f)-1])
		}
	}
	message, paths := "Change "+strings.Join(changed, ", "), []string(nil)
	if mended != nil {
		message, fresh = "", nil
		for _, r := range mended {
			if slices.Contains(changed, r.File) {
				message += "; " + r.Done
				if file := "./" + r.File; !slices.Contains(paths, file) { // no option
					paths = append(paths, file)
				}
			}
		}
		message, changed = strings.TrimPrefix(message, "; "), paths
	}
	switch {
	case len(changed)+len(fresh) == 0 && mended != nil:
		return providertest.Say("All tests pass, and there is nothing to commit.")
	case len(changed)+len(fresh) == 0:
		return providertest.Say("Nothing has changed, so there is nothing to commit.")
	case len(fresh) > 0 && t.ran("git", "add") == nil:
		return t.run("These files are new: "+strings.Join(fresh, ", ")+".", "git", append([]string{"add"}, fresh...)...)
	case len(fresh) > 0:
		message = "Add " + strings.Join(fresh, ", ")
	}
	args := []string{"commit", "-m", message}
	if mended == nil {
		return t.run("I commit everything that has changed.", "git", append(args, "-a")...)
	}
	say := "All tests pass. I commit the change."
	if t.ran("go", "test") == nil {
		say = "I ran no tests. I commit the change."
	}
	return t.run(say, "git", append(args, paths...)...)
}
