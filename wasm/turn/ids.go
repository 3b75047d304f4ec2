package turn

import "github.com/seed-76f09577/turnwire/wasm/json"

// ids are a turn's event ids. They lie in many small maps, because TinyGo moves all of a map's entries in the one step in
// which it grows: of 100,000 ids that would hold up the page.
type ids struct {
	maps  [64]map[string]identified
	count int
}

type identified struct {
	place int // among the ids
	hash  uint64
}

// add reports whether the id is a new one.
func (s *ids) add(id []byte, hash uint64) bool {
	at := s.at(id)
	if _, again := (*at)[json.View(id)]; again {
		return false
	}
	if *at == nil {
		*at = map[string]identified{}
	}
	(*at)[string(id)] = identified{s.count, hash}
	s.count++
	return true
}

func (s *ids) get(id []byte) (seen identified, ok bool) {
	seen, ok = (*s.at(id))[json.View(id)]
	return seen, ok
}

func (s *ids) at(id []byte) *map[string]identified {
	h := uint32(2166136261)
	for _, c := range id {
		h = (h ^ uint32(c)) * 16777619
	}
	return &s.maps[h%64]
}
