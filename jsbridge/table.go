package jsbridge

// table has what the page knows by a number of its choice: small ones from 1, that it gives out again.
// Of pointers, for nil is the one value of every T that can be told from others without comparing interfaces, which would
// bring reflection into the small build.
type table[T any] struct{ entries []*T }

func (t *table[T]) put(number uint32, v *T) {
	for number >= uint32(len(t.entries)) {
		t.entries = append(t.entries, nil)
	}
	t.entries[number] = v
}

// get returns nil where there is nothing of that number (any more).
func (t *table[T]) get(number uint32) *T {
	if number < uint32(len(t.entries)) {
		return t.entries[number]
	}
	return nil
}

func (t *table[T]) remove(number uint32) {
	if number < uint32(len(t.entries)) {
		t.entries[number] = nil
	}
}

// each calls do with everything that has a number now.
func (t *table[T]) each(do func(v *T)) {
	for i := 0; i < len(t.entries); i++ {
		if v := t.entries[i]; v != nil {
			do(v)
		}
	}
}

// numbered has what the page is told by a number of the module's, none of which is ever given out again.
type numbered[T any] struct {
	entries map[uint32]T
	last    uint32
}

func (n *numbered[T]) add(v T) uint32 {
	if n.entries == nil {
		n.entries = map[uint32]T{}
	}
	n.last++
	n.entries[n.last] = v
	return n.last
}

// take returns what has a number, and takes it away; ok is false where there is nothing (any more).
func (n *numbered[T]) take(number uint32) (v T, ok bool) {
	v, ok = n.entries[number]
	delete(n.entries, number)
	return v, ok
}

// each calls do with everything that has a number now, and still has it when its turn comes: in a definite order, which a
// map has not. The newest first, so that none leaves because one ended that it waited for.
func (n *numbered[T]) each(do func(v T)) {
	for number, left := n.last, len(n.entries); left > 0 && number > 0; number-- {
		if v, ok := n.entries[number]; ok {
			left--
			do(v)
		}
	}
}
