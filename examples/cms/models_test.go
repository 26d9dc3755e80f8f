package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// All tests use the stand-in, even if a developer has keys.
func init() { os.Setenv(fromenv.Variable, fromenv.StandIn) }

func TestTheEnvironmentNamesTheModel(t *testing.T) {
	m, label, err := chooseModel("")
	require.NoError(t, err)
	require.IsType(t, &model.Model{}, m)
	require.Equal(t, model.Label, label)

	t.Setenv("OPENAI_API_KEY", "k-1")
	t.Setenv("OPENAI_MODEL", "gpt-5")
	t.Setenv("OPENAI_BASE_URL", "")
	_, label, err = chooseModel("openai")
	require.NoError(t, err)
	require.Equal(t, "openai gpt-5", label)
	m, _, err = chooseModel("standin")
	require.NoError(t, err)
	require.IsType(t, &model.Model{}, m)

	t.Setenv("OPENAI_MODEL", "")
	_, _, err = chooseModel("openai")
	require.ErrorContains(t, err, "set OPENAI_MODEL")
	_, _, err = chooseModel("llama")
	require.ErrorContains(t, err, "-model llama: ")
	require.ErrorContains(t, err, "standin")
}
