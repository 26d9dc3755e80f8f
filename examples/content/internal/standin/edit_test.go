package standin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheStandInEditsByRulesAndSaysWhatItCant(t *testing.T) {
	for _, v := range [][3]string{
		{"make it friendlier", "It is good; this nothing is not.", "It's good. This nothing isn't."},
		{"make it friendlier", "It is good.\n\n[IMAGE: it is a desk]", "It's good.\n\n[IMAGE: it is a desk]"},
		{"more formal, please", "It's good. Don't go.", "It is good. Do not go."},
		{"Make it shorter", "One. Two [1]. Three. [2]", "One. Three. [2]"},
		{"make it friendlier", "Hello.", "CAN'T: The stand-in finds nothing to change here: it works by rules. A model would."},
		{"translate it into German", "Hello.", "CAN'T: The stand-in can't translate or be funny; a model can."},
		{"add a metaphor", "Hello.",
			"CAN'T: The stand-in can make a text shorter, friendlier or more formal. For anything else, it takes a model."},
	} {
		require.Equal(t, v[2], edit("Request: "+v[0]+"\n<data-1 name=\"text\">\n"+v[1]+"\n</data-1>"))
	}
}
