// Package coding is the agent of the example: what it can do in a folder, what it may do there, and
// where it keeps what it knows.
//
//	c, err := coding.Open(coding.Config{Dir: ".", DB: "/elsewhere/runs.db", Model: model})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	return terminal.Run(ctx, c.Hub, terminal.Config{Commands: c.Commands()})
//
// coding.go makes the agents. folder.go has the tools for files and what the agent is told about
// the folder; programs.go has go and git, jail.go the jail; servers.go MCP; permits.go permissions,
// and those that an approved plan brings along; commands.go what is typed in the terminal.
package coding
