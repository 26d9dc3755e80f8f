package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider/fromenv"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the program.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("content", flag.ContinueOnError)
	flags.SetOutput(stderr)
	db := flags.String("db", "content.db", "the file with artifacts and runs")
	addr := flags.String("addr", "127.0.0.1:8080", "the address to serve at")
	prompt := flags.String("p", "", "a request to run in the terminal, instead of serving")
	user := flags.String("user", "ann", "who asks: ann, ben or eva")
	artifact := flags.String("artifact", "", "the id of the artifact that the request is about")
	choice := flags.String("model", "",
		"what PAWL_MODEL is otherwise: standin, or a provider of the environment, such as openai or openai/gpt-5")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *choice != "" {
		outer := getenv
		getenv = func(name string) string {
			if name == fromenv.Variable {
				return *choice
			}
			return outer(name)
		}
	}
	mocks, mocked, err := contenttools.Mocks(getenv, nil)
	if err != nil {
		fmt.Fprintln(stderr, "content:", err)
		return 2
	}
	cfg := assistant.Config{DB: *db, Mocks: mocks, Mocked: mocked}
	if *prompt == "" {
		if err := serve(ctx, cfg, *addr, getenv, stdout, stderr); err != nil {
			fmt.Fprintln(stderr, "content:", err)
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	texts, real, notice, err := model(getenv, slog.New(slog.NewTextHandler(stderr, nil)), nil)
	if err != nil {
		fmt.Fprintln(stderr, "content:", err)
		return 2
	}
	about, err := services(&cfg, getenv, real)
	if err != nil {
		fmt.Fprintln(stderr, "content:", err)
		return 2
	}
	fmt.Fprintf(stderr, "content: %s; %s\n", notice, about)
	cfg.Model, cfg.Classify = texts, real
	s, err := assistant.New(cfg)
	if err != nil {
		fmt.Fprintln(stderr, "content:", err)
		return 1
	}
	defer s.Close()
	if err := s.Recover(ctx); err != nil {
		fmt.Fprintln(stderr, "content:", err)
	}
	r := assistant.Request{User: *user, Message: *prompt, Screen: assistant.Screen{ArtifactID: *artifact},
		Progress: func(p assistant.Step) {
			if p.State == assistant.StepFinished {
				fmt.Fprintln(stdout, "  ✓", p.Tool)
			}
		}}
	if err := newDraft(ctx, s, &r); err != nil {
		fmt.Fprintln(stderr, "content:", err)
		return 1
	}
	return show(ctx, s, r, stdout)
}

var create = regexp.MustCompile(
	`(?i)^create content for (?:an? )?(?:(blog|social post|showcase)(?: post)? (?:about|on) )?(.+)$`)

// newDraft makes a draft for "Create content for X", and turns the request into that of the button.
func newDraft(ctx context.Context, s *assistant.Services, r *assistant.Request) error {
	m := create.FindStringSubmatch(strings.TrimSpace(r.Message))
	if m == nil || r.Screen.ArtifactID != "" || strings.HasPrefix(m[2], "artifact ") {
		return nil
	}
	kind := strings.ReplaceAll(strings.ToLower(m[1]), " ", "_")
	if kind == "" {
		kind = portfolio.Blog
	}
	a, err := s.Store.Create(ctx,
		portfolio.Artifact{User: r.User, Type: kind, Title: strings.ToUpper(m[2][:1]) + m[2][1:]})
	if err != nil {
		return err
	}
	r.Message = fmt.Sprintf("Create content for artifact %s: %s", a.ID, a.Title)
	r.Screen.ArtifactID = a.ID
	return nil
}

// show executes a request and prints what comes of it.
func show(ctx context.Context, s *assistant.Services, r assistant.Request, out io.Writer) int {
	answer := s.Execute(ctx, r)
	fmt.Fprintln(out, answer.Message)
	if data, ok := answer.Data.(map[string]any); ok {
		topics, _ := data["topics"].([]any)
		artifacts, _ := data["artifacts"].([]any)
		for _, item := range append(topics, artifacts...) {
			if item, ok := item.(map[string]any); ok {
				angle, _ := item["suggestedAngle"].(string)
				id, _ := item["id"].(string)
				fmt.Fprintf(out, "  - %v (%v)\n", item["title"], cmp.Or(angle, id))
			}
		}
	}
	for _, o := range answer.Options {
		fmt.Fprintf(out, "  > %s\n", o.Message)
	}
	if answer.Error != nil {
		fmt.Fprintf(out, "%s (trace %s)\n", answer.Error.Category, answer.TraceID)
		for _, o := range answer.Error.RecoveryOptions {
			fmt.Fprintf(out, "  > %s: -p %q\n", o.Label, o.Message)
		}
		return 1
	}
	if id := r.Screen.ArtifactID; id != "" {
		a, err := s.Store.Artifact(ctx, r.User, id)
		if err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		fmt.Fprintf(out, "artifact %s, %s\n\n%s", a.ID, a.Status, a.Content)
	}
	return 0
}
