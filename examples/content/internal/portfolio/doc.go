// Package portfolio keeps the users and the artifacts of a content application in one SQLite file:
// who owns what, which status an artifact has, how it got there, and the research behind it.
//
//	s, err := portfolio.Open("content.db")
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	a, err := s.Create(ctx, portfolio.Artifact{User: "ann", Type: portfolio.Blog, Title: "Remote work"})
//	…
//	_, err = s.Apply(ctx, portfolio.Change{User: "ann", Artifact: a.ID, By: portfolio.ByTool, Tool: "topicResearch",
//		From: portfolio.Draft, To: portfolio.Research, Sources: found})
//
// # Guarantees
//
//   - The status changes only as [Transitions] says. A change of status, content, metadata and
//     research is one transaction with its row in the history. It has no effect if the artifact's
//     status isn't the expected one.
//   - A [Change] with a Key takes effect once. [Store.Undo] puts back what was before it.
//   - Every method that names an artifact also names its owner. An artifact of somebody else is
//     answered like one that doesn't exist.
//   - An artifact that is locked is changed only by the holder of the lock.
//   - A Store is safe for concurrent use, and several processes may share a file.
package portfolio
