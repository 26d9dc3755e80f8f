// Package cmstools has the tools of a content site for an agent: typed functions over package
// site, with a schema, a risk, and a verification of their effect.
//
//	s, err := site.Open("cms.db")
//	if err != nil {
//		return err
//	}
//	a, err := agent.New(agent.Config{
//		Provider: model,
//		Tools:    cmstools.All(cmstools.Config{Site: s}),
//		Modes:    []agent.Mode{{Name: cmstools.CRUD}, {Name: cmstools.Architect}, {Name: cmstools.Debug},
//			{Name: cmstools.Ask}},
//		Policies: []tools.Policy{cmstools.OneWrite},
//	})
//
// # Guarantees
//
//   - Tools that only read are declared read-only and may be called in every mode. Tools that write
//     may be called in the modes [CRUD] and [Debug]; [ValidatePlan] in [Architect].
//   - A tool that writes is one transaction, and reads the database again afterwards: a call that
//     reports success has had its effect. If the effect isn't there, the record of the call has
//     what was expected and what is ([tools.Mismatch]).
//   - Deleting, removing a section, changing an address, replacing the slots of a definition, and
//     calls that touch ten or more sections need approval. The reason says what breaks.
//   - An error says what was wrong and what would be right. That of a conflict has a second line
//     for the model: {"error":"CONFLICT","expected","actual","suggestion"}.
//   - Creating a page, adding a section, writing contents and writing an entry are idempotent: the
//     site stores the key of the call. For other writing calls, a person decides if it isn't known
//     whether they took effect.
//   - Undo reverts everything except moving, hiding and removing a section, and values that were
//     deleted with prune.
//   - [FindResource] is the tool of package memory/index, over an index that is as new as the file
//     ([site.Site.Find]). Its answer marks text that people wrote as data.
//   - [ValidatePlan] tries a plan on a copy of the site, with the same tools that would execute it.
//     It only reads the site itself.
package cmstools
