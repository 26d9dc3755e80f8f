package secret_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/secret"
)

const key = `sk-"very+secret/<key>"&=é`

func TestAKnownSecretIsRemovedHoweverItIsEncoded(t *testing.T) {
	v := secret.NewValues(key, "short", "Bearer "+strings.Repeat("b", 20),
		"Basic "+base64.StdEncoding.EncodeToString([]byte("ann:long password")))
	inJSON, err := json.Marshal(map[string]string{"echo": key})
	require.NoError(t, err)
	for _, text := range []string{
		key, "before " + key + " after", "?key=" + url.QueryEscape(key), "/" + url.PathEscape(key), string(inJSON),
		base64.StdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)),
		strings.Repeat("b", 20), "Bearer " + strings.Repeat("b", 20), "long password", "ann:long password",
	} {
		clean := v.Text(text)
		require.Contains(t, clean, secret.Redacted, text)
		for _, part := range []string{"very", "secret/", "bbbbbbbb", "long pass", "c2stInZlcnk"} {
			require.NotContains(t, clean, part, text)
		}
	}
	require.Equal(t, "a short text", v.Text("a short text"))
	require.Equal(t, `{"echo":"`+secret.Redacted+`"}`, v.Text(string(inJSON)), "it is JSON still")
}

func TestNoValuesRemoveNothing(t *testing.T) {
	for _, v := range []*secret.Values{nil, secret.NewValues(), secret.NewValues("", "short")} {
		require.Equal(t, "any text", v.Text("any text"))
		err := errors.New("any error")
		require.Equal(t, err, v.Error(err))
		require.NoError(t, v.Error(nil))
	}
}

// An inner error has a secret that the error that wraps it doesn't show.
type inner struct{ err error }

func (i *inner) Error() string { return "failed" }
func (i *inner) Unwrap() error { return i.err }

func TestNoErrorContainsAKnownSecret(t *testing.T) {
	v := secret.NewValues(key)
	plain := &url.Error{Op: "Post", URL: "https://x", Err: context.DeadlineExceeded}
	require.Same(t, plain, v.Error(plain), "an error without a secret stays as it is")
	for _, err := range []error{
		fmt.Errorf("sent %s: %w", key, context.DeadlineExceeded),
		&inner{fmt.Errorf("sent %s: %w", key, context.DeadlineExceeded)},
		&inner{errors.Join(errors.New("other"), fmt.Errorf("%s: %w", key, context.DeadlineExceeded))},
		&url.Error{Op: "Post", URL: "https://x?key=" + url.QueryEscape(key), Err: context.DeadlineExceeded},
	} {
		clean := v.Error(err)
		require.ErrorIs(t, clean, context.DeadlineExceeded)
		require.Nil(t, errors.Unwrap(clean))
		var timeout interface{ Timeout() bool }
		require.ErrorAs(t, clean, &timeout)
		require.True(t, timeout.Timeout())
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
			require.NotContains(t, fmt.Sprintf(verb, clean), "very", verb)
		}
	}
}

func TestValuesCannotBePrinted(t *testing.T) {
	v := secret.NewValues(key)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, arg := range []any{v, struct{ V *secret.Values }{v}, struct{ v *secret.Values }{v}} {
			text := fmt.Sprintf(verb, arg)
			require.NotContains(t, text, "secret/", verb)
			require.NotContains(t, text, fmt.Sprintf("%x", "secret"), verb)
		}
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, `"`+secret.Redacted+`"`, string(text))
}
