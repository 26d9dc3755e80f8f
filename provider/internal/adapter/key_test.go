package adapter

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func TestAMissingKeyIsUserFixable(t *testing.T) {
	locked := errors.New("the vault is locked")
	for _, c := range []struct {
		key  string
		err  error
		want fault.Class
		text string
	}{
		{err: locked, want: fault.UserFixable, text: "no API key: the vault is locked"},
		{key: " \n", want: fault.UserFixable, text: "no API key: the function in Config.Key returned an empty key"},
		{err: fault.Wrap(fault.Transient, locked), want: fault.Transient, text: "no API key: the vault is locked"},
		{err: context.Canceled, want: fault.None, text: "no API key: context canceled"},
	} {
		key := Asked("acme", true, ReturnKey, func(context.Context) (string, error) { return c.key, c.err })
		_, err := key(t.Context())
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "acme", e.Provider)
		require.Equal(t, c.want, fault.Of(err))
		require.Equal(t, c.text, e.Message)
		require.Equal(t, c.want == fault.UserFixable, e.Remedy == "make the function in Config.Key return a key")
		if c.err != nil {
			require.ErrorIs(t, err, c.err)
		}
	}
	key := Asked("acme", true, ReturnKey, func(context.Context) (string, error) { return " key\n", nil })
	got, err := key(t.Context())
	require.NoError(t, err)
	require.Equal(t, "key", got)
}

func TestWithoutAKeyTheErrorHasTheRemedy(t *testing.T) {
	_, _, err := KeyConfig{Name: "acme", Remedy: "set ACME_API_KEY", Trusted: true}.Find()
	require.Equal(t, fault.UserFixable, fault.Of(err))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, provider.Error{Class: fault.UserFixable, Provider: "acme", Message: "no API key",
		Remedy: "set ACME_API_KEY"}, *e)
}

// numbered returns a credential with another key for each call.

func TestAPageIsShortened(t *testing.T) {
	require.Equal(t, "<html> Bad gateway </html>", Brief(" <html>\n\tBad gateway\r\n</html>\n"))
	require.Equal(t, "a\uFFFDb", Brief("a\xff\xfeb"))
	require.Equal(t, strings.Repeat("x", 300), Brief(strings.Repeat("x", 300)))
	require.Equal(t, strings.Repeat("x", 300)+"…", Brief(strings.Repeat("x", 301)))
	for n := range 4 { // the cut would be within a character
		text := Brief(strings.Repeat("x", 297+n) + strings.Repeat("𝄞", 20))
		require.True(t, strings.HasPrefix(text, strings.Repeat("x", 297+n)))
		require.LessOrEqual(t, len(strings.TrimSuffix(text, "…")), 300)
		require.Equal(t, strings.ToValidUTF8(text, ""), text)
		require.NotContains(t, text, "\uFFFD")
	}
}
