package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/aguitest"
)

// TestAStockClientReadsWhatTheWriterOfAGUIWrites gives random streams to @ag-ui/client: its schemas
// accept each event, with no property that they don't have, and its verifyEvents the order.
func TestAStockClientReadsWhatTheWriterOfAGUIWrites(t *testing.T) {
	t.Parallel()
	streams := make([][]string, 300)
	seen := make(map[string]bool)
	for seed := range streams {
		streams[seed] = aguitest.Stream(uint64(seed))
		for _, line := range streams[seed] {
			var e struct{ Type string }
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			seen[e.Type] = true
		}
	}
	require.Len(t, seen, 18, "all types that the Writer writes")
	for i, wrong := range readAGUI(t, streams) {
		require.Empty(t, wrong, "stream %d:\n%s", i, strings.Join(streams[i], "\n"))
	}
}

// TestAStockClientRejectsOtherStreams shows that the test before could fail.
func TestAStockClientRejectsOtherStreams(t *testing.T) {
	t.Parallel()
	started, finished := `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	wrong := readAGUI(t, [][]string{
		{started, finished},
		{started, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`, finished},
		{started, `{"type":"TEXT_MESSAGE_START","messageId":1}`, finished},
		{started, `{"type":"CUSTOM","name":"n","value":1,"other":2}`, finished},
	})
	require.Empty(t, wrong[0])
	require.Contains(t, wrong[1][0], "verifyEvents: ")
	require.Contains(t, wrong[2][0], "the schema rejects ")
	require.Contains(t, wrong[3][0], "[enforce] Removed unrecognised material at '/other'")
}

func readAGUI(t *testing.T, streams [][]string) (wrong [][]string) {
	t.Helper()
	in, err := json.Marshal(streams)
	require.NoError(t, err)
	cmd := node(t, "agui_streams.mjs")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &wrong))
	require.Len(t, wrong, len(streams))
	return wrong
}
