// Package cmstools has the tools of a content site for an agent: typed functions over package site,
// with a schema, a risk, a verification of their effect, and an undo.
//
//	all := cmstools.Config{Site: s, Preview: "http://localhost:4000"}
//	a, err := agent.New(agent.Config{
//		Provider: model,
//		Tools:    cmstools.All(all),
//		Policies: []tools.Policy{cmstools.OneWrite, cmstools.Works(all)},
//	})
//
// # Guarantees
//
//   - Tools that only read may be called in every mode. Tools that write may be called in the modes
//     [CRUD] and [Debug]; [ValidatePlan] in [Architect].
//   - A tool that writes is one transaction, and reads the database again afterwards: a call that
//     reports success has had its effect. If the effect isn't there, the record of the call has
//     what was expected and what is ([tools.Mismatch]). So it has for a conflict, such as a slug
//     that another page has.
//   - Deleting, removing a section, changing an address, replacing the slots of a definition, and
//     calls that touch ten or more sections need approval. The reason says what breaks.
//   - Every call that writes is idempotent: the site stores its key with its result. A process that
//     died in the middle of a plan leaves nothing twice.
//   - Undo reverts everything, except for a menu that was changed since.
//   - [ValidatePlan] and [Weights] try a plan on a copy of the site, with the same tools that would
//     execute it. [Works] keeps a plan that doesn't work from people.
//
// # Where things are
//
// tools.json has all texts: what the tools and their inputs are for, their risks, their titles and
// their reasons for approval; table.go reads it. change.go has what all tools that write have in
// common, writes.go and definitions.go what each of them does, find.go those that read, plan.go
// what tries plans, and signature.go what models have to know of the tools that they plan with. The
// inputs are mostly the requests of package site.
package cmstools
