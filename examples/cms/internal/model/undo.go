package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// undo returns the opposite of the last change.
func (t *turn) undo(*wish) (*operation, *problem) {
	for _, c := range slices.Backward(t.earlier) {
		r := object(c.result)
		before, _ := r["before"].(map[string]any)
		o := &operation{slots: map[string]any{}, form: &form{Verb: "undo", Doing: "undo the last change",
			Reply: "The last change is undone.", De: "Die letzte Änderung ist rückgängig gemacht."}}
		f := *o.form
		o.form = &f
		switch {
		case c.tool == "cms.createPage" || c.tool == "cms.clonePage":
			f.Tool, o.input = "cms.deletePage", map[string]any{"page": r["id"]}
		case c.tool == "cms.addSectionToPage":
			f.Tool, o.input = "cms.removeSection", map[string]any{"sectionId": r["id"]}
		case c.tool == "cms.upsertEntry" && r["created"] == true:
			f.Tool, o.input = "cms.deleteEntry", map[string]any{"entry": r["id"]}
		case c.tool == "cms.upsertEntry" && before != nil:
			f.Tool, o.input = c.tool, map[string]any{"collection": c.input["collection"], "entry": r["id"],
				"title": before["title"], "content": before["content"]}
		case c.tool == "cms.updatePage" && before != nil:
			f.Tool, o.input = c.tool, map[string]any{"page": r["id"]}
			for key := range c.input {
				if old := map[string]string{"newSlug": "slug"}[key]; key != "page" {
					o.input[key] = cmp.Or(before[cmp.Or(old, key)], any(""))
				}
			}
		case c.tool == "cms.syncPageContents":
			contents := map[string]any{}
			sections, _ := r["sections"].([]any)
			for _, s := range sections {
				s, _ := s.(map[string]any)
				contents[fmt.Sprint(s["id"])] = s["before"]
			}
			f.Tool, o.input = c.tool, map[string]any{"page": r["id"], "contents": contents}
		case strings.HasPrefix(c.tool, "cms.delete"), c.tool == "cms.removeSection",
			c.tool == "cms.updateSection", c.tool == "cms.addPicture":
			return nil, &problem{text: "I can't undo that by a call. The button Undo below the answer does it."}
		default:
			continue
		}
		return o, nil
	}
	return nil, &problem{text: t.say("nothing").text}
}
