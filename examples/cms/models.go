package main

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// chooseModel returns the model that the environment names, and its name for the screen; choice is
// what the variable PAWL_MODEL is otherwise. Without one it is the built-in stand-in.
func chooseModel(choice string) (provider.Provider, string, error) {
	m, label, err := fromenv.From(fromenv.With(choice))
	switch {
	case errors.Is(err, fromenv.ErrNone):
		return model.New(), model.Label, nil
	case err != nil && choice != "":
		return nil, "", fmt.Errorf("-model %s: %w", choice, err)
	}
	return m, label, err
}
