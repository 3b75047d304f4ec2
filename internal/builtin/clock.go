package builtin

import (
	"fmt"
	"time"
	_ "time/tzdata" // a fresh machine may have no zone files
)

// reading is what the clock tool returns.
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
