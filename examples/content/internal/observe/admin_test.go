package observe

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsOfTheHandlerAreJSONWithATrace(t *testing.T) {
	b := newBench(t)
	h := b.Handler(b.services, unused)
	require.NoError(t, b.Close())
	for path, status := range map[string]int{"/api/admin/dashboard": http.StatusInternalServerError,
		"/api/admin/nothing": http.StatusNotFound} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, status, w.Code)
		var body struct {
			Success bool
			Error   struct{ Category, Message, TraceID string }
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body.String())
		require.False(t, body.Success)
		require.NotEmpty(t, body.Error.Category)
		require.NotEmpty(t, body.Error.Message)
		require.NotEmpty(t, body.Error.TraceID)
		if status == http.StatusInternalServerError {
			require.Contains(t, b.log.String(), body.Error.TraceID)
		}
	}
}
