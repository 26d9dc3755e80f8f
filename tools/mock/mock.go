package mock

import (
	"context"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Mode says who answers outside calls. The empty Mode is [API].
type Mode string

// The modes.
const (
	API       Mode = "API"        // the outside call is made
	Mock      Mode = "MOCK"       // a file answers
	PerToggle Mode = "PER_TOGGLE" // the toggle of the category decides; only for Config.Master
)

// Config is the configuration of a [Set]. Its zero value makes all outside calls and captures
// nothing.
type Config struct {
	// Master is the switch for all categories: API, MOCK or PER_TOGGLE. Empty is API.
	Master Mode
	// Toggles has the modes of categories, API or MOCK, by name. They count only if Master is
	// PER_TOGGLE. Categories that aren't listed are API.
	Toggles map[string]Mode
	// Files has the answers. They are read once, by New, and may have up to 1 MiB each. A file
	// hides those of the same name in later entries: list a folder before the files that are built
	// in.
	Files []fs.FS
	// DelayMin and DelayMax are the range of the time that a mocked call takes. Both 0: no delay.
	// DelayMax 0: always DelayMin.
	DelayMin, DelayMax time.Duration
	// Seed determines the random values and delays. With the same seed, the nth call with the same
	// category and Key has the same ones, whatever other calls are made. 0 is a new random seed.
	Seed uint64
	// Capture is the directory that real answers are written to. It is made if it doesn't exist.
	// Empty: none is written. A later answer replaces an earlier one of the same name and variant.
	// An answer that can't be written is logged and changes nothing else.
	Capture string
	// Logger gets a line for each mocked call, with its trace id, and warnings. nil: nothing is
	// logged.
	Logger *slog.Logger
}

// A Set has the modes and the answers of all categories. It is safe for concurrent use.
type Set struct {
	cfg   Config
	files map[string]map[string]*file // by category/name and variant

	mu    sync.Mutex          // guards what follows
	calls map[[32]byte]uint64 // how many calls there were of one category and Key, by digest
}

// New reads the files and returns a Set. A mode, a delay or a file that isn't valid is an error;
// that of a file is a [*FileError].
func New(cfg Config) (*Set, error) {
	switch cfg.Master {
	case "", API, Mock, PerToggle:
	default:
		return nil, fault.Errorf(fault.Invalid, "mock: Config.Master is %q: use API, MOCK or PER_TOGGLE", cfg.Master)
	}
	toggles := make(map[string]Mode, len(cfg.Toggles))
	for name, mode := range cfg.Toggles {
		if !nameForm.MatchString(name) {
			return nil, fault.Errorf(fault.Invalid, "mock: Config.Toggles has the category %q: %s", name, nameRule)
		}
		if mode != "" && mode != API && mode != Mock {
			return nil, fault.Errorf(fault.Invalid, "mock: Config.Toggles[%q] is %q: use API or MOCK", name, mode)
		}
		toggles[name] = mode
	}
	cfg.Toggles = toggles
	if cfg.DelayMax == 0 {
		cfg.DelayMax = cfg.DelayMin
	}
	if cfg.DelayMin < 0 || cfg.DelayMax < cfg.DelayMin {
		return nil,
			fault.Errorf(fault.Invalid, "mock: Config.DelayMin is %v and DelayMax is %v: use 0 <= DelayMin <= DelayMax",
				cfg.DelayMin, cfg.DelayMax)
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{cfg: cfg, files: make(map[string]map[string]*file), calls: make(map[[32]byte]uint64)}
	for _, fsys := range cfg.Files {
		if err := s.read(fsys); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// A Category is a group of outside calls with one mode. [Set.Category] returns it; nil makes all
// outside calls.
type Category struct {
	set  *Set
	name string
	mode Mode
}

// Category returns the category of that name. Of a nil Set, it is nil.
func (s *Set) Category(name string) *Category {
	if s == nil {
		return nil
	}
	mode := s.cfg.Master
	if mode == PerToggle {
		mode = s.cfg.Toggles[name]
	}
	return &Category{set: s, name: name, mode: mode}
}

// A Key says which answer a call wants. Name and Variant, and the name of the category, consist of
// ASCII letters, digits, - and _; dots may separate the parts of all but the Variant.
type Key struct {
	Name    string         // the function, such as search
	Variant string         // a kind of answer, such as blog; empty is "default"
	Values  map[string]any // for placeholders; they must be values that encoding/json can encode
}

// Call makes the outside call or, if the category is mocked, answers from a file. The answer of the
// file is decoded as T by encoding/json, and a field that T doesn't have is an error, so that an
// outdated file is noticed. Errors of files are [*FileError] and [*MissingError]. If ctx ends
// during the delay, its cause is returned.
//
// Call returns what outside returns, as it is. An answer without an error is captured if the Set
// captures.
func Call[T any](ctx context.Context, c *Category, k Key, outside func(context.Context) (T, error)) (T, error) {
	var none T
	if outside == nil {
		return none, fault.New(fault.Invalid, "mock: Call was given no outside function")
	}
	if c == nil || c.set == nil {
		return outside(ctx)
	}
	k, err := c.check(k)
	if err != nil {
		return none, err
	}
	if c.mode == Mock {
		raw, err := c.set.answer(ctx, c.name, k)
		if err != nil {
			return none, err
		}
		return decode[T](raw)
	}
	value, err := outside(ctx)
	if err == nil && c.set.cfg.Capture != "" {
		c.set.capture(ctx, c.name, k, value)
	}
	return value, err
}

// check fills in the default of a Key.
func (c *Category) check(k Key) (Key, error) {
	if k.Variant == "" {
		k.Variant = defaultVariant
	}
	switch {
	case !nameForm.MatchString(c.name):
		return k, fault.Errorf(fault.Invalid, "mock: the category is called %q: %s", c.name, nameRule)
	case !nameForm.MatchString(k.Name):
		return k, fault.Errorf(fault.Invalid, "mock: Key.Name is %q: %s", k.Name, nameRule)
	case !variantForm.MatchString(k.Variant):
		return k, fault.Errorf(fault.Invalid, "mock: Key.Variant is %q: %s", k.Variant, variantRule)
	}
	return k, nil
}
