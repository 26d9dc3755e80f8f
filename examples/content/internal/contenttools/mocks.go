package contenttools

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/tools/mock"
)

//go:embed data
var data embed.FS

// switches are the environment variables of the categories.
var switches = map[string]string{
	"researchTools": "MOCK_RESEARCH_TOOLS", "skeletonTools": "MOCK_SKELETON_TOOLS",
	"contentWritingTools": "MOCK_CONTENT_WRITING_TOOLS",
	"humanityCheckTools":  "MOCK_HUMANITY_CHECK_TOOLS", "topicsResearchTools": "MOCK_TOPICS_RESEARCH_TOOLS",
	"visualsCreatorTools": "MOCK_VISUALS_CREATOR_TOOLS",
}

// Mocks reads the environment: MOCK_ALL_AI_TOOLS is API (the default), MOCK or PER_TOGGLE; the
// other MOCK_ variables switch categories with PER_TOGGLE; MOCK_DELAY_MIN_MS and MOCK_DELAY_MAX_MS
// are 500 and 2000 by default; MOCK_CAPTURE_RESPONSES=true writes real answers to MOCK_CAPTURE_DIR,
// and MOCK_DATA_DIR has files that go before the built-in ones. all says that everything is mocked.
//
// MOCK_AI_SERVICE isn't read here: the program content takes the stand-in model then. Tools that
// only read the file aren't mocked.
func Mocks(getenv func(string) string, log *slog.Logger) (set *mock.Set, all bool, err error) {
	files, err := fs.Sub(data, "data")
	if err != nil {
		return nil, false, err
	}
	cfg := mock.Config{Master: mock.Mode(getenv("MOCK_ALL_AI_TOOLS")), Toggles: map[string]mock.Mode{},
		Files: []fs.FS{files}, Logger: log}
	for category, name := range switches {
		if v := getenv(name); v != "" {
			cfg.Toggles[category] = mock.Mode(v)
		}
	}
	if dir := getenv("MOCK_DATA_DIR"); dir != "" {
		cfg.Files = []fs.FS{os.DirFS(dir), files}
	}
	for _, d := range []struct {
		to      *time.Duration
		name    string
		usually string
	}{{&cfg.DelayMin, "MOCK_DELAY_MIN_MS", "500"}, {&cfg.DelayMax, "MOCK_DELAY_MAX_MS", "2000"}} {
		ms, err := strconv.Atoi(cmp.Or(getenv(d.name), d.usually))
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w; set it to milliseconds", d.name, err)
		}
		*d.to = time.Duration(ms) * time.Millisecond
	}
	if getenv("MOCK_CAPTURE_RESPONSES") == "true" {
		cfg.Capture = cmp.Or(getenv("MOCK_CAPTURE_DIR"), "./logs/captured-responses")
	}
	set, err = mock.New(cfg)
	return set, cfg.Master == mock.Mock, err
}
