package fromenv

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
)

// Variable is the variable that chooses providers by name, or none of them.
const Variable = "PAWL_MODEL"

// firstChunk and leaveAfter are the variables of a chain's times: see the package comment.
const (
	firstChunk = "PAWL_FIRST_CHUNK"
	leaveAfter = "PAWL_LEAVE_AFTER"
)

// pricesFile is the variable that names a file with prices of models.
const pricesFile = "PAWL_PRICES"

// mostPrices is how many bytes that file may have.
const mostPrices = 1 << 20

// StandIn is the value of [Variable] that chooses no provider.
const StandIn = "standin"

// ErrNone is the error if the environment names no provider, or PAWL_MODEL=standin chooses none. A
// model without its key names none: the error says so beside ErrNone. A program that has a stand-in
// for a model uses it then, and says so.
var ErrNone error = fault.NewFixable("fromenv: the environment chooses no model provider",
	"set a key and a model, such as ANTHROPIC_API_KEY and ANTHROPIC_MODEL, and leave "+Variable+" empty; "+
		"docs/providers.md has all names", nil)

// A Choice is a provider that the environment names, with its model.
type Choice struct {
	Name     string // as in [Variable], such as openai or groq
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
	return chain(env(getenv), choices)
}

// Images returns the provider for requests with [provider.Request].Images that the environment
// names, and one line that says which one. Errors are as those of [Provider].
func Images() (provider.Provider, string, error) { return ImagesFrom(os.Getenv) }

// ImagesFrom is [Images] with another environment.
func ImagesFrom(getenv func(string) string) (provider.Provider, string, error) {
	e := env(getenv)
	if standsIn(e.get(Variable)) {
		return nil, "", ErrNone
	}
	var choices []Choice
	for i := range byKey {
		k := &byKey[i]
		model := e.get(k.images)
		if model == "" {
			continue
		}
		c, err := k.choose(e, model, k.images)
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
	return chain(e, choices)
}

// Choices returns the providers that the environment names, in order, for a host that makes its own
// chain of them. There is at least one if there is no error. Errors are as those of [Provider].
func Choices(getenv func(string) string) ([]Choice, error) {
	e := env(getenv)
	switch value := e.get(Variable); {
	case value == "":
		return chosenByKeys(e)
	case standsIn(value):
		return nil, ErrNone
	default:
		return chosenByName(e, value)
	}
}

// standsIn reports whether a value of [Variable] chooses no provider, with an empty model or none.
func standsIn(value string) bool { return strings.TrimSuffix(value, "/") == StandIn }

// chosenByName returns the providers that the value of [Variable] lists.
func chosenByName(e env, value string) (choices []Choice, err error) {
	for entry := range strings.SplitSeq(value, ",") {
		name, model, _ := strings.Cut(strings.TrimSpace(entry), "/")
		k := named(name)
		if k == nil {
			return nil, fault.NewFixable(fmt.Sprintf("fromenv: %s is %q", Variable, value),
				fmt.Sprintf("set it to %s, or to one or more of %s, each with or without a model, such as %s/%s,openai",
					StandIn, strings.Join(names(), ", "), byKey[0].name, byKey[0].example), nil)
		}
		c, err := k.choose(e, cmp.Or(model, e.get(k.model)), Variable)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	return choices, nil
}

// chosenByKeys returns the providers whose keys or addresses are set, else the further server whose
// model is set, with its key if it needs one.
func chosenByKeys(e env) (choices []Choice, err error) {
	var lonely error // of a model without a key
	for i := range byKey {
		k := &byKey[i]
		model, by := e.get(k.model), k.setBy(e)
		if by == "" {
			if model != "" && lonely == nil {
				lonely = k.lacks(k.model, k.missing(e))
			}
			continue
		}
		c, err := k.choose(e, model, by)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	if len(choices) > 0 {
		return choices, nil
	}
	var one *kind
	for i := range further {
		k := &further[i]
		if e.get(k.model) == "" {
			continue
		}
		switch missing := k.missing(e); {
		case len(missing) > 0:
			if lonely == nil {
				lonely = k.lacks(k.model, missing)
			}
		case one == nil:
			one = k
		default:
			return nil, fault.NewFixable(fmt.Sprintf("fromenv: %s and %s are both set", one.model, k.model),
				fmt.Sprintf("set %s=%s to use that one, or %[1]s=%[2]s,%[3]s to use the second if the first one fails",
					Variable, one.name, k.name), nil)
		}
	}
	if one != nil {
		c, err := one.choose(e, e.get(one.model), one.model)
		return []Choice{c}, err
	}
	if lonely != nil {
		return nil, errors.Join(ErrNone, lonely)
	}
	return nil, ErrNone
}

// chain returns a provider that asks these in order, and the line that says which ones.
func chain(e env, choices []Choice) (provider.Provider, string, error) {
	first, err := e.time(firstChunk)
	if err != nil {
		return nil, "", err
	}
	leave, err := e.time(leaveAfter)
	if err != nil {
		return nil, "", err
	}
	if len(choices) == 1 && first == 0 {
		return choices[0].Provider, choices[0].String(), nil
	}
	lines := make([]string, len(choices))
	guarded := make([]provider.Provider, len(choices))
	for i, c := range choices {
		lines[i] = c.String()
		g, err := guard.New(c.Provider, guard.Config{
			Name:       c.Name,
			FirstChunk: first,
			Gate:       ratelimit.NewGate(ratelimit.GateConfig{Name: c.Name, Slots: math.MaxInt}),
			Breaker:    circuit.New(c.Name, circuit.LLM()),
		})
		if err != nil {
			return nil, "", err
		}
		guarded[i] = g
	}
	if len(guarded) == 1 {
		return guarded[0], lines[0], nil
	}
	p, err := guard.NewChain(guard.ChainConfig{Name: "environment", LeaveAfter: leave}, guarded...)
	if err != nil {
		return nil, "", err
	}
	return p, strings.Join(lines, ", then "), nil
}

// time returns the duration in a variable; 0 if it isn't set.
func (e env) time(name string) (time.Duration, error) {
	value := e.get(name)
	if value == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > 24*time.Hour {
		return 0, fault.NewFixable(fmt.Sprintf("%s is %.40q, which isn't a time", name, value),
			"set it to one such as 90s or 3m, of at most 24h, or leave it empty", nil)
	}
	return d, nil
}

// prices returns the prices of the file that a variable names; nil if it isn't set.
func (e env) prices() (map[string]provider.Prices, error) {
	name := e.get(pricesFile)
	if name == "" {
		return nil, nil
	}
	text, err := readPrices(name)
	if err == nil {
		var prices map[string]provider.Prices
		if prices, err = provider.ParsePrices(text); err == nil {
			return prices, nil
		}
	}
	return nil, fault.NewFixable(fmt.Sprintf("fromenv: %s is %.200q: %v", pricesFile, name, err),
		`name a file with the prices of models in dollars for a million tokens, such as `+
			`{"gpt-5-mini": {"input": 0.25, "output": 2}}, or leave it empty`, err)
}

func readPrices(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostPrices+1))
	if err == nil && len(text) > mostPrices {
		err = fmt.Errorf("it has more than %d bytes", mostPrices)
	}
	return text, err
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
