package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// sourced is a provider that adds the sources to answers that name none. It isn't left to the
// model.
type sourced struct{ provider.Provider }

func (p sourced) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		var text strings.Builder
		for c, err := range p.Provider.Stream(ctx, req) {
			if err == nil && c.Kind == provider.KindText {
				text.WriteString(c.Text)
			}
			ends := err == nil && c.Kind == provider.KindEnd && text.Len() > 0
			if ends && !strings.Contains(text.String(), "[1]") && !yield(provider.Text(" [1] handbook.pdf"), nil) {
				return
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Code changes an answer before it is recorded and shown: a provider around that of the model does,
// so that the log, all readers and the next request have the changed answer, and a retry changes it
// once.
func Example_answerChangedByCode() {
	a, err := agent.New(agent.Config{
		Provider: sourced{providertest.Script(providertest.Say("Thirty days."), providertest.Say("Yes [1]."))}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, prompt := range []string{"How long is the notice?", "For everybody?"} {
		res, err := a.Run(context.Background(), agent.Input{Session: "s-1", Prompt: prompt})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Text())
	}
	// Output:
	// Thirty days. [1] handbook.pdf
	// Yes [1].
}
