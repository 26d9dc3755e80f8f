package site

import (
	"cmp"
	"context"
	"slices"
)

const (
	maxItemDepth = 5   // levels of a menu
	maxMenuItems = 500 // of one navigation
)

// targetTypes are the targets of a navigation item.
var targetTypes = []string{"page", "medium", "entry", "url", "placeholder"}

// A Navigation is a menu.
type Navigation struct {
	ID          string    `json:"id"` // nav_…
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Items       []NavItem `json:"items"`            // in order, with the items below them
	Before      []NavItem `json:"before,omitempty"` // the items before they were changed
}

// A NavItem is an item of a menu.
type NavItem struct {
	ID         string    `json:"id,omitempty"` // itm_…
	ParentID   string    `json:"parentId,omitempty"`
	Value      string    `json:"value"`                // its text
	TargetType string    `json:"targetType"`           // page, medium, entry, url or placeholder
	TargetUUID string    `json:"targetUuid,omitempty"` // id of the page, the medium or the entry
	URL        string    `json:"url,omitempty"`        // if TargetType is url
	SortOrder  int       `json:"sortOrder"`            // among the items with the same parent
	Items      []NavItem `json:"items,omitempty"`      // the items below it
}

// ListNavigations returns all menus by name.
func (s *Site) ListNavigations(ctx context.Context) ([]*Navigation, error) {
	return view(ctx, s, "listing navigations", func(tx *txn) ([]*Navigation, error) {
		list := []*Navigation{}
		for _, id := range collect(tx, one[string], "SELECT id FROM navigations ORDER BY name, id") {
			n, err := findNavigation(tx, id)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
		return list, nil
	})
}

// PutNavigation creates a menu, or changes the name and the description of the one with the id.
// Items aren't written.
func (s *Site) PutNavigation(ctx context.Context, n Navigation) (*Navigation, error) {
	return commit(ctx, s, "writing a navigation", func(tx *txn) (*Navigation, error) {
		if err := checkNames("navigation", n.Name, n.Description); err != nil {
			return nil, err
		}
		if n.ID == "" {
			n.ID = newID(navigationID)
			tx.insert("navigations", record{"id": n.ID, "site_id": siteID, "environment_id": environmentID, "name": ""})
		}
		tx.update("navigations", n.ID, record{"name": n.Name, "description": n.Description})
		return findNavigation(tx, n.ID)
	})
}

// DeleteNavigation removes a menu with its items, and returns it.
func (s *Site) DeleteNavigation(ctx context.Context, id string) (*Navigation, error) {
	return commit(ctx, s, "deleting a navigation", func(tx *txn) (*Navigation, error) {
		n, err := findNavigation(tx, id)
		if err == nil {
			tx.exec("DELETE FROM navigations WHERE id = ?", n.ID) // items cascade
		}
		return n, err
	})
}

// PutNavItem adds an item to a menu, or replaces the one with the id, and returns the menu. The
// items below a replaced one stay there.
func (s *Site) PutNavItem(ctx context.Context, navigation string, item NavItem) (*Navigation, error) {
	return s.changeItems(ctx, navigation, func(items []NavItem) ([]NavItem, error) {
		flat := flatten(items, "")
		if item.ID == "" {
			item.ID = newID(itemID)
			return nest(append(flat, item))
		}
		i, err := indexOf(flat, item.ID)
		if err != nil {
			return nil, err
		}
		flat[i] = item
		return nest(flat)
	})
}

// DeleteNavItem removes an item with those below it, and returns the menu.
func (s *Site) DeleteNavItem(ctx context.Context, navigation, item string) (*Navigation, error) {
	return s.changeItems(ctx, navigation, func(items []NavItem) ([]NavItem, error) {
		flat := flatten(items, "")
		if _, err := indexOf(flat, item); err != nil {
			return nil, err
		}
		below := map[string]bool{item: true}
		return nest(slices.DeleteFunc(flat, func(f NavItem) bool { // parents come before what is below them
			below[f.ID] = below[f.ID] || below[f.ParentID]
			return below[f.ID]
		}))
	})
}

// indexOf returns the place of an item with an id.
func indexOf(flat []NavItem, id string) (int, error) {
	i := slices.IndexFunc(flat, func(f NavItem) bool { return f.ID == id })
	if i < 0 {
		return 0, notFound("list the navigation and use the id of one of its items", "the navigation has no item %q",
			shorten(id, 80))
	}
	return i, nil
}

// SyncNavItems replaces all items of a menu with a hierarchy, whose order counts instead of
// SortOrder. Items keep their ids.
func (s *Site) SyncNavItems(ctx context.Context, navigation string, items []NavItem) (*Navigation, error) {
	return s.changeItems(ctx, navigation, func([]NavItem) ([]NavItem, error) { return items, nil })
}

// changeItems replaces the items of a menu with the result of change.
func (s *Site) changeItems(ctx context.Context, navigation string,
	change func([]NavItem) ([]NavItem, error)) (*Navigation, error) {
	return commit(ctx, s, "changing a navigation", func(tx *txn) (*Navigation, error) {
		n, err := findNavigation(tx, navigation)
		if err != nil {
			return nil, err
		}
		items, err := change(n.Items)
		if err != nil {
			return nil, err
		}
		tx.exec("DELETE FROM navigation_items WHERE navigation_id = ?", n.ID)
		if err := insertItems(tx, n.ID, "", items, maxItemDepth, map[string]bool{}); err != nil {
			return nil, err
		}
		changed, err := findNavigation(tx, n.ID)
		if err == nil {
			changed.Before = n.Items
		}
		return changed, err
	})
}

// insertItems stores items below a parent, and those below them in at most depth levels; seen has
// the ids of the menu so far.
func insertItems(tx *txn, navigation, parent string, items []NavItem, depth int, seen map[string]bool) error {
	for order, item := range items {
		if len(seen) == maxMenuItems || depth == 0 {
			return invalid("use fewer", "a navigation has at most %d items in %d levels", maxMenuItems, maxItemDepth)
		}
		item.ID = cmp.Or(item.ID, newID(itemID))
		if !isID(itemID, item.ID) || seen[item.ID] {
			return invalid("leave the id of a new item out", "the item id %q isn't allowed, or is used twice",
				shorten(item.ID, 80))
		}
		seen[item.ID] = true
		if err := item.check(tx); err != nil {
			return err
		}
		if value[bool](tx, "SELECT count(*) > 0 FROM navigation_items WHERE id = ?", item.ID) {
			return conflict("leave its id out, to copy it", "the item %s belongs to another navigation", item.ID)
		}
		tx.insert("navigation_items",
			record{"id": item.ID, "navigation_id": navigation, "parent_id": null(parent), "value": item.Value,
				"target_type": item.TargetType, "target_uuid": null(item.TargetUUID), "url": null(item.URL),
				"sort_order": order})
		if err := insertItems(tx, navigation, item.ID, item.Items, depth-1, seen); err != nil {
			return err
		}
	}
	return nil
}

// check rejects an item whose target doesn't fit its type, and replaces a slug by the id.
func (i *NavItem) check(tx *txn) error {
	if err := cmp.Or(inField("value", checkText("the item's value", i.Value, 1, maxLabel)),
		oneOf("targetType", i.TargetType, targetTypes...)); err != nil {
		return err
	}
	if i.TargetType == "url" && (i.URL == "" || len(i.URL) > maxURLLength || !addressAllowed(i.URL)) {
		return inField("url", invalid(`use an address such as "https://example.com/a" or "/about"`,
			"item %q has the address %q, which isn't allowed", i.Value, shorten(i.URL, 80)))
	}
	var err error
	i.TargetUUID, err = targetID(tx, i.TargetType, i.TargetUUID)
	return err
}

// targetID returns the id of what a link or an item of a menu points to.
func targetID(tx *txn, kind, ref string) (string, error) {
	switch kind {
	case "page":
		p, err := pageTable.find(tx, ref)
		if err != nil {
			return "", err
		}
		return p.ID, nil
	case "entry":
		e, err := findEntry(tx, ref)
		if err != nil {
			return "", err
		}
		return e.ID, nil
	case "media", "medium":
		_, err := mediaTable.find(tx, ref)
		return ref, err
	}
	return ref, nil
}

// flatten returns the items with their parents' ids, parents first.
func flatten(items []NavItem, parent string) (flat []NavItem) {
	for _, item := range items {
		below := item.Items
		item.Items, item.ParentID = nil, parent
		flat = append(append(flat, item), flatten(below, item.ID)...)
	}
	return flat
}

// nest is the reverse of flatten, and sorts the items of each parent by SortOrder.
func nest(flat []NavItem) ([]NavItem, error) {
	placed := 0
	var below func(parent string) []NavItem
	below = func(parent string) (list []NavItem) {
		for _, item := range flat {
			if item.ParentID == parent {
				placed++
				item.Items = below(item.ID)
				list = append(list, item)
			}
		}
		slices.SortStableFunc(list, func(a, b NavItem) int { return a.SortOrder - b.SortOrder })
		return list
	}
	items := below("")
	if placed != len(flat) { // the rest isn't below the root
		return nil, invalid("use the id of another item, or none",
			"the parent of an item doesn't exist, or is below the item itself")
	}
	return items, nil
}

var navigationTable = table[*Navigation]{what: "navigation", prefix: navigationID, from: "navigations",
	where: "id = ?1 OR name = ?1",
	names: "SELECT name FROM navigations ORDER BY name LIMIT 50", columns: "id, name, description",
	scan: func(scan scanner) (*Navigation, error) {
		var n Navigation
		return &n, scan(&n.ID, &n.Name, &n.Description)
	}}

// findNavigation returns the menu with this id or name, with its items.
func findNavigation(tx *txn, ref string) (*Navigation, error) {
	n, err := navigationTable.find(tx, ref)
	if err != nil {
		return nil, err
	}
	flat := collect(tx, func(scan scanner) (i NavItem, err error) {
		err = scan(&i.ID, &i.ParentID, &i.Value, &i.TargetType, &i.TargetUUID, &i.URL, &i.SortOrder)
		return i, err
	}, `SELECT id, coalesce(parent_id, ''), value, target_type, coalesce(target_uuid, ''), coalesce(url, ''), sort_order
		FROM navigation_items WHERE navigation_id = ? ORDER BY sort_order, id`, n.ID)
	if n.Items, err = nest(flat); n.Items == nil {
		n.Items = []NavItem{}
	}
	return n, err
}
