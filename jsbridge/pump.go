package jsbridge

import "github.com/seed-76f09577/turnwire/wasm/retry"

// pump performs the effects of one machine, in order. Performing one may lead to an input of the same machine: what comes of
// that follows the rest, here and nowhere else.
type pump struct{ running bool }

// effects is what every machine has.
type effects interface {
	Wants() bool
	Take() []retry.Effect
}

func (p *pump) run(machine effects, perform func(retry.Effect)) {
	if p.running {
		return
	}
	p.running = true
	for machine.Wants() {
		for _, effect := range machine.Take() {
			perform(effect)
		}
	}
	p.running = false
}
