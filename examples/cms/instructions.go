package main

import (
	"embed"
	"sync"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
)

//go:embed instructions
var instructions embed.FS

// prompts reads the instructions: the core, which is the same for all modes, and a file for each
// mode, which includes components and examples.
var prompts = sync.OnceValues(func() (*prompt.Set, error) {
	var cfg prompt.Config
	for _, part := range []string{"identity", "capabilities", "universal-rules"} {
		cfg.Core = append(cfg.Core, "instructions/core/"+part+".md")
	}
	for _, mode := range cmstools.Modes {
		cfg.Modes = append(cfg.Modes, prompt.Mode{Name: mode.Name,
			Sections: []string{"instructions/modes/" + mode.Name + ".md"}})
	}
	return prompt.Load(instructions, cfg)
})

// systemText returns the instructions of a mode, for the log on the page.
func systemText(mode string) string {
	texts, _ := prompts()       // the agent has them
	text, _ := texts.Mode(mode) // an unknown mode has none
	return texts.Core() + "\n\n" + text
}
