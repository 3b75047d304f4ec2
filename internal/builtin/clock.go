package builtin

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // a fresh machine may have no zone files
)

// reading is what a clock shows.
type reading struct {
	Zone      string `json:"zone"`
	Time      string `json:"time"` // RFC 3339
	Weekday   string `json:"weekday"`
	UTCOffset string `json:"utc_offset"`
}

// readClock tells the time in an IANA zone.
func readClock(now time.Time, zone string) (reading, error) {
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "Local" {
		return reading{}, fmt.Errorf("unknown time zone %q", zone)
	}
	at := now.In(location)
	return reading{
		Zone:      zone,
		Time:      at.Format(time.RFC3339),
		Weekday:   at.Weekday().String(),
		UTCOffset: at.Format("-07:00"),
	}, nil
}

// areas are the IANA zones' first parts that hold cities.
var areas = []string{"Europe", "Asia", "America", "Africa", "Australia", "Pacific", "Atlantic", "Indian"}

var properName = regexp.MustCompile(`\b[A-Z][a-z]+(?:[ _][A-Z][a-z]+){0,2}\b`)

// cityZones finds the zones that are named after the cities in a text: people ask for Tokyo, not for Asia/Tokyo.
func cityZones(text string) []string {
	var zones []string
	for _, name := range properName.FindAllString(text, -1) {
		for words := strings.Fields(name); len(words) > 0; words = words[1:] {
			if zone := cityZone(strings.Join(words, "_")); zone != "" && len(zones) < maxZones {
				zones = append(zones, zone)
				break
			}
		}
	}
	return zones
}

func cityZone(city string) string {
	for _, area := range areas {
		if _, err := time.LoadLocation(area + "/" + city); err == nil {
			return area + "/" + city
		}
	}
	return ""
}
