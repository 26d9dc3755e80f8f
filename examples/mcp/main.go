// Mcp is an agent over the tools of MCP servers. It asks before a tool runs that may change
// something, or serves the agent as an MCP server itself:
//
//	go run ./examples/mcp -command "npx -y @modelcontextprotocol/server-filesystem ." "tools"
//	go run ./examples/mcp -url http://127.0.0.1:3001/mcp 'remote.echo {"message": "hello"}'
//	go run ./examples/mcp -url http://127.0.0.1:3001/mcp -serve 127.0.0.1:8090
//
// The model is the one that the environment names: see package provider/fromenv. Without one, or
// with -model standin, a stand-in answers, which understands "tools" and the name of a tool with
// its input.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/mcpserver"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// options are those of the command line.
type options struct {
	command string
	url     string
	serve   string
	model   string
	prompt  string
}

func main() {
	var o options
	flag.StringVar(&o.command, "command", "", "a server to start, as a command; its tools are local.…")
	flag.StringVar(&o.url, "url", "", "the address of a server; its tools are remote.…")
	flag.StringVar(&o.serve, "serve", "",
		"serve the agent as an MCP server at this address, instead of asking it; keep it on this machine, because "+
			"nobody has to sign in")
	flag.StringVar(&o.model, "model", "", "what PAWL_MODEL is otherwise: standin, or a provider of the environment")
	flag.Parse()
	o.prompt = strings.Join(flag.Args(), " ")
	if err := run(context.Background(), o, os.Stdin, os.Stdout); err != nil {
		log.Fatal(agent.Words(err))
	}
}

// run does what the options say. It asks on out and reads answers from in.
func run(ctx context.Context, o options, in io.Reader, out io.Writer) error {
	servers, err := servers(o)
	if err != nil {
		return err
	}
	var sources []tools.Source
	for _, s := range servers {
		defer s.Close()
		sources = append(sources, s)
	}
	model, about, err := chooseModel(o.model)
	if err != nil {
		return err
	}
	log.Print("the model is ", about)
	// Nothing that a server says is trusted: everything may change something, so a person is asked
	// about every call.
	ask := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Ask, Reason: "the server is not trusted"}
	}
	a, err := agent.New(agent.Config{Name: "mcp", Provider: model, Instructions: "Use the tools of the servers.",
		Sources: sources, Policies: []tools.Policy{ask}, Journal: &journal.MapStore{}})
	if err != nil {
		return err
	}
	if o.serve != "" {
		return serve(ctx, a, o.serve, out)
	}
	if o.prompt == "" {
		return errors.New(
			`say what to do, for example: go run ./examples/mcp -command "npx -y @modelcontextprotocol/server-filesystem ." tools`)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process
	return converse(ctx, a, o.prompt, in, out)
}

// servers returns the servers that the options name.
func servers(o options) (list []*mcp.Server, err error) {
	for _, cfg := range []mcp.Config{{Name: "local", Command: strings.Fields(o.command)},
		{Name: "remote", URL: o.url}} {
		if len(cfg.Command) == 0 && cfg.URL == "" {
			continue
		}
		cfg.OnChange = func(c mcp.Change) {
			for _, e := range c.Refused {
				log.Print(e)
			}
			for _, note := range c.Notes {
				log.Print(c.Server, ": ", note)
			}
		}
		s, err := mcp.New(cfg)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, errors.New("name a server with -command or -url")
	}
	return list, nil
}

// converse runs a prompt, and asks about the calls that need approval.
func converse(ctx context.Context, a *agent.Agent, prompt string, in io.Reader, out io.Writer) error {
	answers := bufio.NewScanner(in)
	var work agent.Work = agent.Input{Session: "mcp", Prompt: prompt, Interactive: true}
	for {
		res, err := a.Run(ctx, work)
		if res == nil || res.Status != agent.Paused {
			if res != nil {
				fmt.Fprintln(out, res.Text())
			}
			return err
		}
		var decisions []agent.Decision
		for _, p := range res.Pending {
			decisions = append(decisions, decide(p, answers, out))
		}
		work = agent.Resume("mcp", decisions...)
	}
}

// decide asks about a pause: a call that needs approval, or a question of a server.
func decide(p agent.Pause, answers *bufio.Scanner, out io.Writer) agent.Decision {
	if p.Kind == agent.PauseApproval {
		fmt.Fprintf(out, "%s? It calls %s with %s. [y/n] ", p.Title, p.Call.Name, p.Call.Input)
		if answers.Scan() && strings.HasPrefix(strings.ToLower(strings.TrimSpace(answers.Text())), "y") {
			return agent.Approve(p.ID).By("you")
		}
		return agent.Reject(p.ID, "the user said no").By("you")
	}
	fmt.Fprintf(out, "%s\nAnswer as JSON %s: ", p.Reason, p.Schema)
	if !answers.Scan() {
		return agent.Reject(p.ID, "nobody answered").By("you")
	}
	return agent.Answer(p.ID, rawJSON(answers.Text())).By("you")
}

// serve offers the agent as an MCP server until ctx ends or a signal comes.
func serve(ctx context.Context, a *agent.Agent, addr string, out io.Writer) error {
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		return err
	}
	defer hub.Close()
	h, err := mcpserver.New(hub, mcpserver.Config{
		Name: "pawl", Description: "An agent over the tools of other servers.",
		// the only user of this machine
		Authorize: func(context.Context, http.Header, string) (string, error) { return "you", nil },
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	fmt.Fprintf(out, "http://%s/mcp\n", l.Addr())
	return live.Serve(ctx, hub, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, l)
}
