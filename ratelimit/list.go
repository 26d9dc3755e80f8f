package ratelimit

// A list is a doubly linked list whose links are in its elements, so that an element can be removed in constant time and without an
// allocation. An element may be in several lists, with separate links for each.
type list[T any] struct {
	head, tail *T
	n          int
	links      func(*T) *links[T]
}

type links[T any] struct{ prev, next *T }

func (l *list[T]) pushFront(e *T) { l.insertBefore(l.head, e) }
func (l *list[T]) pushBack(e *T)  { l.insertBefore(nil, e) }

// insertBefore puts e before at, or at the end if at is nil.
func (l *list[T]) insertBefore(at, e *T) {
	of := l.links(e)
	of.next = at
	if at == nil {
		of.prev, l.tail = l.tail, e
	} else {
		before := l.links(at)
		of.prev, before.prev = before.prev, e
	}
	if of.prev == nil {
		l.head = e
	} else {
		l.links(of.prev).next = e
	}
	l.n++
}

func (l *list[T]) remove(e *T) {
	of := l.links(e)
	if of.prev == nil {
		l.head = of.next
	} else {
		l.links(of.prev).next = of.next
	}
	if of.next == nil {
		l.tail = of.prev
	} else {
		l.links(of.next).prev = of.prev
	}
	*of = links[T]{}
	l.n--
}
