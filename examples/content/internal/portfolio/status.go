package portfolio

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

// A Trigger is who changes a status.
type Trigger string

// The triggers.
const (
	ByTool    Trigger = "tool"
	ByUser    Trigger = "user"
	BySystem  Trigger = "system"  // an override: the user has asked for it in other words
	ByRestore Trigger = "restore" // a tool failed or was undone
)

// Triggers are all triggers.
var Triggers = []Trigger{ByTool, ByUser, BySystem, ByRestore}

// A Transition is a change of status that may happen.
type Transition struct {
	From, To Status
	By       Trigger
	Tool     string // for ByTool and ByRestore
	Why      string
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
	{Draft, Research, ByTool, TopicResearch, "sources were found"},
	{Research, Skeleton, ByTool, SkeletonCreator, "the outline exists"},
	{Skeleton, Writing, ByTool, ContentWriter, "writing has begun"},
	{Writing, CreatingVisuals, ByTool, ContentWriter, "all sections are written"},
	{CreatingVisuals, Ready, ByTool, VisualsCreator, "the images are in the text"},
	{Writing, Ready, ByTool, VisualsCreator, "the images are in the text"},
	{Writing, Ready, ByTool, Humanizer, "the text was revised, and no images follow"},
	{CreatingVisuals, Ready, ByTool, Humanizer, "the text was revised, and no images follow"},

	{Ready, Published, ByUser, "", "published"},
	{Published, Ready, ByUser, "", "edited"},
	{Draft, Archived, ByUser, "", "archived"},
	{Research, Archived, ByUser, "", "archived"},
	{Skeleton, Archived, ByUser, "", "archived"},
	{Writing, Archived, ByUser, "", "archived"},
	{CreatingVisuals, Archived, ByUser, "", "archived"},
	{Ready, Archived, ByUser, "", "archived"},
	{Published, Archived, ByUser, "", "archived"},
	{Archived, Ready, ByUser, "", "taken out of the archive, with content"},
	{Archived, Draft, ByUser, "", "taken out of the archive, without content"},

	{Writing, Ready, BySystem, "", "the user adds the images"},
	{CreatingVisuals, Ready, BySystem, "", "the user adds the images"},
	{Skeleton, Ready, BySystem, "", "the user writes it alone"},
	{Published, Ready, BySystem, "", "it is revised again"},

	{Research, Draft, ByRestore, TopicResearch, "undone"},
	{Skeleton, Research, ByRestore, SkeletonCreator, "undone"},
	{Writing, Skeleton, ByRestore, ContentWriter, "failed"},
	{CreatingVisuals, Skeleton, ByRestore, ContentWriter, "undone"},
	{Ready, CreatingVisuals, ByRestore, VisualsCreator, "undone"},
	{Ready, Writing, ByRestore, VisualsCreator, "undone"},
	{Ready, CreatingVisuals, ByRestore, Humanizer, "undone"},
	{Ready, Writing, ByRestore, Humanizer, "undone"},
}

// Legal returns the transition from one status to another, and whether there is one.
func Legal(from, to Status, by Trigger, tool string) (Transition, bool) {
	for _, t := range Transitions {
		if t.From == from && t.To == to && t.By == by && t.Tool == tool {
			return t, true
		}
	}
	return Transition{}, false
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
