package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/tools/web"
)

// A setting is a flag that variables of the environment stand in for. The table of the README is
// made of these.
type setting struct {
	flag, otherwise string
	variables       []string
	value           *string
	about           string
	use             func(string) error // nil: any value will do
}

// settings returns the settings. What one uses, it stores in o.
func (o *options) settings(getenv func(string) string) []setting {
	return []setting{
		{"addr", "localhost:3000", []string{"PAGE_PORT", "NEXT_PORT"}, &o.addr,
			"port or address of the page", address(&o.addr)},
		{"api", "localhost:8787", []string{"API_PORT", "EXPRESS_PORT"}, &o.api,
			"port or address of the API", address(&o.api)},
		{"preview", "localhost:4000", []string{"PREVIEW_PORT"}, &o.preview,
			"port or address of the preview", address(&o.preview)},
		{"db", "cms.db", []string{"DATABASE_URL"}, &o.db, "the file of the site and the conversations", o.useFile},
		{"hosts", "example.com", []string{"HTTP_FETCH_ALLOWLIST"}, &o.hosts,
			"hosts that the agent may read, with commas between them, or none", o.useHosts},
		{"embedding-model", "", []string{"EMBEDDING_MODEL"}, &o.embeddingModel,
			"the model of the provider of embeddings; empty: its default", nil},
		{"embeddings", "local", []string{"EMBEDDINGS_PROVIDER"}, &o.embeddings,
			"what finds similar names: local, openai or openrouter",
			func(v string) error { return o.useEmbeddings(v, getenv) }},
		{"templates", "", []string{"TEMPLATE_DIR"}, &o.templates,
			"a folder with templates of the preview, in place of the built-in ones",
			useTemplates},
	}
}

// readSettings takes from the environment what no flag says, and uses it.
func readSettings(settings []setting, given map[string]bool, getenv func(string) string) error {
	var errs []error
	for _, s := range settings {
		for _, name := range s.variables {
			if v := strings.TrimSpace(getenv(name)); v != "" && !given[s.flag] {
				*s.value = v
				break
			}
		}
		if value := *s.value; s.use != nil && value != "" {
			if err := s.use(value); err != nil {
				errs = append(errs, fmt.Errorf("%s (-%s) is %q: %w", s.variables[0], s.flag, value, err))
			}
		}
	}
	return errors.Join(errs...)
}

// address returns what makes an address of this computer of a port. Nobody has to sign in, so
// requests that come to another one are refused.
func address(to *string) func(string) error {
	return func(value string) error {
		host, port, err := net.SplitHostPort(value)
		if err != nil {
			host, port = "localhost", value
		}
		*to = net.JoinHostPort(host, port)
		_, err = strconv.ParseUint(port, 10, 16)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && !ip.IsLoopback() {
			return errors.New("it should be a port, such as 3000, or an address of this computer, such as localhost:3000")
		}
		return nil
	}
}

// useFile takes a path, or the URL of one.
func (o *options) useFile(value string) error {
	o.db = strings.TrimPrefix(strings.TrimPrefix(value, "file:"), "//")
	if strings.Contains(o.db, "://") || strings.HasPrefix(o.db, "sqlite:") || strings.Contains(o.db, "?") {
		return errors.New("it should be a file of SQLite, such as cms.db or file:data/cms.db")
	}
	return nil
}

func (o *options) useHosts(value string) (err error) {
	if value != "none" {
		o.fetchFrom = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		o.fetcher, err = web.NewFetcher(web.FetchConfig{Hosts: o.fetchFrom})
	}
	return err
}

func useTemplates(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "layout", "page.html")); err != nil {
		return errors.New("it has no layout/page.html; begin with a copy of internal/preview/templates")
	}
	return nil
}

// useEmbeddings makes the embedder of a provider, with its key and address in the environment.
func (o *options) useEmbeddings(name string, getenv func(string) string) error {
	if name == "local" {
		return nil
	}
	if name != "openai" && name != "openrouter" {
		return errors.New("it should be local, openai or openrouter")
	}
	if of := strings.ToUpper(name); getenv(of+"_API_KEY") == "" && getenv(of+"_BASE_URL") == "" {
		return fmt.Errorf("set %s_API_KEY too, or choose local", of)
	}
	choices, err := fromenv.Choices(func(v string) string {
		if v == fromenv.Variable {
			return name + "/" + cmp.Or(o.embeddingModel, "none")
		}
		return getenv(v)
	})
	if err != nil {
		return err
	}
	m, _ := choices[0].Provider.(*openai.Model)
	e, err := m.Embedder(openai.EmbedderConfig{Model: o.embeddingModel})
	// What is similar by .2 is unrelated for models of OpenAI, and by .7 the same.
	o.finding = []site.Option{site.WithEmbedder(e, .2, .7)}
	return err
}
