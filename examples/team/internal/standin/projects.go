package standin

import (
	"embed"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

//go:embed data
var data embed.FS

// A project is something that the stand-in knows how to build.
type project struct {
	Key      string   `json:"key"`
	Title    string   `json:"title"` // as a person asks for it
	Plan     string   `json:"plan"`
	Why      string   `json:"why"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Words    []string `json:"words"`  // of the task, for each option
	Choice   []string `json:"choice"` // in the program
	Tests    string   `json:"tests"`
	Parts    []part   `json:"parts"`
	Command  part     `json:"command"`
	Readme   string   `json:"readme"`
	Run      []string `json:"run"`
	Look     []string `json:"look"` // what go doc is asked about
	Lesson   string   `json:"lesson"`
}

type part struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
}

// A repair is a mistake that the stand-in knows, by what go test says about it.
type repair struct {
	Sign string `json:"sign"` // a regular expression
	File string `json:"file"`
	Say  string `json:"say"`
}

var (
	projects = read[[]project]("projects.json")
	repairs  = read[[]repair]("repairs.json")
)

// read reads a file of the program, which tests read, too.
func read[T any](name string) (v T) {
	text, err := data.ReadFile("data/" + name)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		panic("standin: " + name + ": " + err.Error())
	}
	return v
}

// Examples returns requests that the stand-in knows.
func Examples() (all []string) {
	for i := range projects {
		all = append(all, projects[i].Title)
	}
	return all
}

func projectBy(is func(*project) bool) *project {
	for i := range projects {
		if is(&projects[i]) {
			return &projects[i]
		}
	}
	return nil
}

// content returns a file of the projects for a module, as a task describes it. The result is false
// if there is none.
func content(name, kind, module, task string) (string, bool) {
	for i := range projects {
		p := &projects[i]
		text, err := data.ReadFile(path.Join("data", p.Key, name+kind+".txt"))
		if err != nil {
			continue
		}
		choice := p.Choice[0]
		if strings.Contains(task, p.Words[1]) {
			choice = p.Choice[1]
		}
		return strings.NewReplacer("MODULE", module, "CHOICE", choice).Replace(string(text)), true
	}
	return "", false
}

var moduleLine = regexp.MustCompile(`(?m)^(?:\d+\t)?module (\S+)`)

// repairFor returns the repair for what go test says; nil if it isn't known.
func repairFor(output string) *repair {
	for i := range repairs {
		if regexp.MustCompile(repairs[i].Sign).MatchString(output) {
			return &repairs[i]
		}
	}
	return nil
}
