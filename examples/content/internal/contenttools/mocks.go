package contenttools

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/tools/mock"
)

//go:embed data
var data embed.FS

var capital = regexp.MustCompile("[A-Z]")

// toggle returns the environment variable of a category: MOCK_RESEARCH_TOOLS for researchTools.
func toggle(category string) string {
	return "MOCK_" + strings.ToUpper(capital.ReplaceAllString(category, "_$0"))
}

// Mocks reads the environment: MOCK_ALL_AI_TOOLS is API (the default), MOCK or PER_TOGGLE; the
// other MOCK_ variables switch categories with PER_TOGGLE; MOCK_DELAY_MIN_MS and MOCK_DELAY_MAX_MS
// are 500 and 2000 by default; MOCK_CAPTURE_RESPONSES=true writes real answers to MOCK_CAPTURE_DIR,
// and MOCK_DATA_DIR has files that go before the built-in ones. all says that everything is mocked.
//
// MOCK_AI_SERVICE isn't read here: the program content takes the stand-in model then. Tools that
// only read the file aren't mocked.
func Mocks(getenv func(string) string, log *slog.Logger) (set *mock.Set, all bool, err error) {
	files, failed := fs.Sub(data, "data")
	categories, err := fs.ReadDir(data, "data")
	if err = errors.Join(failed, err); err != nil {
		return nil, false, err
	}
	cfg := mock.Config{Master: mock.Mode(getenv("MOCK_ALL_AI_TOOLS")), Toggles: map[string]mock.Mode{},
		Files: []fs.FS{files}, Logger: log}
	for _, c := range categories {
		cfg.Toggles[c.Name()] = mock.Mode(getenv(toggle(c.Name())))
	}
	if dir := getenv("MOCK_DATA_DIR"); dir != "" {
		cfg.Files = []fs.FS{os.DirFS(dir), files}
	}
	ms := func(name, usually string) time.Duration {
		n, failed := strconv.Atoi(cmp.Or(getenv(name), usually))
		if failed != nil {
			err = fmt.Errorf("%s: %w; set it to milliseconds", name, failed)
		}
		return time.Duration(n) * time.Millisecond
	}
	cfg.DelayMin, cfg.DelayMax = ms("MOCK_DELAY_MIN_MS", "500"), ms("MOCK_DELAY_MAX_MS", "2000")
	if err != nil {
		return nil, false, err
	}
	if getenv("MOCK_CAPTURE_RESPONSES") == "true" {
		cfg.Capture = cmp.Or(getenv("MOCK_CAPTURE_DIR"), "./logs/captured-responses")
	}
	set, err = mock.New(cfg)
	return set, cfg.Master == mock.Mock, err
}
