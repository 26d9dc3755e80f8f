package list_test

import (
	"fmt"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

type item struct {
	name  string
	place list.Links[item]
}

func ExampleList() {
	l := list.List[item]{Links: func(i *item) *list.Links[item] { return &i.place }}
	a, b, c := &item{name: "a"}, &item{name: "b"}, &item{name: "c"}
	l.PushBack(a)
	l.PushBack(c)
	l.InsertBefore(c, b)
	l.Remove(a)
	l.PushFront(a)
	l.Remove(c)
	for i := l.Head; i != nil; i = i.place.Next {
		fmt.Println(i.name)
	}
	fmt.Println(l.Len, l.Tail.name)
	// Output:
	// a
	// b
	// 2 b
}
