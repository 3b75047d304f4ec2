//go:build js && wasm

package jsbridge

// table gives out handles for what JavaScript holds on to. 0 is no handle. A slice, because a map's look-up is a good
// part of what feeding one event costs.
type table[T comparable] struct {
	entries []T
	free    []uint32
}

func (t *table[T]) add(v T) uint32 {
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.entries[id] = v
		return id
	}
	if len(t.entries) == 0 {
		t.entries = append(t.entries, *new(T))
	}
	t.entries = append(t.entries, v)
	return uint32(len(t.entries) - 1)
}

// get returns the zero value where id is no handle (any more).
func (t *table[T]) get(id uint32) (v T) {
	if int(id) < len(t.entries) {
		v = t.entries[id]
	}
	return v
}

// remove takes a handle back, once: it is given out again.
func (t *table[T]) remove(id uint32) {
	t.entries[id] = *new(T)
	t.free = append(t.free, id)
}

// each calls do with everything that has a handle now.
func (t *table[T]) each(do func(v T)) {
	for id := 1; id < len(t.entries); id++ {
		if v := t.entries[id]; v != *new(T) {
			do(v)
		}
	}
}
