package fromenv_test

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/provider/fromenv"
)

func Example() {
	getenv := func(name string) string { // os.Getenv in a program: fromenv.Provider
		return map[string]string{"ANTHROPIC_API_KEY": "…", "ANTHROPIC_MODEL": "claude-sonnet-5-5",
			"OPENAI_API_KEY": "…", "OPENAI_MODEL": "gpt-6.1-sol"}[name]
	}
	_, about, err := fromenv.From(getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(about)

	_, _, err = fromenv.From(func(string) string { return "" })
	fmt.Println(errors.Is(err, fromenv.ErrNone))
	// Output:
	// anthropic claude-sonnet-5-5, then openai gpt-6.1-sol
	// true
}
