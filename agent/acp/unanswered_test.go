package acp_test

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestACanceledPromptIsMarkedInTheNext(t *testing.T) {
	model := providertest.Script(providertest.HangAfter(3, providertest.Say("I rename it")), providertest.Say("Done."))
	e, _ := serve(t, agent.Config{Provider: model})
	id := e.begin("/srv/app")
	e.update = func(int, sdk.SessionUpdate) {
		require.NoError(t, e.conn.Cancel(context.Background(), sdk.CancelNotification{SessionId: id}))
	}
	e.say(id, "Rename Blog to Trash", sdk.StopReasonCancelled)
	e.update = nil
	e.say(id, "Create Jobs", sdk.StopReasonEndTurn)
	all := model.Requests()
	asked := all[len(all)-1].Messages
	require.Equal(t, "Rename Blog to Trash", asked[0].Text())
	require.True(t, strings.HasPrefix(asked[len(asked)-2].Text(),
		`Note: the request above ("Rename Blog to Trash") was stopped`), asked[len(asked)-2].Text())
	require.Equal(t, "Create Jobs", asked[len(asked)-1].Text())
}
