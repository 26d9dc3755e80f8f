package fromenv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// priceFile returns the name of a file with this text.
func priceFile(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// pricesOf returns the prices of a provider's model; nil if they aren't known.
func pricesOf(t *testing.T, v vars, model string) *provider.Prices {
	t.Helper()
	p, _, err := fromenv.From(v.get)
	require.NoError(t, err)
	info, _ := provider.InfoOf(p, model)
	return info.Prices
}

var gateway = vars{"OPENAI_BASE_URL": "https://llm.example.com/v1", "OPENAI_MODEL": "gpt-5-mini"}

func TestAGatewayHasThePricesOfTheFileAlone(t *testing.T) {
	require.Nil(t, pricesOf(t, gateway, ""), "a gateway's price isn't the maker's")
	file := priceFile(t, `{"gpt-5-mini": {"input": 0.3, "output": 2.5}, "house": {"input": 0, "output": 0},
		"gemini-3.5-flash": {"input": 0, "output": 1}}`)
	priced := gateway.with("PAWL_PRICES", file)
	for _, model := range []string{"", "gpt-5-mini"} {
		require.Equal(t, &provider.Prices{Input: 300_000, Output: 2_500_000, CacheRead: 300_000, CacheWrite: 300_000},
			pricesOf(t, priced, model))
	}
	require.Equal(t, &provider.Prices{}, pricesOf(t, priced, "house"))
	require.Nil(t, pricesOf(t, priced, "another"))

	own := vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-5-mini"}
	require.EqualValues(t, 250_000, pricesOf(t, own, "").Input, "built in")
	own = own.with("PAWL_PRICES", file)
	require.EqualValues(t, 300_000, pricesOf(t, own, "").Input, "the file replaces it")
	require.EqualValues(t, 400_000, pricesOf(t, own, "gpt-4.1-mini").Input, "and leaves the others")

	chain := priced.with("GEMINI_API_KEY", "k", "GEMINI_MODEL", "gemini-3.5-flash")
	require.EqualValues(t, 300_000, pricesOf(t, chain, "").Input)
	choices, err := fromenv.Choices(chain.get)
	require.NoError(t, err)
	info, ok := provider.Info(choices[1].Provider)
	require.True(t, ok)
	require.Equal(t, provider.USD, info.Prices.Output)
	require.NotZero(t, info.Window, "all else is as before")

	p, _, err := fromenv.ImagesFrom(own.with("OPENAI_IMAGE_MODEL", "gpt-image-1", "PAWL_PRICES",
		priceFile(t, `{"gpt-image-1": {"input": 1, "output": 2}}`)).get)
	require.NoError(t, err)
	info, _ = provider.InfoOf(p, "")
	require.Equal(t, 2*provider.USD, info.Prices.Output)
}

func TestAServerInOnesOwnNetworkIsFreeOfCharge(t *testing.T) {
	for _, host := range []string{"", "localhost:11434", "10.0.0.7", "box"} {
		v := vars{"OLLAMA_MODEL": "qwen3", "OLLAMA_HOST": host}
		require.NotNil(t, pricesOf(t, v, ""), host)
		require.Equal(t, provider.Money(0), pricesOf(t, v, "another").Cost(provider.Usage{Input: 1000, Output: 1000}))
	}
	require.NotNil(t, pricesOf(t, vars{"LMSTUDIO_MODEL": "m"}, ""))
	require.Nil(t, pricesOf(t, vars{"OLLAMA_MODEL": "qwen3", "OLLAMA_HOST": "https://ollama.com"}, ""), "it bills")
	require.Nil(t, pricesOf(t, vars{"OPENAI_BASE_URL": "http://localhost:4000/v1", "OPENAI_MODEL": "m"}, ""),
		"it may be a gateway")
}

func TestAFileOfPricesThatIsntCleanIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"none":     {filepath.Join(t.TempDir(), "no.json"), "no such file"},
		"a folder": {t.TempDir(), "is a directory"},
		"no JSON":  {priceFile(t, `gpt-5-mini: 3`), "invalid character"},
		"empty":    {priceFile(t, ``), "EOF"},
		"unknown member": {priceFile(t, `{"m": {"input": 1, "output": 2, "cached": 3}}`),
			`prices of "m": json: unknown field "cached"`},
		"negative":        {priceFile(t, `{"m": {"input": -1, "output": 2}}`), `prices of "m": input is -1`},
		"a price missing": {priceFile(t, `{"m": {"input": 1}}`), `prices of "m": output is missing`},
		"too large": {priceFile(t, `{"m": {"input": 1, "output": 2}}`+strings.Repeat(" ", 1<<20)),
			"more than 1048576 bytes"},
	} {
		for _, from := range []func(func(string) string) (provider.Provider, string, error){
			fromenv.From, fromenv.ImagesFrom} {
			p, _, err := from(gateway.with("PAWL_PRICES", c.file, "OPENAI_IMAGE_MODEL", "m").get)
			require.Nil(t, p, name)
			require.ErrorContains(t, err, "fromenv: PAWL_PRICES is ", name)
			require.ErrorContains(t, err, c.want, name)
			require.NotErrorIs(t, err, fromenv.ErrNone)
			require.Equal(t, fault.UserFixable, fault.Of(err))
		}
	}
	_, _, err := fromenv.From(vars{"PAWL_MODEL": "standin", "PAWL_PRICES": "no.json"}.get)
	require.ErrorIs(t, err, fromenv.ErrNone)
}
