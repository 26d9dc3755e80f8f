// Package cmstools gives a content site to an agent: each tool is a method of [site.Site], typed and with a schema, and
// says what a mistaken call may cost.
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
//   - Tools that only read say so, and may be called in every mode. Tools that write may be called in the modes [CRUD] and
//     [Debug]; [ValidatePlan] in [Architect].
//   - What writes a page, contents or an entry reads the database again afterwards: a call that reports success has had
//     its effect.
//   - Deleting a page, removing a section and changing an address ask a person.
//   - Creating a page, adding a section, writing contents and writing an entry are idempotent: the site remembers the key of
//     the call. The other calls that write are put before a person if nobody knows how they ended.
//   - Creating, changing and deleting a page, adding a section and writing contents can be taken back with the tool's Undo.
//   - [FindResource] is the tool of package memory/index, over an index that is as new as the file ([site.Site.Find]). What people
//     wrote is marked as data in its answer.
//   - [ValidatePlan] tries a plan on a copy of the site, with the very tools that would carry it out. The site itself is
//     only read.
package cmstools
