package portfolio

import "slices"

// A Status is where an artifact is on its way to being published.
type Status string

// The statuses.
const (
	Draft           Status = "draft"
	Research        Status = "research"
	Skeleton        Status = "skeleton"
	Writing         Status = "writing"
	CreatingVisuals Status = "creating_visuals"
	Ready           Status = "ready"
	Published       Status = "published"
	Archived        Status = "archived"
)

// Statuses are all statuses, in their usual order.
var Statuses = []Status{Draft, Research, Skeleton, Writing, CreatingVisuals, Ready, Published, Archived}

// Words returns the status as what an artifact is, such as "outlined".
func (s Status) Words() string {
	switch s {
	case Draft:
		return "a draft"
	case Research:
		return "researched"
	case Skeleton:
		return "outlined"
	case Writing:
		return "being written"
	case Archived:
		return "in the archive"
	case CreatingVisuals:
		return "written, images next"
	}
	return string(s)
}

// A Trigger is who changes a status.
type Trigger string

// The triggers.
const (
	ByTool    Trigger = "tool"
	ByUser    Trigger = "user"
	BySystem  Trigger = "system"  // an override: the user has asked for it in other words
	ByRestore Trigger = "restore" // a tool failed or was undone
)

// A Transition is a change of status that may happen.
type Transition struct {
	From, To Status
	By       Trigger
	Tool     string // for ByTool and ByRestore
}

// The names of the tools that change a status.
const (
	TopicResearch   = "topicResearch"
	SkeletonCreator = "skeletonCreator"
	ContentWriter   = "contentWriter"
	Humanizer       = "humanizer"
	VisualsCreator  = "visualsCreator"
)

// Transitions are all changes of status that may happen.
var Transitions = []Transition{
	// a tool has done its work; the writer's has two parts
	{Draft, Research, ByTool, TopicResearch}, {Research, Skeleton, ByTool, SkeletonCreator},
	{Skeleton, Writing, ByTool, ContentWriter}, {Writing, CreatingVisuals, ByTool, ContentWriter},
	{CreatingVisuals, Ready, ByTool, VisualsCreator}, {Writing, Ready, ByTool, VisualsCreator},
	{Writing, Ready, ByTool, Humanizer}, {CreatingVisuals, Ready, ByTool, Humanizer},
	// an outline or a text is made again, on request
	{Writing, Skeleton, ByTool, SkeletonCreator}, {CreatingVisuals, Skeleton, ByTool, SkeletonCreator},
	{Ready, Skeleton, ByTool, SkeletonCreator}, {CreatingVisuals, Writing, ByTool, ContentWriter},
	{Ready, Writing, ByTool, ContentWriter},
	// the owner publishes, edits what is published, archives, and takes out of the archive
	{Ready, Published, ByUser, ""}, {Published, Ready, ByUser, ""},
	{Draft, Archived, ByUser, ""}, {Research, Archived, ByUser, ""}, {Skeleton, Archived, ByUser, ""},
	{Writing, Archived, ByUser, ""}, {CreatingVisuals, Archived, ByUser, ""}, {Ready, Archived, ByUser, ""},
	{Published, Archived, ByUser, ""}, {Archived, Ready, ByUser, ""}, {Archived, Draft, ByUser, ""},
	// the owner adds the images or writes the text alone, or has what is published revised
	{Writing, Ready, BySystem, ""}, {CreatingVisuals, Ready, BySystem, ""}, {Skeleton, Ready, BySystem, ""},
	{Published, Ready, BySystem, ""},
	// what a tool did is undone
	{Research, Draft, ByRestore, TopicResearch}, {Skeleton, Research, ByRestore, SkeletonCreator},
	{Writing, Skeleton, ByRestore, ContentWriter}, {CreatingVisuals, Skeleton, ByRestore, ContentWriter},
	{Ready, CreatingVisuals, ByRestore, VisualsCreator}, {Ready, Writing, ByRestore, VisualsCreator},
	{Ready, CreatingVisuals, ByRestore, Humanizer}, {Ready, Writing, ByRestore, Humanizer},
	{Skeleton, Writing, ByRestore, SkeletonCreator}, {Skeleton, CreatingVisuals, ByRestore, SkeletonCreator},
	{Skeleton, Ready, ByRestore, SkeletonCreator}, {Writing, CreatingVisuals, ByRestore, ContentWriter},
	{Writing, Ready, ByRestore, ContentWriter}, {CreatingVisuals, Ready, ByRestore, ContentWriter},
}

// Legal reports whether a change of status may happen.
func Legal(from, to Status, by Trigger, tool string) bool {
	return slices.Contains(Transitions, Transition{from, to, by, tool})
}

// Allowed are the statuses in which a tool may be used. A tool that isn't listed may be used in
// all.
var Allowed = map[string][]Status{
	TopicResearch:   {Draft},
	SkeletonCreator: {Research},
	ContentWriter:   {Skeleton, Writing}, // writing: it goes on where it was interrupted
	Humanizer:       {Writing, CreatingVisuals, Ready, Published},
	VisualsCreator:  {Writing, CreatingVisuals, Ready},
}
