package fromenv

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
)

// Variable is the variable that chooses among the providers of the environment, or none of them.
const Variable = "PAWL_MODEL"

// StandIn is the value of [Variable] that chooses no provider.
const StandIn = "standin"

// ErrNone is the error if the environment names no provider, or PAWL_MODEL=standin chooses none. A
// program that has a stand-in for a model uses it then, and says so.
var ErrNone error = fault.NewFixable("fromenv: the environment chooses no model provider",
	"set a key and a model, such as ANTHROPIC_API_KEY and ANTHROPIC_MODEL, and leave "+Variable+" empty", nil)

// A Choice is a provider that the environment names, with its model.
type Choice struct {
	Name     string // anthropic, openai, gemini, openrouter or ollama
	Model    string
	At       string // the host of its address; "" if that is the provider's own
	Provider provider.Provider
}

// String returns the name and the model, and the host if it isn't the provider's own.
func (c Choice) String() string {
	if c.At != "" {
		return c.Name + " " + c.Model + " at " + c.At
	}
	return c.Name + " " + c.Model
}

// Provider returns the provider that the environment names, and one line that says which one: see
// the package comment. Errors are [ErrNone] and those of incomplete or invalid settings, which say
// which variable to set. It makes no call.
func Provider() (provider.Provider, string, error) { return From(os.Getenv) }

// From is [Provider] with another environment: getenv returns the value of a variable, "" if it
// isn't set.
func From(getenv func(string) string) (provider.Provider, string, error) {
	choices, err := Choices(getenv)
	if err != nil {
		return nil, "", err
	}
	return chain(choices)
}

// Images returns the provider for requests with [provider.Request].Images that the environment
// names, and one line that says which one. Errors are as those of [Provider].
func Images() (provider.Provider, string, error) { return ImagesFrom(os.Getenv) }

// ImagesFrom is [Images] with another environment.
func ImagesFrom(getenv func(string) string) (provider.Provider, string, error) {
	e := env(getenv)
	if e.get(Variable) == StandIn {
		return nil, "", ErrNone
	}
	var choices []Choice
	for i := range known {
		k := &known[i]
		model := e.get(k.images)
		if model == "" {
			continue
		}
		if !k.chosen(e) {
			return nil, "", k.lacksKey(k.images)
		}
		c, err := k.open(e, model)
		if err != nil {
			return nil, "", err
		}
		// The adapters choose a model for images of their own if the request names none.
		if c.Provider, err = provider.NewRouter(map[string]provider.Route{
			provider.AliasDefault: {Provider: c.Provider, Model: model}}); err != nil {
			return nil, "", err
		}
		choices = append(choices, c)
	}
	if len(choices) == 0 {
		return nil, "", ErrNone
	}
	return chain(choices)
}

// Choices returns the providers that the environment names, in order, for a host that makes its own
// chain of them. There is at least one if there is no error. Errors are as those of [Provider].
func Choices(getenv func(string) string) ([]Choice, error) {
	e := env(getenv)
	wanted, wantedModel, _ := strings.Cut(e.get(Variable), "/")
	if wanted == StandIn && wantedModel == "" {
		return nil, ErrNone
	}
	var choices []Choice
	var names []string
	var lonely error // of a model without a key
	for i := range known {
		k := &known[i]
		names = append(names, k.name)
		if wanted != "" && wanted != k.name {
			continue
		}
		model := e.get(k.model)
		if wantedModel != "" {
			model = wantedModel
		}
		switch {
		case !k.chosen(e) && wanted == k.name && (k.keyless == "" || model == ""):
			return nil, k.lacksKey(Variable)
		case !k.chosen(e) && wanted != k.name:
			if model != "" && lonely == nil {
				lonely = k.lacksKey(k.model)
			}
			continue
		case model == "":
			return nil, fault.NewFixable(fmt.Sprintf("fromenv: %s is set, and %s isn't", k.setBy(e), k.model),
				fmt.Sprintf("set %s to a model, such as %s; or %s=%s to use no provider", k.model, k.example, Variable,
					StandIn), nil)
		}
		c, err := k.open(e, model)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	switch {
	case len(choices) > 0:
		return choices, nil
	case wanted != "":
		return nil, fault.NewFixable(fmt.Sprintf("fromenv: %s is %q", Variable, e.get(Variable)),
			fmt.Sprintf("set it to %s, to one of %s, or to one of these with a model, such as %s/%s", StandIn,
				strings.Join(names, ", "), known[0].name, known[0].example), nil)
	case lonely != nil:
		return nil, errors.Join(ErrNone, lonely)
	}
	return nil, ErrNone
}

// chain returns a provider that asks these in order, and the line that says which ones.
func chain(choices []Choice) (provider.Provider, string, error) {
	if len(choices) == 1 {
		return choices[0].Provider, choices[0].String(), nil
	}
	lines := make([]string, len(choices))
	guarded := make([]provider.Provider, len(choices))
	for i, c := range choices {
		lines[i] = c.String()
		g, err := guard.New(c.Provider, guard.Config{
			Name:    c.Name,
			Gate:    ratelimit.NewGate(ratelimit.GateConfig{Name: c.Name, Slots: math.MaxInt}),
			Breaker: circuit.New(c.Name, circuit.LLM()),
		})
		if err != nil {
			return nil, "", err
		}
		guarded[i] = g
	}
	p, err := guard.NewChain(guard.ChainConfig{Name: "environment"}, guarded...)
	if err != nil {
		return nil, "", err
	}
	return p, strings.Join(lines, ", then "), nil
}

// With returns the process's environment in which [Variable] has this value, unless it is empty:
// for the flag of a program that chooses the model.
func With(value string) func(name string) string {
	return func(name string) string {
		if name == Variable && value != "" {
			return value
		}
		return os.Getenv(name)
	}
}
