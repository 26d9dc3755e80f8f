package cmstools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	createSectionDefInput struct {
		Name        string    `json:"name" jsonschema:"its name for people, for example Price list"`
		Key         string    `json:"key,omitempty" jsonschema:"how pages refer to it; derived from the name if left out"`
		Description string    `json:"description,omitempty" jsonschema:"its purpose, and other words for it"`
		Slots       []newSlot `json:"slots" jsonschema:"its values, in order"`
	}
	createCollectionInput struct {
		Name        string    `json:"name" jsonschema:"its name for people, for example Blog"`
		Slug        string    `json:"slug,omitempty" jsonschema:"its part of the addresses of entries; derived from the name if left out"`
		Description string    `json:"description,omitempty" jsonschema:"its purpose, and other words for it"`
		Slots       []newSlot `json:"slots" jsonschema:"the values of an entry, in order"`
	}
	updateSectionDefInput struct {
		Section     string  `json:"section" jsonschema:"the definition's id or key"`
		Name        *string `json:"name,omitempty" jsonschema:"its new name"`
		Key         *string `json:"key,omitempty" jsonschema:"its new key; pages keep their sections"`
		Description *string `json:"description,omitempty" jsonschema:"its new description"`
		Status      *string `json:"status,omitempty" jsonschema:"unpublished: it can't be added to pages"`
	}
	syncSectionInput struct {
		Section string    `json:"section" jsonschema:"the definition's id or key"`
		Slots   []newSlot `json:"slots" jsonschema:"all slots that it has afterwards, in order"`
		Prune   bool      `json:"prune,omitempty" jsonschema:"delete the stored values of removed slots for good; otherwise they are kept and hidden"`
	}
	syncCollectionInput struct {
		Collection string    `json:"collection" jsonschema:"the collection's id or slug"`
		Slots      []newSlot `json:"slots" jsonschema:"all slots that its entries have afterwards, in order"`
		Prune      bool      `json:"prune,omitempty" jsonschema:"delete the stored values of removed slots for good; otherwise they are kept and hidden"`
	}
	newSlot struct {
		Key          string   `json:"key" jsonschema:"a letter, then letters, digits and underscores"`
		Type         slotType `json:"type"`
		Label        string   `json:"label,omitempty"`
		Required     bool     `json:"required,omitempty" jsonschema:"must be filled whenever contents are written"`
		Multiple     bool     `json:"multiple,omitempty" jsonschema:"a list of values; for image, media and option"`
		Options      []string `json:"options,omitempty" jsonschema:"the values to choose from; for option, and required there"`
		MimeGroups   []string `json:"mimeGroups,omitempty" jsonschema:"image, video, audio, document; for media"`
		LinkTargets  []string `json:"linkTargets,omitempty" jsonschema:"url, page, entry, media; for link"`
		CollectionID string   `json:"collectionId,omitempty" jsonschema:"the only collection to refer to; for collectionRef"`
	}
	slotType string
)

// JSONSchema lists the types of slots.
func (slotType) JSONSchema() json.RawMessage {
	return json.RawMessage(
		`{"type":"string","enum":["text","richText","image","media","link","option","collectionRef"],"description":"richText is Markdown; image and media are {\"id\",\"url\",\"alt\"}; link is {\"type\":\"url\",\"href\"} or {\"type\":\"page\",\"targetId\"}"}`)
}

const slotsSchema = `"slots":{"minItems":1,"maxItems":50}`

// elements puts each slot into a row of its own.
func elements(slots []newSlot) (e site.Elements) {
	for _, slot := range slots {
		e.Rows = append(e.Rows, site.Row{Slots: []site.Slot{{
			Key: slot.Key, Type: string(slot.Type), Label: slot.Label,
			Rules: site.Rules{Required: slot.Required, Multiple: slot.Multiple, OptionValues: slot.Options,
				MimeGroups:  slot.MimeGroups,
				LinkTargets: slot.LinkTargets, CollectionID: slot.CollectionID},
		}}})
	}
	return e
}

// sameSlots returns an error unless a definition has the slots of a request.
func sameSlots(want []newSlot, got site.Elements) error {
	var keys, stored []string
	for _, slot := range want {
		keys = append(keys, slot.Key+" "+string(slot.Type))
	}
	for _, slot := range got.Slots() {
		stored = append(stored, slot.Key+" "+slot.Type)
	}
	if !slices.Equal(keys, stored) {
		return same("list of slots", fmt.Sprint(keys), fmt.Sprint(stored))
	}
	return nil
}

func listSections(s *site.Site) tools.Tool {
	return tools.New(reading(ListSections,
		"Lists the section definitions: the kinds of sections, and their slots with type and rules.",
		`{"properties":{`+querySchema+`}}`),
		func(ctx context.Context, in query) (site.List[*site.SectionDef], error) {
			return s.ListSections(ctx, site.Query(in))
		})
}

func createSectionDef(s *site.Site) tools.Tool {
	return tools.Func[createSectionDefInput, *site.SectionDef]{
		Spec: writing(CreateSectionDef,
			"Defines a new kind of section by its slots. First check with "+ListSections+" whether an existing one is suitable.",
			tools.Medium, `{"properties":{"name":`+nameSchema+`,"key":`+slugSchema+`,`+slotsSchema+`}}`),
		Run: observed(func(ctx context.Context, in createSectionDefInput) (*site.SectionDef, error) {
			return s.CreateSectionDef(ctx, site.CreateSectionDef{Name: in.Name, Key: in.Key,
				Description: in.Description, Elements: elements(in.Slots)})
		}),
		Verify: func(ctx context.Context, in createSectionDefInput, out *site.SectionDef) error {
			def, err := s.GetSection(ctx, out.ID)
			if err != nil {
				return err
			}
			return firstError(same("name", in.Name, def.Name), sameSlots(in.Slots, def.Elements))
		},
		Undo: func(ctx context.Context, _ createSectionDefInput, out *site.SectionDef) error {
			_, err := s.DeleteSectionDef(ctx, out.ID)
			return unlessGone(err)
		},
	}
}

func createCollectionDef(s *site.Site) tools.Tool {
	return tools.Func[createCollectionInput, *site.Collection]{
		Spec: writing(CreateCollectionDef, "Defines a new collection, such as a blog, by the slots of its entries.",
			tools.Medium, `{"properties":{"name":`+nameSchema+`,"slug":`+slugSchema+`,`+slotsSchema+`}}`),
		Run: observed(func(ctx context.Context, in createCollectionInput) (*site.Collection, error) {
			return s.CreateCollection(ctx, site.CreateCollection{Name: in.Name, Slug: in.Slug,
				Description: in.Description, Elements: elements(in.Slots)})
		}),
		Verify: func(ctx context.Context, in createCollectionInput, out *site.Collection) error {
			c, err := s.GetCollection(ctx, out.ID)
			if err != nil {
				return err
			}
			return firstError(same("name", in.Name, c.Name), sameSlots(in.Slots, c.Elements))
		},
		Undo: func(ctx context.Context, _ createCollectionInput, out *site.Collection) error {
			_, err := s.DeleteCollection(ctx, out.ID)
			return unlessGone(err)
		},
	}
}

func updateSectionDef(s *site.Site) tools.Tool {
	return tools.Func[updateSectionDefInput, *site.SectionDef]{
		Spec: writing(UpdateSectionDef,
			"Changes the name, key, description or status of a section definition; fields that are left out don't "+
				"change. Slots are changed with "+SyncSectionElements+".",
			tools.Medium,
			`{"properties":{"name":`+nameSchema+`,"key":`+slugSchema+`,"status":{"enum":["published","unpublished"]}}}`),
		Run: observed(func(ctx context.Context, in updateSectionDefInput) (*site.SectionDef, error) {
			return s.UpdateSectionDef(ctx, site.UpdateSectionDef{Section: in.Section,
				DefinitionFields: site.DefinitionFields{Name: in.Name, Key: in.Key, Description: in.Description,
					Status: in.Status}})
		}),
		Verify: func(ctx context.Context, in updateSectionDefInput, out *site.SectionDef) error {
			def, err := s.GetSection(ctx, out.ID)
			if err != nil {
				return err
			}
			return firstError(samePointer("name", in.Name, def.Name), samePointer("key", in.Key, def.Key),
				samePointer("description", in.Description, def.Description),
				samePointer("status", in.Status, def.Status))
		},
		Undo: func(ctx context.Context, _ updateSectionDefInput, out *site.SectionDef) error {
			if out.Before == nil {
				return errors.New("the state of the definition before the change isn't known")
			}
			_, err := s.UpdateSectionDef(ctx, site.UpdateSectionDef{Section: out.ID, DefinitionFields: *out.Before})
			return err
		},
	}
}

func syncSectionElements(s *site.Site) tools.Tool {
	return syncTool(s, SyncSectionElements, "section definition", site.KindSection,
		func(in syncSectionInput) site.SyncElements {
			return site.SyncElements{Definition: in.Section, Elements: elements(in.Slots), Prune: in.Prune}
		}, s.SyncSectionElements,
		func(ctx context.Context, id string) (site.Elements, error) {
			d, err := s.GetSection(ctx, id)
			if err != nil {
				return site.Elements{}, err
			}
			return d.Elements, nil
		})
}

func syncCollectionElements(s *site.Site) tools.Tool {
	return syncTool(s, SyncCollectionElements, "collection", site.KindCollection,
		func(in syncCollectionInput) site.SyncElements {
			return site.SyncElements{Definition: in.Collection, Elements: elements(in.Slots), Prune: in.Prune}
		}, s.SyncCollectionElements,
		func(ctx context.Context, id string) (site.Elements, error) {
			c, err := s.GetCollection(ctx, id)
			if err != nil {
				return site.Elements{}, err
			}
			return c.Elements, nil
		})
}

// syncTool is a tool that replaces the slots of a definition.
func syncTool[In any](s *site.Site, name, what, kind string, request func(In) site.SyncElements,
	sync func(context.Context, site.SyncElements) (*site.SyncedElements, error),
	read func(ctx context.Context, id string) (site.Elements, error)) tools.Tool {
	spec := writing(name,
		"Replaces the slots of a "+what+". It needs approval, because stored contents may no longer fit.", tools.High,
		`{"properties":{`+slotsSchema+`}}`)
	spec.Modes = []string{CRUD}
	return tools.Func[In, *site.SyncedElements]{
		Spec: spec,
		Ask: func(ctx context.Context, in In) (string, error) {
			r, err := s.TrySync(ctx, kind, request(in))
			if err != nil {
				return "", nil // Check returns the error
			}
			values := "their values are kept and hidden"
			if request(in).Prune {
				values = "their values are deleted for good"
			}
			var parts []string
			for _, c := range []struct {
				done  string
				slots []string
			}{{"added", r.Added}, {"changed", r.Changed}, {"removed", r.Removed}} {
				if len(c.slots) > 0 {
					parts = append(parts, c.done+": "+strings.Join(c.slots, ", "))
				}
			}
			if parts == nil {
				parts = []string{"only their labels or order"}
			}
			return fmt.Sprintf("the slots of the %s %q change (%s); stored contents affected: %d, and %s", what, r.Name,
				strings.Join(parts, "; "), r.Contents, values), nil
		},
		Check: func(ctx context.Context, in In) error {
			_, err := s.TrySync(ctx, kind, request(in))
			return err
		},
		Run: observed(func(ctx context.Context, in In) (*site.SyncedElements, error) { return sync(ctx, request(in)) }),
		Verify: func(ctx context.Context, in In, out *site.SyncedElements) error {
			e, err := read(ctx, out.ID)
			if err != nil {
				return err
			}
			return same("number of slots", len(request(in).Elements.Slots()), len(e.Slots()))
		},
		Undo: func(ctx context.Context, in In, out *site.SyncedElements) error {
			if out.Pruned > 0 {
				return errors.New("values of removed slots were deleted permanently")
			}
			_, err := sync(ctx, site.SyncElements{Definition: out.ID, Elements: out.Before})
			return err
		},
	}
}
