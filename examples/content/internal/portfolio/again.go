package portfolio

import "slices"

// reaches are the statuses to which steps bring an artifact, and from which they can be done again.
var reaches = map[string]Status{TopicResearch: Research, SkeletonCreator: Skeleton, ContentWriter: CreatingVisuals}

// Again reports whether a step that was done before can be done again, on request: its artifact is
// further than the step needs, and isn't published.
func Again(tool string, s Status) bool {
	to, ok := reaches[tool]
	return ok && slices.Index(Statuses, s) >= slices.Index(Statuses, to) &&
		slices.Index(Statuses, s) <= slices.Index(Statuses, Ready)
}
