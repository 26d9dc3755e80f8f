package list

// A List has its links in its elements, so that an element can be removed in constant time and
// without an allocation. An element may be in several lists, with separate links for each.
type List[T any] struct {
	Head, Tail *T
	Len        int
	Links      func(*T) *Links[T] // returns the links of an element for this list; set it before use
}

// Links are an element's neighbors in a list.
type Links[T any] struct{ Prev, Next *T }

// PushFront puts e at the front.
func (l *List[T]) PushFront(e *T) { l.InsertBefore(l.Head, e) }

// PushBack puts e at the end.
func (l *List[T]) PushBack(e *T) { l.InsertBefore(nil, e) }

// InsertBefore puts e before at, or at the end if at is nil.
func (l *List[T]) InsertBefore(at, e *T) {
	of := l.Links(e)
	of.Next = at
	if at == nil {
		of.Prev, l.Tail = l.Tail, e
	} else {
		before := l.Links(at)
		of.Prev, before.Prev = before.Prev, e
	}
	if of.Prev == nil {
		l.Head = e
	} else {
		l.Links(of.Prev).Next = e
	}
	l.Len++
}

// Remove removes e, which must be in the list.
func (l *List[T]) Remove(e *T) {
	of := l.Links(e)
	if of.Prev == nil {
		l.Head = of.Next
	} else {
		l.Links(of.Prev).Next = of.Next
	}
	if of.Next == nil {
		l.Tail = of.Prev
	} else {
		l.Links(of.Next).Prev = of.Prev
	}
	*of = Links[T]{}
	l.Len--
}
