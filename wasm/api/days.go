package api

// Days counts from 1970-01-01 in the proleptic Gregorian calendar; package time would bring a clock into the core.
// Years begin in March in it, so that a leap day is a year's last.
func Days(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}
