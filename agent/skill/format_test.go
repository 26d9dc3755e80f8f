package skill_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/skill"
	"github.com/pawlkit/pawl/circuit/fault"
)

// The cases are those of agentskills.io/specification, of its reference validator, and of what is
// found in repositories.
func TestDirReadsTheFormat(t *testing.T) {
	read := func(front string) string { return "---\n" + front + "\n---\n# How\n\nDo it.\n" }
	named := "name: go-style\ndescription: Writes Go."
	none := make(map[string]string)
	plain := skill.Skill{Metadata: none, Name: "go-style", Description: "Writes Go.", Text: "# How\n\nDo it."}
	with := func(change func(*skill.Skill)) skill.Skill {
		s := plain
		change(&s)
		return s
	}
	warned := func(s skill.Skill, warnings ...string) skill.Skill {
		s.Warnings = warnings
		return s
	}
	const letters = "lowercase letters, digits and single hyphens"
	longest := strings.Repeat("a", 64)
	for name, c := range map[string]struct {
		dir, text string
		want      skill.Skill
		problem   string // part of the error; none if empty
	}{
		"the least": {text: read(named), want: plain},
		"all fields": {text: read(named + "\nlicense: MIT\ncompatibility: needs go\nmetadata:\n  author: ann\n  version: 1.0\nallowed-tools: Read"),
			want: with(func(s *skill.Skill) {
				s.License, s.Compatibility, s.Tools = "MIT", "needs go", []string{"Read"}
				s.Metadata = map[string]string{"author": "ann", "version": "1.0"}
			})},
		"other fields": {text: read(named + "\nmodel: x\nwhen_to_use: [1, 2]\nhooks: {a: {b: c}}"),
			want: plain},
		"CRLF":              {text: strings.ReplaceAll(read(named), "\n", "\r\n"), want: plain},
		"a byte order mark": {text: "\ufeff" + read(named), want: plain},
		"no text":           {text: "---\n" + named + "\n---", want: with(func(s *skill.Skill) { s.Text = "" })},
		"a rule in the text": {text: read(named) + "\n---\nmore",
			want: with(func(s *skill.Skill) { s.Text += "\n\n---\nmore" })},
		"quotes and comments": {text: read("# of the team\nname: 'go-style' # ours\ndescription: \"Writes Go.\""), want: plain},
		"folded lines":        {text: read("name: go-style\ndescription: >-\n  Writes\n  Go."), want: plain},
		"kept lines": {text: read("name: go-style\ndescription: |\n  Writes\n  Go.\n"),
			want: with(func(s *skill.Skill) { s.Description = "Writes\nGo." })},
		"a colon that should be quoted": {text: read("name: go-style\ndescription: Use when: Go is written"),
			want: with(func(s *skill.Skill) { s.Description = "Use when: Go is written" })},
		"the longest": {dir: longest, text: read("name: " + longest + "\ndescription: " + strings.Repeat("é", 1024)),
			want: with(func(s *skill.Skill) { s.Name, s.Description = longest, strings.Repeat("é", 1024) })},
		"letters of others": {dir: "навык-2", text: read("name: навык-2\ndescription: Writes Go."),
			want: with(func(s *skill.Skill) { s.Name = "навык-2" })},
		"a decomposed name": {dir: "caf\u00e9", text: read("name: cafe\u0301\ndescription: Writes Go."),
			want: with(func(s *skill.Skill) { s.Name = "caf\u00e9" })},
		"tools with patterns": {text: read(named + "\nallowed-tools: Read Bash(git:*) Bash(go test:*), Grep,Read"),
			want: with(func(s *skill.Skill) { s.Tools = []string{"Read", "Bash", "Grep"} })},
		"a list of tools": {text: read(named + "\nallowed-tools:\n  - Read\n  - Bash(go test:*)"),
			want: with(func(s *skill.Skill) { s.Tools = []string{"Read", "Bash"} })},

		"white space after the hyphens": {text: "---  \n" + named + "\n---\t\n# How\n\nDo it.\n",
			want: warned(plain, "a line of three hyphens has white space after them")},
		"another name": {text: read("name: go\ndescription: Writes Go."),
			want: warned(with(func(s *skill.Skill) { s.Name = "go" }),
				`it is named "go", and its directory "go-style"; they should be the same`)},
		"a name that is none": {text: read("name: Go \u202eStyle\ndescription: Writes Go."),
			want: warned(plain, `the name "Go \u202eStyle" isn't 1 to 64 lowercase letters, digits and single hyphens `+
				"between them; that of the directory is used")},
		"no name": {text: read("description: Writes Go."), want: warned(plain, `the name "" isn't 1 to 64 lowercase `+
			"letters, digits and single hyphens between them; that of the directory is used")},
		"1025 characters": {text: read("name: go-style\ndescription: " + strings.Repeat("é", 1025)),
			want: warned(with(func(s *skill.Skill) { s.Description = strings.Repeat("é", 1023) + "…" }),
				"the description has 1025 characters, and may have 1024; the rest is left out")},
		"a long compatibility": {text: read(named + "\ncompatibility: " + strings.Repeat("x", 501)),
			want: warned(with(func(s *skill.Skill) { s.Compatibility = strings.Repeat("x", 499) + "…" }),
				"compatibility has 501 characters, and may have 500; the rest is left out")},

		"no front matter":          {text: "# How\n", problem: "between two lines of three hyphens"},
		"front matter without end": {text: "---\n" + named + "\n", problem: "between two lines of three hyphens"},
		"no YAML":                  {text: read("name: [go-style\ndescription: x"), problem: "isn't YAML"},
		"a list":                   {text: read("- name\n- description"), problem: "isn't YAML"},
		"capital letters":          {dir: "Go-Style", text: read("name: Go-Style\ndescription: x"), problem: letters},
		"an underscore":            {dir: "go_style", text: read("name: go_style\ndescription: x"), problem: letters},
		"a hyphen in front":        {dir: "-go", text: read("name: -go\ndescription: x"), problem: letters},
		"a hyphen at the end":      {dir: "go-", text: read("name: go-\ndescription: x"), problem: letters},
		"two hyphens": {dir: "go--style", text: read("name: go--style\ndescription: x"),
			problem: letters},
		"65 characters": {dir: longest + "a", text: read("name: " + longest + "a\ndescription: x"),
			problem: "isn't 1 to 64 lowercase"},
		"no description": {text: read("name: go-style"),
			problem: "the description has 0 characters; it must have 1 to 1024"},
		"a blank description": {text: read("name: go-style\ndescription: \"  \""),
			problem: "the description has 0 characters"},
		"a list as description": {text: read("name: go-style\ndescription: [a]"), problem: "isn't YAML"},
		"no UTF-8":              {text: read(named) + "\xff", problem: "isn't UTF-8"},
		"too long": {text: read(named) + strings.Repeat("x", 256<<10),
			problem: "at most 262144 are read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.dir
			if dir == "" {
				dir = "go-style"
			}
			list, err := skill.Dir(fstest.MapFS{dir + "/SKILL.md": {Data: []byte(c.text)}})
			if c.problem != "" {
				require.Empty(t, list)
				require.ErrorContains(t, err, c.problem)
				require.ErrorContains(t, err, dir)
				require.Equal(t, fault.UserFixable, fault.Of(err))
				return
			}
			require.NoError(t, err)
			require.Len(t, list, 1)
			list[0].Files = nil
			require.Equal(t, c.want, *list[0])
		})
	}
}

func TestAWrongSkillHidesNoOther(t *testing.T) {
	good := []byte("---\nname: %\ndescription: Does %.\n---\nDo %.")
	file := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(good), "%", name))}
	}
	list, err := skill.Dir(fstest.MapFS{"b/SKILL.md": file("b"), "Wrong/SKILL.md": file("Not a name"),
		"a/SKILL.md": file("a"), "again/SKILL.md": file("b"), "also/SKILL.md": file("b"),
		"empty/README.md": {}, "README.md": {}, ".git/config": {}, "none/SKILL.md": {Data: []byte("text")}})
	require.ErrorContains(t, err, "Wrong")
	require.ErrorContains(t, err, "none")
	require.ErrorContains(t, err, `again: it is named "b", as the skill in b is; give it another name`)
	require.ErrorContains(t, err, "also: it is named")
	require.Len(t, list, 2)
	require.Equal(t, "a", list[0].Name)
	require.Equal(t, "b", list[1].Name)
	require.Empty(t, list[1].Warnings, "the one in the directory b")

	_, err = skill.Dir(nil)
	require.Error(t, err)
	_, err = skill.Dir(fstest.MapFS{"SKILL.md": file("a")})
	require.NoError(t, err, "a directory of skills, not a skill")
}
