package journaltest

import (
	"embed"
	"io/fs"
	"strings"
)

// scripts are checks as text. In each file, a line "== name" begins a check. A line that isn't
// indented is a command, see [fixture.play]; the indented lines below it are what the store must
// answer. Empty lines and those that begin with # say nothing.
//
//go:embed checks
var scripts embed.FS

// A command is a line of a script, and its answer.
type command struct {
	name    string
	args    []string
	options map[string]string
	object  string // JSON, for a head or a filter
	line    string
	want    string
}

// scriptChecks returns the checks of a file.
func scriptChecks(file string) []check {
	text, err := fs.ReadFile(scripts, "checks/"+file+".txt")
	if err != nil {
		panic(err) // it is embedded
	}
	var all []check
	for _, section := range strings.Split("\n"+string(text), "\n== ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		commands := parse(body)
		all = append(all, check{name, func(f *fixture) {
			for i := range commands {
				f.check(&commands[i])
			}
		}})
	}
	return all
}

func parse(body string) []command {
	var all []command
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			last := &all[len(all)-1]
			last.want = strings.TrimPrefix(last.want+"\n"+line[1:], "\n")
		default:
			all = append(all, commandOf(line))
		}
	}
	return all
}

// commandOf splits a line at its blanks, but for those of the object.
func commandOf(line string) command {
	c := command{line: line, options: make(map[string]string)}
	if i := strings.Index(line, " {"); i > 0 {
		line, c.object = line[:i], line[i+1:]
	}
	words := strings.Fields(line)
	c.name = words[0]
	for _, word := range words[1:] {
		if key, value, ok := strings.Cut(word, "="); ok {
			c.options[key] = value
		} else {
			c.args = append(c.args, word)
		}
	}
	return c
}

// has reports whether the last word is word.
func (c *command) has(word string) bool { return c.args[len(c.args)-1] == word }

// arg returns the n-th word, or "".
func (c *command) arg(n int) string {
	if n < len(c.args) {
		return c.args[n]
	}
	return ""
}

// list returns the words of an option that are separated by commas.
func (c *command) list(option string) []string {
	if value, ok := c.options[option]; ok {
		return strings.Split(value, ",")
	}
	return nil
}
