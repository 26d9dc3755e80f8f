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
	"syscall"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/humanity"
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
	asked := false
	flags.Visit(func(f *flag.Flag) { asked = asked || f.Name == "p" })
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "content: there is nothing to do with %q; put a request in quotes after -p\n", flags.Arg(0))
		return 2
	}
	if asked && strings.TrimSpace(*prompt) == "" {
		fmt.Fprintln(stderr, "content: the request after -p is empty")
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
	if !asked {
		if err := serve(ctx, cfg, *addr, getenv, stdout, stderr); err != nil {
			fmt.Fprintln(stderr, "content:", err)
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
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
				fmt.Fprintln(stdout, "  ✓", assistant.Result(p.Tool))
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
		portfolio.Artifact{User: r.User, Type: kind, Title: capital(m[2])})
	if err != nil {
		return err
	}
	r.Message = fmt.Sprintf("Create content for artifact %s: %s", a.ID, a.Title)
	r.Screen.ArtifactID = a.ID
	return nil
}

func capital(s string) string {
	r := []rune(s)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// show executes a request and prints what comes of it.
func show(ctx context.Context, s *assistant.Services, r assistant.Request, out io.Writer) int {
	answer := s.Execute(ctx, r)
	fmt.Fprintln(out, answer.Message)
	data, _ := answer.Data.(map[string]any)
	for _, name := range []string{"topics", "artifacts", "research"} {
		list, _ := data[name].([]any)
		for _, item := range list {
			item, _ := item.(map[string]any)
			about := ""
			for _, field := range []string{"suggestedAngle", "status", "id", "sourceUrl"} {
				if v, ok := item[field].(string); ok && v != "" {
					about = cmp.Or(about, v)
				}
			}
			fmt.Fprintf(out, "  - %v (%s)\n", cmp.Or(item["title"], item["sourceName"]), about)
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
		found, err := s.Store.Research(ctx, r.User, id)
		if err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		fmt.Fprintf(out, "artifact %s, %s\n%s\n", a.ID, a.Status, humanity.Check(a.Content).Summary)
		for _, f := range found {
			fmt.Fprintf(out, "source: %s\n", strings.TrimSpace(f.Name+" "+f.URL))
		}
		fmt.Fprintf(out, "\n%s", a.Content)
	}
	return 0
}
