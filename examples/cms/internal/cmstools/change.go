package cmstools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

// A change is what a tool that writes has of its own, besides its row of the table.
type change[In, Out any] struct {
	run func(ctx context.Context, in In) (Out, error)
	// ask returns why a call needs approval, or an error if it isn't possible; nil: the table says
	// it.
	ask func(ctx context.Context, in In) (string, error)
	// undo undoes a call; nil: what was made is deleted, or restored.
	undo func(ctx context.Context, in In, out Out) error
}

// write returns a tool that writes: each call is one transaction with an idempotency key, its
// effect is verified, and it can be undone.
func write[In, Out any](s *desk, name string, c change[In, Out]) tools.Tool {
	r := theTable().Tools[name]
	if c.ask == nil {
		c.ask = func(ctx context.Context, in In) (string, error) { return s.asks(ctx, r, fields(in)) }
	}
	made := c.undo == nil
	if made {
		c.undo = func(ctx context.Context, _ In, out Out) error { return s.back(ctx, out) }
	}
	spec := specOf[In](name)
	spec.Idempotent, spec.AllowAlways = true, spec.Risk != tools.High
	if spec.Modes == nil {
		spec.Modes = []string{CRUD, Debug}
	}
	return tools.Func[In, Out]{Spec: spec,
		Title: titleOf[In](s, r),
		Ask: func(ctx context.Context, in In) (string, error) {
			why, err := c.ask(ctx, in)
			if err != nil {
				return "", nil // Check returns the error
			}
			return why, nil
		},
		Check: func(ctx context.Context, in In) error {
			_, err := c.ask(ctx, in)
			return err
		},
		Run: func(ctx context.Context, in In) (Out, error) {
			out, err := c.run(site.WithKey(ctx, tools.IdempotencyKey(ctx)), in)
			if e := new(site.Error); errors.As(err, &e) && e.Expected != "" {
				err = conflict{e}
			}
			return out, err
		},
		Verify: func(ctx context.Context, in In, out Out) error {
			locale, _ := fields(in)["locale"].(string)
			now, err := s.stored(ctx, out, locale)
			switch {
			case isDeleted(out) && err == nil:
				return differs{"it", "deleted", "still there"}
			case isDeleted(out) && fault.Of(err) == fault.NotFound:
				return nil
			case err != nil:
				return err
			}
			want := fields(in)
			switch out := any(out).(type) {
			case *site.SyncedPage: // it has some of the sections
				contents := map[string]any{}
				for _, sec := range out.Sections {
					contents[sec.ID] = sec.Content
				}
				want = map[string]any{"contents": fields(contents)}
			case *site.Navigation:
				want = fields(out)
			case *site.Page:
				if made { // nobody else can have changed it yet
					want = fields(out)
				}
			}
			return differences("", want, fields(now))
		},
		Undo: func(ctx context.Context, in In, out Out) error {
			if err := c.undo(ctx, in, out); fault.Of(err) != fault.NotFound { // the undo may have run before
				return err
			}
			return nil
		},
	}
}

// titleOf returns the function that says what a call of a tool does.
func titleOf[In any](s *desk, r row) func(context.Context, In) string {
	return func(ctx context.Context, in In) string {
		title, _ := s.fill(ctx, r.title(fields(in)), fields(in)) // the call itself returns the error
		return title
	}
}

// A conflict is an error of the site. The record of the call has what was expected and found.
type conflict struct{ cause *site.Error }

func (c conflict) Error() string { return c.cause.Error() }
func (c conflict) Unwrap() []error {
	e := c.cause
	return []error{e, tools.Mismatch{Expected: e.Expected, Actual: e.Actual, Suggestion: e.Hint}}
}

// A differs is a failed verification.
type differs struct{ what, want, got string }

func (d differs) Error() string { return fmt.Sprintf("%s is %s, not %s", d.what, d.got, d.want) }
func (d differs) Unwrap() error {
	return tools.Mismatch{Expected: d.what + " " + d.want, Actual: d.got}
}

// fields returns a request or a result as it is in JSON.
func fields(v any) (out map[string]any) {
	raw, _ := json.Marshal(v) // they have no functions
	_ = json.Unmarshal(raw, &out)
	return out
}

// references are properties that name something, which has another name where it is stored.
var references = []string{"page", "section", "sectionId", "entry", "collection", "definition", "locale"}

// normalized are keys in contents and definitions whose values the site replaces: slugs by ids.
var normalized = []string{"version", "targetId", "collectionId", "entryId"}

// differences returns an error unless got has the values of want. An object may have more, because
// the site fills in the addresses of media, for example.
func differences(what string, want, got any) error {
	have, _ := got.(map[string]any)
	list, _ := got.([]any)
	switch want := want.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(want)) {
			name := cmp.Or(map[string]string{"newSlug": "slug"}[key], key)
			stored, ok := have[name]
			reference := slices.Contains(references, key) && (what == "" || strings.HasPrefix(what, "sections["))
			if what == "" && !ok || reference || want[key] == "" || slices.Contains(normalized, key) {
				continue
			}
			if err := differences(strings.TrimPrefix(what+"."+name, "."), want[key], stored); err != nil {
				return err
			}
		}
		return nil
	case []any:
		if len(list) != len(want) {
			return differs{"number of " + what, fmt.Sprint(len(want)), fmt.Sprint(len(list))}
		}
		for i := range want {
			if err := differences(fmt.Sprintf("%s[%d]", what, i), want[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	case float64:
		if place, ok := got.(float64); ok && what == "sortOrder" && place < want { // there are fewer
			return nil
		}
	}
	if !reflect.DeepEqual(want, got) {
		return differs{what, fmt.Sprint(want), fmt.Sprint(got)}
	}
	return nil
}
