package mock

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An answer is the text of a file with its placeholders filled in.
type answer struct {
	path string
	text []byte
}

// answer fills in the file for a call and waits for its delay.
func (s *Set) answer(ctx context.Context, category string, k Key) (answer, error) {
	f, err := s.find(category, k)
	if err != nil {
		return answer{}, err
	}
	values, digest, err := s.values(category, k)
	if err != nil {
		return answer{}, err
	}
	random := rand.New(rand.NewChaCha8(digest))
	if err := sleep(ctx, s.delay(random)); err != nil {
		return answer{}, err
	}
	fill := newFiller(values, random)
	filled := mapTexts(f.value, fill.text)
	text, err := encode(filled)
	if err != nil {
		return answer{}, &FileError{File: f.path, Err: err}
	}
	attrs := []slog.Attr{slog.String("file", f.path), slog.String("variant", k.Variant),
		slog.String("traceId", fill.trace())}
	s.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "mock: a file answers an outside call", attrs...)
	if len(fill.unknown) > 0 {
		names := slices.Sorted(maps.Keys(fill.unknown))
		s.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "mock: placeholders without a value",
			append(attrs, slog.Any("names", names))...)
	}
	return answer{path: f.path, text: text}, nil
}

// values returns the values of a Key as JSON values, and the seed of this call.
func (s *Set) values(category string, k Key) (values map[string]any, seed [32]byte, err error) {
	text, err := encode(k.Values)
	if err != nil {
		return nil, seed,
			fault.Errorf(fault.Invalid, "mock: Key.Values of %s can't be encoded as JSON: %w", k.Name, err)
	}
	if k.Values != nil {
		v, err := parse(text)
		if err != nil {
			return nil, seed,
				fault.Errorf(fault.Invalid, "mock: Key.Values of %s can't be encoded as JSON: %w", k.Name, err)
		}
		values, _ = v.(map[string]any)
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s/%s/%s", s.cfg.Seed, category, k.Name, k.Variant, text))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[digest]++
	return values, sha256.Sum256(fmt.Appendf(nil, "%x/%d", digest, s.calls[digest])), nil
}

func (s *Set) delay(random *rand.Rand) time.Duration {
	spread := s.cfg.DelayMax - s.cfg.DelayMin
	if spread == 0 {
		return s.cfg.DelayMin
	}
	return s.cfg.DelayMin + time.Duration(random.Int64N(int64(spread)+1))
}

// sleep waits for d or for the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	if d > 0 && ctx.Err() == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// A placeholder is a name in double braces.
var placeholder = regexp.MustCompile(`\{\{[A-Za-z_][A-Za-z0-9_]*\}\}`)

// A filler fills in the placeholders of one answer.
type filler struct {
	values  map[string]any // of the Key, and those that all places of an answer share
	random  *rand.Rand
	unknown map[string]bool
}

func newFiller(values map[string]any, random *rand.Rand) *filler {
	now := time.Now().UTC()
	all := map[string]any{
		"traceId":   fmt.Sprintf("mock-%d-%08x", now.UnixMilli(), random.Uint32()),
		"timestamp": now.Format("2006-01-02T15:04:05.000Z07:00"),
	}
	maps.Copy(all, values)
	return &filler{values: all, random: random, unknown: make(map[string]bool)}
}

func (f *filler) trace() string { return asText(f.values["traceId"]) }

// text fills in a text. The result is no text if the whole text is a placeholder of another type.
func (f *filler) text(text string) any {
	if text != "" && placeholder.FindString(text) == text {
		return f.value(text)
	}
	return placeholder.ReplaceAllStringFunc(text, func(match string) string { return asText(f.value(match)) })
}

// value returns the value of a placeholder with its braces, or the placeholder itself.
func (f *filler) value(match string) any {
	name := strings.Trim(match, "{}")
	if v, ok := f.values[name]; ok {
		return v
	}
	switch name {
	case "uuid":
		return f.uuid()
	case "randomScore":
		return json.Number(strconv.FormatFloat(float64(60+f.random.IntN(41))/100, 'f', -1, 64))
	case "duration":
		return json.Number(strconv.Itoa(500 + f.random.IntN(2001)))
	}
	f.unknown[name] = true
	return match
}

// uuid returns a random UUID, version 4 of RFC 9562.
func (f *filler) uuid() string {
	hi, lo := f.random.Uint64(), f.random.Uint64()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(0xc<<60) | 0x8<<60
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}

// asText returns a JSON value as it appears within a text.
func asText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	text, err := encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
