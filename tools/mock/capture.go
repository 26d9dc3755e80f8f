package mock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/pawlkit/pawl/provider/secret"
)

// capture writes a real answer to a file. The outside call has happened, so that a failure is only
// logged.
func (s *Set) capture(ctx context.Context, category string, k Key, value any) {
	name := category + "/" + k.Name + "." + k.Variant + ".json"
	if err := write(s.cfg.Capture, category, name, value); err != nil {
		s.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "mock: an answer wasn't captured", slog.String("file", name),
			slog.Any("error", err))
	}
}

// write replaces a file as a whole: another process never reads half of it.
func write(dir, category, name string, value any) error {
	text, err := encode(value)
	if err != nil {
		return err
	}
	parsed, err := parse(text)
	if err != nil {
		return err
	}
	if text, err = encode(mapTexts(parsed, func(s string) any { return secret.Redact(s) })); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(category, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := category + "/." + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	err = root.WriteFile(temp, out.Bytes(), 0o600)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// encode returns a value as JSON in one line, with <, > and & as they are.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := guard(func() error { return e.Encode(value) }); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
