package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// edit lets the person change the input of a call: in an editor, or where lines are read in one
// line. The decision has no ID if nothing was changed. The draft is kept.
func (u *ui) edit(ctx context.Context, p *agent.Pause) (none agent.Decision, err error) {
	if u.keys.file == nil {
		if u.draft, err = u.line(ctx, "New input, as JSON in one line: ", ""); err != nil {
			return none, err
		}
	} else if err := u.editor(ctx); err != nil {
		u.out.line("The editor failed: %s", short(err.Error(), 300))
		return none, nil
	}
	switch {
	case u.draft == inputOf(p):
		u.out.line("Nothing was changed.")
		return none, nil
	case !json.Valid([]byte(u.draft)):
		u.out.line("Not accepted: it isn't valid JSON.")
		return none, nil
	}
	return agent.Edit(p.ID, json.RawMessage(u.draft)), nil
}

// editor opens the draft in the editor of the environment, which has the terminal meanwhile.
func (u *ui) editor(ctx context.Context) error {
	file, err := os.CreateTemp("", "input-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(u.draft + "\n")
	if err = cmp.Or(err, file.Close()); err != nil {
		return err
	}
	words := append(strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")), file.Name())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = u.keys.file, u.cfg.Out, u.cfg.Out
	u.out.raw(false)
	err = cmp.Or(u.keys.release(), cmd.Run(), u.keys.hold()) // arguments are evaluated in order
	u.out.raw(true)
	for len(u.signals) > 0 { // a Ctrl-C was the editor's
		<-u.signals
	}
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(file.Name())
	u.draft = strings.TrimSpace(string(raw))
	return err
}
