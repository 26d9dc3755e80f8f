package cmstools

import (
	"context"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// missesOf returns the kinds of sections that a goal wants, and that none of the pages has which a
// plan makes or changes: "the page Contact with a form" without a form.
func missesOf(ctx context.Context, copied Config, goal string, p *plan.Plan) (misses []string, err error) {
	wrong, touched, err := tryPlan(ctx, copied, p)
	if err != nil || len(wrong) > 0 || len(touched) == 0 {
		return nil, err
	}
	has, pages := map[string]bool{}, 0
	for _, ref := range touched {
		page, err := copied.Site.GetPage(ctx, ref, "")
		if err != nil {
			continue // it was deleted
		}
		pages++
		for _, section := range page.Sections {
			for _, word := range strings.Split(section.Section, "-") {
				has[word] = true
			}
		}
	}
	for _, kind := range site.SectionKeys() {
		// one that is wanted: "with a form", and not "the text of Home"
		wanted := regexp.MustCompile(`(?i)(?:^|\b(?:with|add|adding|and|plus|has|have) |, )` +
			`(?:a|an|one|another|its own) (?:\pL+ )?` + kind + `\b`)
		if pages > 0 && wanted.MatchString(goal) && !has[kind] {
			misses = append(misses, "there is no "+kind)
		}
	}
	return misses, nil
}
