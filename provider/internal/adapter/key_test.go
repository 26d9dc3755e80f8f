package adapter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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
		cred := Asked("acme", func(context.Context) (string, error) { return c.key, c.err })
		_, err := cred.Get(t.Context())
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
	cred := Asked("acme", func(context.Context) (string, error) { return " key\n", nil })
	key, err := cred.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, "key", key)
}

func TestWithoutAKeyTheErrorHasTheRemedy(t *testing.T) {
	err := NoKey("acme", "set ACME_API_KEY")
	require.Equal(t, fault.UserFixable, fault.Of(err))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, provider.Error{Class: fault.UserFixable, Provider: "acme", Message: "no API key", Remedy: "set ACME_API_KEY"}, *e)
}

// numbered returns a credential with another key for each call.
func numbered() *Credential {
	n := 0
	c := Asked("acme", func(context.Context) (string, error) { n++; return "key-" + strconv.Itoa(n), nil })
	return &c
}

func unauthorized(e *provider.Error) bool { return e.Status == http.StatusUnauthorized }

func TestARejectedKeyIsRequestedOnceMore(t *testing.T) {
	same := Asked("acme", func(context.Context) (string, error) { return "same", nil })
	fixed, none := Fixed("key"), Fixed("")
	for _, c := range []struct {
		name string
		cred *Credential
		good string // the accepted key
		want []string
		last string
	}{
		{"taken at once", numbered(), "key-1", []string{"key-1"}, "key-1"},
		{"taken the second time", numbered(), "key-2", []string{"key-1", "key-2"}, "key-2"},
		{"never taken", numbered(), "key-3", []string{"key-1", "key-2"}, "key-2"},
		{"the same again", &same, "other", []string{"same"}, "same"},
		{"nobody to ask", &fixed, "other", []string{"key"}, "key"},
		{"no key", &none, "", []string{""}, ""},
	} {
		var sent []string
		res, key, err := c.cred.Send(t.Context(), "acme", unauthorized, func(key string) (*http.Response, error) {
			if sent = append(sent, key); key != c.good {
				return nil, fmt.Errorf("wrapped: %w", &provider.Error{Status: http.StatusUnauthorized})
			}
			return &http.Response{}, nil
		})
		require.Equal(t, c.want, sent, c.name)
		require.Equal(t, c.last, key, c.name)
		require.Equal(t, key == c.good, err == nil, c.name)
		require.Equal(t, key == c.good, res != nil, c.name)
	}
}

func TestAnErrorThatIsNotAboutTheKeyIsNotTriedAgain(t *testing.T) {
	for _, failed := range []error{&provider.Error{Status: http.StatusForbidden}, errors.New("down")} {
		sent := 0
		_, _, err := numbered().Send(t.Context(), "acme", unauthorized, func(string) (*http.Response, error) { sent++; return nil, failed })
		require.Equal(t, failed, err)
		require.Equal(t, 1, sent)
	}
}

func TestAnErrorOfTheSecondKeyRequestIsReturned(t *testing.T) {
	gone, asked := errors.New("gone"), 0
	cred := Asked("acme", func(context.Context) (string, error) {
		if asked++; asked > 1 {
			return "", gone
		}
		return "key", nil
	})
	_, _, err := cred.Send(t.Context(), "acme", unauthorized, func(string) (*http.Response, error) {
		return nil, &provider.Error{Status: http.StatusUnauthorized}
	})
	require.ErrorIs(t, err, gone)
	sent := false
	_, _, err = cred.Send(t.Context(), "acme", unauthorized, func(string) (*http.Response, error) { sent = true; return nil, nil })
	require.ErrorIs(t, err, gone)
	require.False(t, sent)
}

func TestAModelThatNewDidNotMakeIsAnError(t *testing.T) {
	_, _, err := new(Credential).Send(t.Context(), "acme", unauthorized, func(string) (*http.Response, error) { return &http.Response{}, nil })
	require.EqualError(t, err, "acme: the Model is empty; make it with New")
}

func TestNoVerbPrintsACredential(t *testing.T) {
	cred := Fixed("very-secret")
	cred.Hide = Hiding(http.Header{"Authorization": {"Bearer very-secret"}})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		text := fmt.Sprintf(verb, struct{ c Credential }{cred})
		require.NotContains(t, text, "secret", verb)
		require.NotContains(t, text, fmt.Sprintf("%x", "secret"), verb)
	}
}
