package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

type todoAdd struct {
	Texts []string `json:"texts" jsonschema:"what is to be done, an item each"`
}

type todoSet struct {
	ID     int    `json:"id" jsonschema:"the item's number"`
	Status string `json:"status,omitempty" jsonschema:"the item's new status"`
	Text   string `json:"text,omitempty" jsonschema:"the item's new text"`
}

type todoNone struct{}

// A todoItem is a task. Its number is never reused.
type todoItem struct {
	ID     int    `json:"id"`
	Status string `json:"status"`
	Text   string `json:"text"`
}

// A todoList is one entry of a session.
type todoList struct {
	Last  int        `json:"last"`
	Items []todoItem `json:"items"`
}

type todoShown struct {
	shown
	About    string     `json:"about,omitempty"`
	Items    []todoItem `json:"items"`
	Open     int        `json:"open"` // open and doing
	Redacted bool       `json:"redacted,omitempty"`
}

const (
	todoKey   = "list"
	mostTodos = 100
)

// Todo returns the tools for a session's todo list: todo.add, todo.set, todo.list. A list has at
// most 100 items, in one entry of the store; above that, or above the store's limits, the oldest
// items that are done or dropped are deleted.
func (m *Toolset) Todo() []tools.Tool {
	return []tools.Tool{
		writer("todo.add", "Adds items to the todo list of this session.",
			`{"properties":{"texts":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":50}}}`, tools.Low,
			m.addTodos),
		writer("todo.set", "Changes the status or the text of an item of the todo list.",
			`{"properties":{"status":{"enum":["open","doing","done","dropped"]}}}`, tools.Low, m.setTodo),
		reader("todo.list", "Shows the todo list of this session.", "",
			func(ctx context.Context, _ todoNone) (todoShown, error) { return m.listTodos(ctx) }),
	}
}

func (m *Toolset) changeTodos(ctx context.Context, change func(*todoList) error) (todoShown, error) {
	for drop := 0; ; drop++ {
		left := true
		r, _, err := update(ctx, m, kindTodo, todoKey, func(r *record[todoList], _ bool) (bool, error) {
			if err := change(&r.Body); err != nil {
				return false, err
			}
			for n := 0; n < drop && left; n++ {
				left = r.Body.makeRoom()
			}
			return true, nil
		})
		var limit *LimitError
		if left && errors.As(err, &limit) {
			continue // with one item fewer
		}
		if err != nil {
			return todoShown{}, err
		}
		return shownTodos(r), nil
	}
}

// makeRoom deletes the oldest finished item, and returns false if there is none.
func (l *todoList) makeRoom() bool {
	i := slices.IndexFunc(l.Items, func(i todoItem) bool { return i.over() })
	if i < 0 {
		return false
	}
	l.Items = slices.Delete(l.Items, i, i+1)
	return true
}

func shownTodos(r *record[todoList]) todoShown {
	l := &r.Body
	out := todoShown{shown: shown{r.Outside}, Items: l.Items}
	if len(l.Items) == 0 {
		out.Items = []todoItem{}
		return out
	}
	out.About = about
	for i := range l.Items {
		if !l.Items[i].over() {
			out.Open++
		}
	}
	return out
}

func (i *todoItem) over() bool { return i.Status == "done" || i.Status == "dropped" }

func (m *Toolset) addTodos(ctx context.Context, in todoAdd) (todoShown, error) {
	var texts []string
	redacted := false
	for _, t := range in.Texts {
		text, changed, err := m.clean("text", t)
		if err != nil {
			return todoShown{}, err
		}
		texts, redacted = append(texts, text), redacted || changed
	}
	out, err := m.changeTodos(ctx, func(l *todoList) error {
		for _, text := range texts {
			l.Last++
			l.Items = append(l.Items, todoItem{ID: l.Last, Status: "open", Text: text})
		}
		for len(l.Items) > mostTodos {
			if !l.makeRoom() {
				return fault.Errorf(fault.Invalid,
					"recall: the list is limited to %d items, and none is done or dropped; finish some first",
					mostTodos)
			}
		}
		return nil
	})
	out.Redacted = redacted
	return out, err
}

func (m *Toolset) setTodo(ctx context.Context, in todoSet) (todoShown, error) {
	if in.Status == "" && in.Text == "" {
		return todoShown{}, invalid("give a new status, a new text or both")
	}
	text, redacted := "", false
	if in.Text != "" {
		var err error
		if text, redacted, err = m.clean("text", in.Text); err != nil {
			return todoShown{}, err
		}
	}
	out, err := m.changeTodos(ctx, func(l *todoList) error {
		i := slices.IndexFunc(l.Items, func(i todoItem) bool { return i.ID == in.ID })
		if i < 0 {
			return fault.Wrap(fault.NotFound,
				fmt.Errorf("recall: the list has no item %d; todo.list shows them", in.ID))
		}
		if in.Status != "" {
			l.Items[i].Status = in.Status
		}
		if text != "" {
			l.Items[i].Text = text
		}
		return nil
	})
	out.Redacted = redacted
	return out, err
}

func (m *Toolset) listTodos(ctx context.Context) (todoShown, error) {
	r, err := load[todoList](ctx, m, kindTodo, todoKey)
	if err != nil || r == nil {
		return todoShown{Items: []todoItem{}}, err
	}
	return shownTodos(r), nil
}
