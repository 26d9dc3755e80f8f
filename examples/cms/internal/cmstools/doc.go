// Package cmstools has the tools of a content site for an agent: each tool is a method of [site.Site], typed, with a
// schema and a risk.
//
//	s, err := site.Open(ctx, "site.db")
//	if err != nil {
//		return err
//	}
//	a, err := agent.New(agent.Config{
//		Provider: model,
//		Tools:    cmstools.All(s),
//		Modes:    []agent.Mode{{Name: cmstools.CRUD}, {Name: cmstools.Architect}, {Name: cmstools.Debug}, {Name: cmstools.Ask}},
//		Policies: []tools.Policy{cmstools.OneWrite},
//	})
//
// # Guarantees
//
//   - Tools that only read are declared read-only and may be called in every mode. Tools that write may be called in the
//     modes [CRUD] and [Debug]; [ValidatePlan] in [Architect].
//   - A tool that writes a page, contents or an entry reads the database again afterwards: a call that reports success has had
//     its effect.
//   - Deleting a page, removing a section and changing an address need approval.
//   - Creating a page, adding a section, writing contents and writing an entry are idempotent: the site stores the key of
//     the call. For other writing calls, a person decides if it isn't known whether they took effect.
//   - Creating, changing and deleting a page, adding a section and writing contents can be reverted with the tool's Undo.
//   - [FindResource] is the tool of package memory/index, over an index that is as new as the file ([site.Site.Find]). Its
//     answer marks text that people wrote as data.
//   - [ValidatePlan] tries a plan on a copy of the site, with the same tools that would execute it. It only reads the
//     site itself.
package cmstools
