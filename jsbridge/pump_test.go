package jsbridge

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/retry"
	"github.com/stretchr/testify/assert"
)

// TestPump gives a machine an input while one of its effects is performed: what comes of that follows the rest.
func TestPump(t *testing.T) {
	type step struct{ name string }
	var machine retry.Effects
	var p pump
	var order []string
	var perform func(retry.Effect)
	perform = func(effect retry.Effect) {
		name := effect.(step).name
		order = append(order, name)
		if name == "a" {
			machine.Emit(step{"c"})
			p.run(&machine, perform)
			order = append(order, "a is done")
		}
	}
	machine.Emit(step{"a"})
	machine.Emit(step{"b"})
	p.run(&machine, perform)
	assert.Equal(t, []string{"a", "a is done", "b", "c"}, order)
	assert.False(t, machine.Wants())

	machine.Emit(step{"d"})
	p.run(&machine, perform)
	assert.Equal(t, "d", order[len(order)-1], "it runs again")
}

func TestTable(t *testing.T) {
	var table table[int]
	one, two := 1, 2
	table.put(3, &one)
	table.put(1, &two)
	assert.Equal(t, &one, table.get(3))
	for _, number := range []uint32{0, 2, 4, 1 << 31} {
		assert.Nil(t, table.get(number), number)
		table.remove(number)
	}
	var seen []int
	table.each(func(v *int) { seen = append(seen, *v) })
	assert.Equal(t, []int{2, 1}, seen)
	table.remove(3)
	assert.Nil(t, table.get(3))
	table.put(3, &two)
	assert.Equal(t, &two, table.get(3), "a number is given out again")

	var numbered numbered[*int]
	first, second := numbered.add(&one), numbered.add(&two)
	v, ok := numbered.take(first)
	assert.True(t, ok)
	assert.Equal(t, &one, v)
	_, ok = numbered.take(first)
	assert.False(t, ok)
	assert.NotContains(t, []uint32{0, first, second}, numbered.add(&one), "none is given out again")
}
