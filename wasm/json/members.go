package json

// Members returns the values of an object's members by name, nil for those that it does not have. Of a member given
// twice the last counts, as for JSON.parse.
func Members(object []byte, want ...string) [][]byte {
	out := make([][]byte, len(want))
	Each(object, func(key, value []byte) {
		for i, name := range want {
			if KeyIs(key, name) {
				out[i] = value
			}
		}
	})
	return out
}

// Each visits the members of an object; of anything else there are none.
func Each(object []byte, visit func(key, value []byte)) {
	var r Reader
	r.Reset(object)
	if !r.Enter() {
		return
	}
	for first := true; ; first = false {
		key, ok := r.Next(first)
		if !ok {
			return
		}
		visit(key, r.Value())
	}
}
