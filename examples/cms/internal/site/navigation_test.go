package site

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMenuIsATreeOfItems(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	n, err := s.PutNavigation(ctx, Navigation{Name: "main"})
	require.NoError(t, err)
	n, err = s.PutNavItem(ctx, n.ID, NavItem{Value: "Home", TargetType: "page", TargetUUID: "pg_home"})
	require.NoError(t, err)
	home := n.Items[0]
	n, err = s.PutNavItem(ctx, n.ID,
		NavItem{Value: "Blog", ParentID: home.ID, TargetType: "entry", TargetUUID: "ent_hello"})
	require.NoError(t, err)
	blog := n.Items[0].Items[0]
	require.Equal(t, home.ID, blog.ParentID)

	tree, err := s.Tree(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t,
		[]MenuItem{{Text: "Home", Href: "/", Current: true,
			Items: []MenuItem{{Text: "Blog", Href: "/blog/hello-world"}}}}, tree.Menu)

	for says, item := range map[string]NavItem{
		"below the item itself": {ID: home.ID, Value: "Home", ParentID: blog.ID, TargetType: "placeholder"},
		"doesn't exist":         {Value: "X", ParentID: "itm_none", TargetType: "placeholder"},
		"isn't allowed":         {Value: "X", TargetType: "url", URL: "javascript:alert(1)"},
		"there is no page":      {Value: "X", TargetType: "page", TargetUUID: "nowhere"},
		"targetType":            {Value: "X", TargetType: "site"},
		"is empty":              {TargetType: "placeholder"},
		"no item":               {ID: "itm_none", Value: "X", TargetType: "placeholder"},
	} {
		_, err := s.PutNavItem(ctx, n.ID, item)
		require.ErrorContains(t, err, says)
	}

	n, err = s.PutNavItem(ctx, "main", NavItem{Value: "Start", TargetType: "page", TargetUUID: "home"})
	require.NoError(t, err, "a menu has a name, and a target a slug")
	require.Equal(t, "pg_home", n.Items[len(n.Items)-1].TargetUUID)
	require.Len(t, n.Before, len(n.Items)-1)

	n, err = s.SyncNavItems(ctx, n.ID, []NavItem{{Value: "New", TargetType: "url", URL: "/about"},
		{ID: blog.ID, Value: "Blog", TargetType: "placeholder", Items: []NavItem{home}}})
	require.NoError(t, err)
	require.Equal(t, "New", n.Items[0].Value)
	require.Equal(t, home.ID, n.Items[1].Items[0].ID, "items keep their ids")
	_, err = s.SyncNavItems(ctx, n.ID, []NavItem{{ID: blog.ID, Value: "A", TargetType: "placeholder"},
		{ID: blog.ID, Value: "B", TargetType: "placeholder"}})
	refused(t, err, CodeInvalid, "used twice")
	other, err := s.PutNavigation(ctx, Navigation{Name: "other"})
	require.NoError(t, err)
	_, err = s.SyncNavItems(ctx, other.ID, []NavItem{{ID: blog.ID, Value: "A", TargetType: "placeholder"}})
	refused(t, err, CodeConflict, "another navigation")
	deep := []NavItem{{Value: "x", TargetType: "placeholder"}}
	for range maxItemDepth {
		deep = []NavItem{{Value: "x", TargetType: "placeholder", Items: deep}}
	}
	_, err = s.SyncNavItems(ctx, other.ID, deep)
	refused(t, err, CodeInvalid, "5 levels")

	n, err = s.DeleteNavItem(ctx, n.ID, blog.ID)
	require.NoError(t, err)
	require.Len(t, n.Items, 1, "with what is below it")
	_, err = s.DeleteNavigation(ctx, n.ID)
	require.NoError(t, err)
	_, err = s.DeleteNavigation(ctx, n.ID)
	refused(t, err, CodeNotFound)
	all, err := s.ListNavigations(ctx)
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = s.PutNavigation(ctx, Navigation{ID: "nav_none", Name: "X"})
	refused(t, err, CodeNotFound)
}

func TestLocalesAreAddedChangedAndRemoved(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	l, err := s.CreateLocale(ctx, Locale{Code: "pt-BR", Name: "Português"})
	require.NoError(t, err)
	require.Equal(t, Inactive, l.Status)
	_, err = s.CreateLocale(ctx, l)
	refused(t, err, CodeConflict, "exists already")
	l, err = s.UpdateLocale(ctx, Locale{Code: "pt-BR", Status: Active})
	require.NoError(t, err)
	require.Equal(t, Locale{"pt-BR", "Português", Active}, l)
	_, err = s.SyncContents(ctx, SyncContents{Page: "home", Locale: "pt-BR", Content: map[string]any{"title": "Olá"}})
	require.NoError(t, err)
	_, err = s.DeleteLocale(ctx, "pt-BR")
	refused(t, err, CodeConflict, "the contents of 1 sections")
	_, err = s.DeleteLocale(ctx, "en")
	refused(t, err, CodeConflict, "default locale")
	_, err = s.UpdateLocale(ctx, Locale{Code: "en", Status: Inactive})
	refused(t, err, CodeConflict, "default locale")
	_, err = s.DeleteLocale(ctx, "de")
	require.NoError(t, err)
	for _, bad := range []Locale{{Code: "english", Name: "E"}, {Code: "fr"}, {Code: "fr", Name: "F", Status: "on"}} {
		_, err = s.CreateLocale(ctx, bad)
		refused(t, err, CodeInvalid)
	}
	list, err := s.ListLocales(ctx)
	require.NoError(t, err)
	require.Len(t, list, 2)
}
