package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/humanity"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider/fromenv"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// run is the program.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("content", flag.ContinueOnError)
	flags.SetOutput(stderr)
	db := flags.String("db", "content.db", "the file with artifacts and runs")
	addr := flags.String("addr", "127.0.0.1:8080", "the address to serve at")
	prompt := flags.String("p", "", "a request to run in the terminal, instead of serving")
	user := flags.String("user", "ann", "who asks: ann, ben or eva")
	artifact := flags.String("artifact", "", "the id of the artifact that the request is about")
	chat := flags.Bool("chat", false, "talk in the terminal, instead of serving")
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
		fmt.Fprintln(stderr, "content:", agent.Words(err))
		return 2
	}
	cfg := assistant.Config{DB: *db, Mocks: mocks, Mocked: mocked}
	if !asked && !*chat {
		if err := serve(ctx, cfg, *addr, getenv, stdout, stderr); err != nil {
			fmt.Fprintln(stderr, "content:", agent.Words(err))
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process
	texts, real, notice, err := model(getenv, slog.New(slog.NewTextHandler(stderr, nil)), nil)
	if err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
		return 2
	}
	about, err := services(&cfg, getenv, real)
	if err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
		return 2
	}
	fmt.Fprintf(stderr, "content: %s; %s\n", notice, about)
	cfg.Model, cfg.Real = texts, real
	s, err := assistant.New(cfg)
	if err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
		return 1
	}
	defer s.Close()
	if _, err := s.Store.UserByID(ctx, *user); err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
		return 2
	}
	if err := s.Recover(ctx); err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
	}
	screen := assistant.Screen{ArtifactID: *artifact, CurrentPage: assistant.Terminal}
	if *chat {
		return talk(ctx, s, *user, screen, stdin, stdout, stderr)
	}
	return show(ctx, s, assistant.Request{User: *user, Message: *prompt, Screen: screen, Progress: func(text string) {
		fmt.Fprintln(stdout, " ", text)
	}}, stdout)
}

// talk leads the conversation that the pages have, too, in the terminal.
func talk(ctx context.Context, s *assistant.Services, user string, screen assistant.Screen, in io.Reader,
	out, stderr io.Writer) int {
	session, err := s.Conversation(ctx, user, assistant.Main, false)
	if err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
		return 1
	}
	code, err := terminal.Run(ctx, s.Hub, terminal.Config{Session: session, In: in, Out: out, Plain: true,
		Hidden: []string{contenttools.StructuredResponse, contenttools.FetchArtifact, contenttools.FetchArtifactTopics,
			contenttools.FetchResearch, contenttools.ListDraftArtifacts},
		Input: agent.Input{User: user, Owner: user, Only: assistant.ChatTools, Labels: s.Labels(screen, ""),
			Supersede: true}})
	if err != nil {
		fmt.Fprintln(stderr, "content:", agent.Words(err))
	}
	return code
}

// show executes a request and prints what comes of it.
func show(ctx context.Context, s *assistant.Services, r assistant.Request, out io.Writer) int {
	answer := s.Execute(ctx, r)
	fmt.Fprintln(out, answer.Message)
	data, _ := answer.Data.(map[string]any)
	fmt.Fprint(out, assistant.Lines(data, answer.Options))
	if answer.Error != nil {
		return 1
	}
	at, _ := data["artifact"].(map[string]any)
	id, _ := at["id"].(string)
	if len(answer.ToolsUsed) == 0 || id == "" {
		return 0
	}
	a, err := s.Store.Artifact(ctx, r.User, id)
	if err == nil {
		var found []portfolio.Source
		if found, err = s.Store.Research(ctx, r.User, id); err == nil {
			fmt.Fprintf(out, "artifact %s, %s\n%s\n", a.ID, a.Status, humanity.Check(a.Content).Summary)
			for _, f := range found {
				fmt.Fprintf(out, "source: %s\n", strings.TrimSpace(f.Name+" "+f.URL))
			}
			fmt.Fprintf(out, "\n%s", a.Content)
		}
	}
	if err != nil {
		fmt.Fprintln(out, err)
		return 1
	}
	return 0
}
