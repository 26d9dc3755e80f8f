package acp

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// The SDK may write an answer when Run has returned, and SIGPIPE would end the process then.
func TestNothingIsWrittenAfterTheOutputIsClosed(t *testing.T) {
	var to bytes.Buffer
	o := &output{to: &to}
	_, err := o.Write([]byte("a"))
	require.NoError(t, err)
	o.closed.Store(true)
	_, err = o.Write([]byte("b"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Equal(t, "a", to.String())
}
