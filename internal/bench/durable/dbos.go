package durable

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
)

// workflows is the work as a workflow of DBOS for Go: each call of model or tool is a step.
func workflows(url string, m *made) func(context.Context) (doer, error) {
	return func(ctx context.Context) (doer, error) {
		d, err := dbos.NewContext(ctx, dbos.Config{
			AppName: "durable", DatabaseURL: url, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			return doer{}, err
		}
		add := func(ctx dbos.Context, _ string) (string, error) {
			for step := range steps {
				answer, err := dbos.RunAsStep(ctx, func(context.Context) (reply, error) { return m.model(step), nil })
				if err != nil {
					return "", err
				}
				if _, err := dbos.RunAsStep(ctx,
					func(context.Context) (sum, error) { return m.tool(answer.Input), nil }); err != nil {
					return "", err
				}
			}
			answer, err := dbos.RunAsStep(ctx, func(context.Context) (reply, error) { return m.model(steps), nil })
			return answer.Text, err
		}
		dbos.RegisterWorkflow(d, add, dbos.WithWorkflowName("add"))
		if err := dbos.Launch(d); err != nil {
			return doer{}, err
		}
		return doer{
			close: func() error { return dbos.Shutdown(d, 10*time.Second) },
			do: func(_ context.Context, names []string) error {
				return each(names, func(name string) error {
					run, err := dbos.RunWorkflow(d, add, prompt, dbos.WithWorkflowID(name))
					if err != nil {
						return err
					}
					text, err := run.GetResult()
					if err == nil && text == "" {
						err = fmt.Errorf("it ended without an answer")
					}
					return err
				})
			},
		}, nil
	}
}
