//go:build live

package main

import (
	"errors"
	"os"
	"testing"

	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// TestLive tries the model of the environment.
func TestLive(t *testing.T) {
	if _, _, err := fromenv.From(os.Getenv); errors.Is(err, fromenv.ErrNone) {
		t.Skip("there is no model; set OPENAI_API_KEY and OPENAI_MODEL, or those of another provider")
	}
	evaluate(t, os.Getenv, eval.Config{Trials: 5, Floor: .8})
}
