package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// edit lets the person change the input of a call: in an editor, or where lines are read in one
// line. ok is false if nothing was changed or the input doesn't fit; the draft is kept.
func (u *ui) edit(ctx context.Context, p *agent.Pause, draft *string) (d agent.Decision, ok bool, err error) {
	if u.keys.file == nil {
		*draft, err = u.line(ctx, "New input, as JSON in one line: ", "", nil)
		if err != nil {
			return d, false, err
		}
	} else if err := u.editor(ctx, draft); err != nil {
		u.out.line("The editor failed: %s", short(err.Error(), 300))
		return d, false, nil
	}
	input := strings.TrimSpace(*draft)
	if input == inputOf(p) {
		u.out.line("Nothing was changed.")
		return d, false, nil
	}
	fit := json.RawMessage(input)
	if registry := u.hub.Agent().Tools(); slices.Contains(registry.Names(), p.Call.Name) {
		fit, err = registry.Fit(p.Call.Name, fit)
	} else if !json.Valid(fit) { // of a tool of a source
		err = errors.New("it isn't valid JSON")
	}
	if err != nil {
		u.out.line("Not accepted: %s", clean(err.Error()))
		return d, false, nil
	}
	return agent.Edit(p.ID, fit), true, nil
}

// editor opens a text in the editor of the environment. The terminal is the editor's meanwhile.
func (u *ui) editor(ctx context.Context, text *string) error {
	file, err := os.CreateTemp("", "input-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(*text + "\n")
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
	*text = strings.TrimSpace(string(raw))
	return err
}
