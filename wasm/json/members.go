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

// Items returns the items of an array; of anything else there are none. It is for short ones: see EachItem.
func Items(array []byte) (items [][]byte) {
	EachItem(array, func(value []byte) { items = append(items, value) })
	return items
}

// EachItem visits the items of an array; of anything else there are none. Who keeps an item of a long text keeps a copy:
// TinyGo's collector walks from every pointer into an object back to where the object begins.
func EachItem(array []byte, visit func(value []byte)) {
	var r Reader
	r.Reset(array)
	r.space()
	if r.peek() != '[' {
		return
	}
	r.pos++
	for first := true; ; first = false {
		r.space()
		if r.peek() == ']' {
			return
		}
		if !first {
			if r.peek() != ',' {
				return
			}
			r.pos++
		}
		value := r.Value()
		if value == nil {
			return
		}
		visit(value)
	}
}

// Int reads the text of a JSON number as a whole one; what follows its point is dropped. It returns false for what is no
// number, has an exponent, or is 10^18 or more.
func Int(value []byte) (n int64, ok bool) {
	negative := len(value) > 0 && value[0] == '-'
	if negative {
		value = value[1:]
	}
	for i, c := range value {
		switch {
		case c >= '0' && c <= '9' && i < 18:
			n = n*10 + int64(c-'0')
			continue
		case c != '.' || i == 0:
			return 0, false
		}
		for _, c := range value[i+1:] {
			if c < '0' || c > '9' {
				return 0, false
			}
		}
		break
	}
	if len(value) == 0 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}
