package scopetest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
)

// A Store has the texts of scopes.
type Store interface {
	Texts(scope recall.Scope) memory.Store
	Forget(ctx context.Context, scope recall.Scope) error
	recall.Store
	Erase(ctx context.Context, match func(text string) []string, with string) (int, []string, error)
}

// Open returns an empty store whose scopes hold textBytes, or the store's default if that is 0.
type Open func(t *testing.T, textBytes int64) Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, Open){
		"a scope reads no text of another":               apart,
		"a forgotten scope has its whole capacity again": forgotten,
		"an invalid scope is a permanent error":          invalid,
		"a text that is put again is the newest":         again,
		"erased words are in no entry and no text":       erased,
	} {
		t.Run(name, func(t *testing.T) { check(t, open) })
	}
}

func apart(t *testing.T, open Open) {
	s := open(t, 0)
	scopes := []recall.Scope{
		{Tenant: "t", Session: "s"}, {Tenant: "t", Session: "s1"}, {Tenant: "t", Session: "S"}, {Tenant: "t"},
		{Tenant: "ts"},
		{Tenant: "t", Session: "%"}, {Tenant: "%", Session: "s"}, {Tenant: "T", Session: "s"},
		{Tenant: "ts", Session: "s"},
	}
	for i, scope := range scopes {
		for k, other := range scopes {
			_, err := s.Texts(other).Get(t.Context(), "m-1")
			if k < i {
				require.NoError(t, err)
				continue
			}
			require.Equal(t, fault.NotFound, fault.Of(err), "%v reads what %v put", other, scope)
		}
		require.NoError(t, s.Texts(scope).Put(t.Context(), "m-1", scope.Tenant+"/"+scope.Session))
	}
	for _, scope := range scopes {
		text, err := s.Texts(scope).Get(t.Context(), "m-1")
		require.NoError(t, err)
		require.Equal(t, scope.Tenant+"/"+scope.Session, text)
	}

	gone := func(scope recall.Scope) bool {
		_, err := s.Texts(scope).Get(t.Context(), "m-1")
		return fault.Of(err) == fault.NotFound
	}
	require.NoError(t, s.Forget(t.Context(), scopes[0]))
	for _, scope := range scopes {
		require.Equal(t, scope == scopes[0], gone(scope), "%v", scope)
	}
	require.NoError(t, s.Forget(t.Context(), recall.Scope{Tenant: "t"}))
	for _, scope := range scopes {
		require.Equal(t, scope.Tenant == "t", gone(scope), "%v", scope)
	}
	require.NoError(t, s.Forget(t.Context(), recall.Scope{Tenant: "nobody"}))
}

func forgotten(t *testing.T, open Open) {
	s := open(t, 100)
	scope := recall.Scope{Tenant: "t", Session: "s"}
	texts := s.Texts(scope)
	for range 3 {
		for _, handle := range []string{"a", "b"} {
			require.NoError(t, texts.Put(t.Context(), handle, strings.Repeat("x", 49)))
		}
		for _, handle := range []string{"a", "b"} {
			_, err := texts.Get(t.Context(), handle)
			require.NoError(t, err)
		}
		require.NoError(t, s.Forget(t.Context(), scope))
	}
	require.Error(t, texts.Put(t.Context(), "a", strings.Repeat("x", 100)), "the handle counts")
}

func invalid(t *testing.T, open Open) {
	s := open(t, 0)
	for _, scope := range []recall.Scope{{}, {Session: "s"}, {Tenant: "a\x00b"}, {Tenant: "t", Session: "\xff"},
		{Tenant: strings.Repeat("t", 257)}} {
		_, err := s.Texts(scope).Get(t.Context(), "m-1")
		require.Equal(t, fault.Permanent, fault.Of(err), "%q", scope)
		require.Equal(t, fault.Permanent, fault.Of(s.Texts(scope).Put(t.Context(), "m-1", "x")), "%q", scope)
		require.Equal(t, fault.Permanent, fault.Of(s.Forget(t.Context(), scope)), "%q", scope)
	}
	for _, handle := range []string{"", "a\x00", "\xff", strings.Repeat("m", 257)} {
		require.Equal(t, fault.Permanent, fault.Of(s.Texts(recall.Scope{Tenant: "t"}).Put(t.Context(), handle, "x")),
			"%q", handle)
	}
}

func again(t *testing.T, open Open) {
	s := open(t, 300).Texts(recall.Scope{Tenant: "t", Session: "s"})
	put := func(handle string) { require.NoError(t, s.Put(t.Context(), handle, strings.Repeat("x", 90))) }
	for _, handle := range []string{"a", "b", "c", "a", "d", "e"} {
		put(handle)
	}
	for handle, there := range map[string]bool{"a": true, "b": false, "c": false, "d": true, "e": true} {
		_, err := s.Get(t.Context(), handle)
		require.Equal(t, there, err == nil, handle)
	}
}

func erased(t *testing.T, open Open) {
	s := open(t, 40)
	ctx := t.Context()
	id := recall.ID{Tenant: "t", Kind: "note", Key: "1"}
	version, err := s.Put(ctx, recall.Entry{ID: id, Value: []byte(`{"id":"Ann","text":"Ann\u0027s cat"}`)})
	require.NoError(t, err)
	other := recall.ID{Tenant: "other", Kind: "note", Key: "1"}
	_, err = s.Put(ctx, recall.Entry{ID: other, Value: []byte(`{ "text":"a cat" }`)})
	require.NoError(t, err)
	texts := s.Texts(recall.Scope{Tenant: "t", Session: "s"})
	require.NoError(t, texts.Put(ctx, "h-1", "Ann wrote this long text"))
	match := func(text string) (words []string) {
		if strings.Contains(text, "Ann") {
			words = append(words, "Ann")
		}
		return words
	}
	named := recall.ID{Tenant: "t", Kind: "fact", Key: "Ann.phone"}
	_, err = s.Put(ctx, recall.Entry{ID: named, Value: []byte(`{"text":"0"}`)})
	require.NoError(t, err)
	require.NoError(t, s.Texts(recall.Scope{Tenant: "t", Session: "of Ann"}).Put(ctx, "h-1", "x"))
	for _, want := range []int{2, 0} {
		n, names, err := s.Erase(ctx, match, "x")
		require.NoError(t, err)
		require.Equal(t, want, n)
		require.Equal(t, []string{`tenant "t", kind "fact", key "Ann.phone"`,
			`tenant "t", session "of Ann", handle "h-1"`}, names)
	}
	_, err = s.Put(ctx, recall.Entry{ID: id, Version: version, Value: []byte(`{"text":"Ann"}`)})
	require.ErrorAs(t, err, new(*recall.ConflictError), "who has read it before can't write the words back")
	e, err := s.Get(ctx, id)
	require.NoError(t, err)
	next, err := s.Put(ctx, recall.Entry{ID: recall.ID{Tenant: "t", Kind: "note", Key: "2"}, Value: []byte(`1`)})
	require.NoError(t, err)
	require.Greater(t, next, e.Version, "no version is used twice")
	require.Equal(t, `{"id":"x","text":"x's cat"}`, string(e.Value))
	e, err = s.Get(ctx, other)
	require.NoError(t, err)
	require.Equal(t, `{ "text":"a cat" }`, string(e.Value))
	text, err := texts.Get(ctx, "h-1")
	require.NoError(t, err)
	require.Equal(t, "x wrote this long text", text)
	require.NoError(t, texts.Put(ctx, "h-2", strings.Repeat("t", 12)), "the bytes are counted anew: 25 + 15 fit")
	_, err = texts.Get(ctx, "h-1")
	require.NoError(t, err)
	for _, with := range []string{"", "Annex"} {
		_, _, err = s.Erase(ctx, match, with)
		require.Equal(t, fault.Permanent, fault.Of(err), "%q", with)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, _, err = s.Erase(ctx, match, "x")
	require.ErrorIs(t, err, context.Canceled)
}
