package atif

import (
	"math"
	"strings"
	"time"
)

// A Stamp is a parsed time stamp.
type Stamp struct {
	Date    time.Time // day and clock, as if in UTC
	Zone    bool
	Offset  float64 // seconds east of UTC
	Partial float64 // seconds behind the whole one
}

// Unix is the time in seconds since 1970. Without a zone the text is taken for UTC.
func (s Stamp) Unix() float64 {
	return float64(s.Date.Unix()) - s.Offset + s.Partial
}

// ParseStamp reads a time stamp as the reference's language does (spec atif §2.1).
func ParseStamp(text string) (s Stamp, ok bool) {
	text = strings.ReplaceAll(text, "Z", "+00:00")
	chars := []rune(text)
	if len(chars) < 7 {
		return s, false
	}
	end, ok := dateEnd(chars)
	if !ok || end > len(chars) {
		return s, false
	}
	day, ok := parseDate(string(chars[:end]))
	if !ok {
		return s, false
	}
	s.Date = day
	if end == len(chars) {
		return s, true
	}
	// One character, whatever it is, separates date and time.
	rest := chars[end+1:]
	if len(rest) == 0 {
		return s, false
	}
	clock, offset, sign := rest, []rune(nil), 0.0
	for i, c := range rest {
		if c == '+' || c == '-' {
			clock, offset = rest[:i], rest[i+1:]
			sign = 1
			if c == '-' {
				sign = -1
			}
			break
		}
	}
	at, ok := parseClock(clock)
	if !ok || at.hour > 23 || at.minute > 59 || at.second > 59 || at.dirty && sign == 0 {
		return s, false
	}
	s.Date = s.Date.Add(time.Duration(at.hour)*time.Hour + time.Duration(at.minute)*time.Minute + time.Duration(at.second)*time.Second)
	s.Partial = at.fraction
	if sign != 0 {
		zone, ok := parseClock(offset)
		seconds := float64(zone.hour*3600+zone.minute*60+zone.second) + zone.fraction
		if !ok || zone.dirty || seconds >= 86400 {
			return s, false
		}
		s.Zone = true
		// An offset of less than a second counts as none.
		if seconds >= 1 {
			s.Offset = sign * seconds
		}
	}
	return s, true
}

// dateEnd finds where the date ends.
func dateEnd(c []rune) (end int, ok bool) {
	n := len(c)
	if n == 7 {
		return 7, true
	}
	switch c[4] {
	case '-':
		if c[5] != 'W' {
			return 10, true
		}
		if n > 8 && c[8] == '-' {
			if n == 9 {
				return 0, false
			}
			if n > 10 && digit(c[10]) {
				return 8, true
			}
			return 10, true
		}
		return 8, true
	case 'W':
		at := 7
		for at < n && digit(c[at]) {
			at++
		}
		switch {
		case at < 9:
			return at, true
		case at%2 == 0:
			return 7, true
		}
		return 8, true
	}
	return 8, true
}

func digit(c rune) bool { return c >= '0' && c <= '9' }

// number reads digits.
func number(s string) (n int, ok bool) {
	for i := range len(s) {
		if !digit(rune(s[i])) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

// parseDate reads a day of the calendar or of a week.
func parseDate(s string) (time.Time, bool) {
	none := time.Time{}
	if len(s) < 7 {
		return none, false
	}
	year, ok := number(s[:4])
	if !ok || year < 1 {
		return none, false
	}
	dashed := s[4] == '-'
	rest := s[4:]
	if dashed {
		rest = s[5:]
	}
	if rest != "" && rest[0] == 'W' {
		return parseWeek(year, rest[1:], dashed)
	}
	var month, day int
	var okMonth, okDay bool
	switch {
	case dashed && len(rest) == 5 && rest[2] == '-':
		month, okMonth = number(rest[:2])
		day, okDay = number(rest[3:])
	case !dashed && len(rest) == 4:
		month, okMonth = number(rest[:2])
		day, okDay = number(rest[2:])
	}
	if !okMonth || !okDay || month < 1 || month > 12 || day < 1 {
		return none, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == day
}

func parseWeek(year int, s string, dashed bool) (time.Time, bool) {
	none := time.Time{}
	day := 1
	switch {
	case len(s) == 2:
	case dashed && len(s) == 4 && s[2] == '-', !dashed && len(s) == 3:
		var ok bool
		if day, ok = number(s[len(s)-1:]); !ok {
			return none, false
		}
	default:
		return none, false
	}
	week, ok := number(s[:2])
	if !ok || week < 1 || week > 53 || day < 1 || day > 7 {
		return none, false
	}
	// The fourth of January lies in the first week.
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
	if week == 53 {
		if _, last := time.Date(year, 12, 28, 0, 0, 0, 0, time.UTC).ISOWeek(); last < 53 {
			return none, false
		}
	}
	t := monday.AddDate(0, 0, (week-1)*7+day-1)
	return t, t.Year() >= 1 && t.Year() <= 9999
}

type clockPart struct {
	hour, minute, second int
	fraction             float64
	dirty                bool // a character is left over
}

// parseClock reads hours, minutes, seconds and a fraction, with colons or without.
func parseClock(c []rune) (p clockPart, ok bool) {
	units := [...]*int{&p.hour, &p.minute, &p.second}
	colons := false
	at := 0
	for i, unit := range units {
		if at+2 > len(c) {
			return p, false
		}
		if *unit, ok = number(string(c[at : at+2])); !ok {
			return p, false
		}
		at += 2
		if at == len(c) {
			return p, true
		}
		next := c[at]
		if i == 0 {
			colons = next == ':'
		}
		switch {
		case at == len(c)-1:
			p.dirty = true
			return p, true
		case colons && next == ':':
			at++
			if i == len(units)-1 {
				return parseFraction(p, c[at:])
			}
		case next == '.' || next == ',':
			return parseFraction(p, c[at+1:])
		case !colons:
			if i == len(units)-1 {
				return parseFraction(p, c[at:])
			}
		default:
			return p, false
		}
	}
	return p, true
}

func parseFraction(p clockPart, c []rune) (clockPart, bool) {
	n := min(6, len(c))
	for i := range n {
		if !digit(c[i]) {
			return p, false
		}
		p.fraction += float64(c[i]-'0') * math.Pow10(-i-1)
	}
	for n < len(c) && digit(c[n]) {
		n++
	}
	p.dirty = n < len(c)
	return p, true
}

// FormatStamp writes a time in UTC: microseconds only where there are any, rounded half to even. It is not ok outside
// the years 1 to 9999.
func FormatStamp(unix float64) (text string, ok bool) {
	if math.IsNaN(unix) || math.Abs(unix) > 1e12 {
		return "", false
	}
	whole := math.Floor(unix)
	micros := math.RoundToEven((unix - whole) * 1e6)
	if micros >= 1e6 {
		whole, micros = whole+1, 0
	}
	t := time.Unix(int64(whole), int64(micros)*1000).UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return "", false
	}
	if micros == 0 {
		return t.Format("2006-01-02T15:04:05Z"), true
	}
	return t.Format("2006-01-02T15:04:05.000000Z"), true
}
