package approvals_test

import (
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/approvals"
)

func TestANilOrZeroHandlerAnswersWithAnError(t *testing.T) {
	require.Equal(t, 1, reflect.TypeFor[*approvals.Handler]().NumMethod(), "each method of a Handler is in this test")
	for name, h := range map[string]*approvals.Handler{"nil": nil, "zero": new(approvals.Handler)} {
		for _, path := range []string{"/", "/item", "/decide", "/rules", "/elsewhere"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			require.Equal(t, 500, w.Code, name)
			require.JSONEq(t, `{"error":{"code":"internal","message":"it failed; the server's log says why"}}`,
				w.Body.String())
		}
	}
}
