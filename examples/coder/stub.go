package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// standin takes the place of the package internal/standin until that is there.
var standin = struct {
	New      func(pace time.Duration) provider.Provider
	About    string
	Requests []string
	Unpack   func(dir string) error
}{
	New: func(time.Duration) provider.Provider { return providertest.Script(providertest.Say("Hello.")) },
	Unpack: func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example\n\ngo 1.24\n"), 0o644)
	},
	About: "No key of a provider is set. A stand-in answers, and it can only say hello.",
}
